use super::*;
use crate::Endpoint;
use crate::client::{
    Admin, Broker, Cluster, Created, Error, Identity, NewTopic, Remedy, TopicChange, Topics as _,
};
use model::{InstanceId, ManualClock, Secret, ServerRole, SignedDuration};

/// A cluster of so many servers, the first three of them controllers too, and
/// hands on its clock.
pub(super) struct World {
    clock: Arc<ManualClock>,
    pub kafka: SimKafka,
    nodes: Vec<i32>,
}

pub(super) fn broker(id: i32) -> Broker {
    Broker::new(id, endpoint(id))
}

pub(super) fn endpoint(id: i32) -> Endpoint {
    Endpoint::new(format!("127.64.0.{id}"), 9091)
}

impl World {
    pub fn new(seed: u64, servers: i32) -> Self {
        Self::with(seed, servers, Timing::default())
    }

    fn with(seed: u64, servers: i32, timing: Timing) -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-15T12:00:00Z".parse().unwrap()));
        let kafka = SimKafka::new(clock.clone(), seed, timing);
        let nodes: Vec<i32> = (1..=servers).collect();
        for id in nodes.iter().copied() {
            let controller = (id <= 3).then_some(ServerRole::Controller);
            let roles = [ServerRole::Broker].into_iter().chain(controller).collect();
            let (internal, sasl) = (endpoint(id), Endpoint::new(format!("127.64.0.{id}"), 9094));
            kafka.add_node(SimNode { id, roles, internal, sasl });
        }
        kafka.found(&nodes.iter().copied().filter(|id| *id <= 3).collect());
        for id in &nodes {
            kafka.start(*id);
        }
        let world = Self { clock, kafka, nodes };
        world.pass(20);
        assert!(world.nodes.iter().all(|id| world.kafka.serves(*id)));
        world
    }

    pub fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub fn cluster(&self) -> Cluster {
        Cluster {
            instance: InstanceId(1),
            brokers: self.nodes.iter().map(|id| broker(*id)).collect(),
            trust_pem: String::new(),
            identity: Identity { certificate_chain_pem: String::new(), key_pem: Secret::new("") },
        }
    }

    pub async fn topic(&self, name: &str, replicas: i16, min_in_sync: &str) {
        let settings = vec![("min.insync.replicas".to_owned(), min_in_sync.to_owned())];
        let topic = NewTopic { name: name.into(), partitions: 1, replicas, settings };
        self.kafka.create_topic(&self.cluster(), &topic).await.unwrap();
    }

    pub fn partition(&self, topic: &str) -> SimPartition {
        self.kafka.partitions().into_iter().find(|it| it.topic == topic).unwrap()
    }

    pub fn write(&self, topic: &str) -> Result<u64, Error> {
        let leader = self.partition(topic).leader.expect("it is led");
        self.kafka.produce(&endpoint(leader), topic, 0)
    }
}

#[tokio::test]
async fn an_acknowledged_write_outlives_two_of_its_three_copies() {
    let world = World::new(1, 5);
    world.topic("t", 3, "2").await;
    for _ in 0..10 {
        world.write("t").unwrap();
    }
    let leader = world.partition("t").leader.unwrap();
    world.kafka.kill(leader);
    world.pass(20);
    assert_ne!(world.partition("t").leader, Some(leader));
    assert_eq!(world.kafka.lost_writes(), []);
    world.write("t").unwrap();
}

#[tokio::test]
async fn a_lost_write_is_seen() {
    let world = World::new(1, 3);
    world.topic("t", 2, "1").await;
    let write = world.write("t").unwrap();
    let partition = world.partition("t");
    let (leader, follower) = (partition.leader.unwrap(), partition.replicas[1]);
    world.kafka.stop(follower);
    world.pass(5);
    let later = world.write("t").unwrap();
    world.kafka.kill(leader);
    world.kafka.lose_disk(leader);
    // Alone in sync, it leads again, with nothing; the other follows that.
    world.kafka.start(follower);
    world.kafka.start(leader);
    world.pass(60);
    let lost: Vec<u64> = world.kafka.lost_writes().iter().map(|(_, _, write)| *write).collect();
    assert_eq!(lost, [write, later]);
}

#[tokio::test]
async fn a_write_waits_for_a_dead_copy_until_it_no_longer_counts() {
    let world = World::new(2, 3);
    world.topic("t", 3, "2").await;
    let follower = world.partition("t").replicas[1];
    world.kafka.kill(follower);
    let error = world.write("t").unwrap_err();
    assert!(error.to_string().contains("RequestTimedOut"), "{error}");
    assert_eq!(error.remedy(), Remedy::Retry);
    world.pass(10);
    world.write("t").unwrap();
}

#[tokio::test]
async fn a_copy_that_does_not_fetch_leaves_those_in_sync_and_comes_back() {
    let world = World::new(3, 3);
    world.topic("t", 3, "2").await;
    let follower = world.partition("t").replicas[2];
    world.kafka.stall_replicas(follower, true);
    world.pass(29);
    assert_eq!(world.partition("t").in_sync.len(), 3);
    world.pass(2);
    assert_eq!(world.partition("t").in_sync.len(), 2);
    assert!(world.kafka.serves(follower), "it is not fenced");
    world.kafka.stall_replicas(follower, false);
    world.pass(2);
    assert_eq!(world.partition("t").in_sync.len(), 3);
}

#[tokio::test]
async fn one_that_stands_still_is_fenced_and_comes_back() {
    let world = World::new(4, 5);
    world.topic("t", 3, "2").await;
    let leader = world.partition("t").leader.unwrap();
    world.kafka.freeze(leader);
    let cluster = world.cluster().through(&broker(leader));
    let error = world.kafka.describe_cluster(&cluster).await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    world.pass(15);
    assert!(!world.kafka.serves(leader));
    assert!(world.partition("t").leader.is_some_and(|id| id != leader));
    world.kafka.thaw(leader);
    world.pass(3);
    assert!(world.kafka.serves(leader));
    assert_eq!(world.partition("t").in_sync.len(), 3);
}

#[tokio::test]
async fn without_a_majority_nothing_is_decided_and_the_last_stops_slowly() {
    let world = World::new(5, 3);
    world.kafka.kill(1);
    world.kafka.kill(2);
    world.pass(10);
    assert!(!world.kafka.has_quorum() && !world.kafka.is_led());
    let password = Secret::new("x");
    let error = world.kafka.set_scram_user(&world.cluster(), "ada", &password).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(!world.kafka.knows("ada", &password));
    world.kafka.stop(3);
    world.pass(300);
    assert_eq!(world.kafka.process(3), Process::Stopping);
    world.pass(11);
    assert_eq!(world.kafka.process(3), Process::Down);
}

#[tokio::test]
async fn all_together_stop_fast_and_start_again_with_what_they_knew() {
    let world = World::new(6, 5);
    world.topic("t", 3, "2").await;
    let write = world.write("t").unwrap();
    for id in &world.nodes {
        world.kafka.stop(*id);
    }
    world.pass(2);
    assert!(world.nodes.iter().all(|id| world.kafka.process(*id) == Process::Down));
    for id in &world.nodes {
        world.kafka.start(*id);
    }
    world.pass(30);
    assert_eq!(world.kafka.lost_writes(), []);
    assert_eq!(world.partition("t").in_sync.len(), 3);
    assert!(world.write("t").unwrap() > write);
    assert!(!world.kafka.lost_metadata());
}

/// The controller waits for the earlier process of the same id.
#[test]
fn one_that_was_killed_is_let_in_when_its_session_has_ended() {
    // It starts sooner than that.
    let session = SignedDuration::from_secs(9);
    let world = World::with(7, 3, Timing { session, ..Timing::default() });
    world.kafka.kill(2);
    world.kafka.start(2);
    world.pass(5);
    assert_eq!(world.kafka.process(2), Process::Waiting);
    world.pass(10);
    assert_eq!(world.kafka.process(2), Process::Running);
}

#[tokio::test]
async fn the_same_seed_does_the_same() {
    async fn story(seed: u64) -> String {
        let world = World::new(seed, 5);
        world.topic("t", 3, "2").await;
        world.topic("u", 3, "2").await;
        let leader = world.kafka.describe_quorum(&world.cluster()).await.unwrap().leader.unwrap();
        world.kafka.kill(leader);
        world.pass(12);
        let quorum = world.kafka.describe_quorum(&world.cluster()).await.unwrap();
        format!("{:?} {quorum:?}", world.kafka.partitions())
    }
    assert_eq!(story(1).await, story(1).await);
    let mut told = Vec::new();
    for seed in 0..20 {
        told.push(story(seed).await);
    }
    told.sort();
    told.dedup();
    assert!(told.len() > 3, "seeds differ");
}

#[tokio::test]
async fn what_goes_wrong_with_a_call_goes_wrong_before_or_after_its_effect() {
    let world = World::new(8, 3);
    let cases = [(Fault::Refused, false), (Fault::Slow, false), (Fault::LostReply, true)];
    for (at, (fault, done)) in cases.into_iter().enumerate() {
        let (user, password) = (format!("user-{at}"), Secret::new("x"));
        world.kafka.fail_next(fault, 1);
        let error = world.kafka.set_scram_user(&world.cluster(), &user, &password).await;
        assert_eq!(error.unwrap_err().remedy(), Remedy::Retry, "{fault:?}");
        assert_eq!(world.kafka.knows(&user, &password), done, "{fault:?}");
        world.kafka.set_scram_user(&world.cluster(), &user, &password).await.unwrap();
    }
}

#[tokio::test]
async fn a_broker_may_tell_what_was_true_before() {
    let world = World::new(9, 3);
    let knows = async |id: i32| {
        let cluster = world.cluster().through(&broker(id));
        !world.kafka.describe_scram_user(&cluster, "ada").await.unwrap().is_empty()
    };
    world.kafka.hold_view(2, SignedDuration::from_secs(5));
    let first = world.cluster().through(&broker(1));
    world.kafka.set_scram_user(&first, "ada", &Secret::new("x")).await.unwrap();
    assert!(knows(1).await, "who took the write knows at once");
    assert!(!knows(3).await, "the others a moment later");
    world.pass(1);
    assert!(knows(3).await && !knows(2).await, "one of them later still");
    world.pass(5);
    assert!(knows(2).await);
}

/// As a real one while it makes thousands of partitions.
#[tokio::test]
async fn a_broker_that_lags_takes_writes_and_does_not_show_them() {
    let world = World::new(9, 1);
    let (kafka, cluster) = (&world.kafka, world.cluster());
    kafka.hold_view(1, SignedDuration::from_secs(50));
    let topic = NewTopic { name: "a".into(), partitions: 1, replicas: 1, settings: vec![] };
    let taken = kafka.create_topic(&cluster, &topic).await;
    assert!(matches!(taken, Err(Error::NotReadableYet { .. })), "{taken:?}");
    assert_eq!(kafka.describe_topic(&cluster, "a").await, Ok(None));
    assert_eq!(kafka.create_topic(&cluster, &topic).await, Ok(Created::AlreadyThere));
    world.pass(51);
    assert!(kafka.describe_topic(&cluster, "a").await.unwrap().is_some());
    kafka.hold_view(1, SignedDuration::from_secs(50));
    let change = TopicChange { partitions: Some(3), settings: None };
    let taken = kafka.change_topic(&cluster, "a", &change).await;
    assert!(matches!(taken, Err(Error::NotReadableYet { .. })), "{taken:?}");
    let again = kafka.change_topic(&cluster, "a", &change).await;
    assert!(matches!(again, Err(Error::Stale { .. })), "{again:?}");
    let taken = kafka.delete_topic(&cluster, "a").await;
    assert!(matches!(taken, Err(Error::NotReadableYet { .. })), "{taken:?}");
    assert_eq!(kafka.delete_topic(&cluster, "a").await, Ok(false));
}
