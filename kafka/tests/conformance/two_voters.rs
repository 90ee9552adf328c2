//! Two voters are one too few. If either dies, nothing is committed any more: no topic, no
//! setting, and no voter, neither a third one nor the dead one away. Only its server coming back
//! helps. So a dead voter goes while there are others to commit that, and where there are two
//! the third is added at once, and has all metadata before the second is.

use crate::checks::come_up;
use crate::growing::one;
use crate::subject::{ALL, NODES, SOON, Subject};
use crate::voting::{changed, describe, until_voters};
use kafka::client::{Broker, Cluster, Error, NewTopic, NewVoter, Quorum, Remedy, SettingsOf};
use kafka::settings::MIN_IN_SYNC;
use uuid::Uuid;

/// One replica of each of its partitions, of which every broker leads some.
const NAME: &str = "two-voters";
const PARTITIONS: i32 = 8;

/// The way of our plans first, then the one that they refuse. All four servers run, and the
/// newcomer does not vote.
pub async fn all(subject: &dyn Subject) {
    a_dead_one_of_three_is_removed(subject).await;
    a_third_one_in_time_saves_the_quorum(subject).await;
    a_dead_one_of_two_stops_every_change(subject).await;
}

/// A quorum of three founders, and who is who in it.
struct Three {
    leader: i32,
    /// Neither of them leads.
    others: [i32; 2],
    quorum: Quorum,
}

impl Three {
    async fn of(subject: &dyn Subject) -> Self {
        let quorum = until_voters(subject, &NODES).await;
        let leader = quorum.leader.unwrap();
        let others: Vec<i32> = NODES.into_iter().filter(|id| *id != leader).collect();
        Self { leader, others: [others[0], others[1]], quorum }
    }

    fn directory(&self, id: i32) -> Uuid {
        self.quorum.voters.iter().find(|voter| voter.id == id).unwrap().directory.unwrap()
    }

    async fn remove(&self, subject: &dyn Subject, id: i32) {
        let cluster = through(subject, &[self.leader]);
        let remove = || subject.admin().voters().remove_voter(&cluster, id, self.directory(id));
        assert_eq!(changed(subject, async || remove().await).await, Ok(true));
    }

    /// Once it has all metadata, as our plans wait for.
    async fn add(&self, subject: &dyn Subject, id: i32) {
        until_it_follows(subject, id).await;
        let cluster = through(subject, &NODES);
        let add = async || add(subject, &cluster, id, self.directory(id)).await;
        assert_eq!(changed(subject, add).await, Ok(true));
    }
}

async fn add(
    subject: &dyn Subject,
    cluster: &Cluster,
    id: i32,
    directory: Uuid,
) -> Result<bool, Error> {
    let voter = NewVoter { id, directory, controller: subject.controller(id) };
    subject.admin().voters().add_voter(cluster, &voter).await
}

/// Without the dead broker, which each call would wait for.
fn through(subject: &dyn Subject, nodes: &[i32]) -> Cluster {
    let brokers = nodes.iter().map(|id| Broker::new(*id, subject.internal(*id))).collect();
    Cluster { brokers, ..subject.cluster() }
}

async fn until_it_follows(subject: &dyn Subject, id: i32) {
    subject
        .until("the observer has everything", SOON, async || {
            let quorum = describe(subject).await?;
            let observer = quorum.observers.iter().find(|it| it.id == id);
            let follows = observer.and_then(|it| quorum.lag_of(it)).is_some_and(|lag| lag < 10);
            if follows { Ok(()) } else { Err(format!("{quorum:?}")) }
        })
        .await;
}

async fn create(subject: &dyn Subject, through: &Cluster, name: &str) -> Result<(), Error> {
    let (name, settings) = (name.to_owned(), vec![]);
    let topic = NewTopic { name, partitions: PARTITIONS, replicas: 1, settings };
    subject.admin().create_topic(through, &topic).await.map(drop)
}

/// Something can be committed, by brokers that live.
async fn until_changes_go_on(subject: &dyn Subject, living: &[i32]) {
    let cluster = through(subject, living);
    subject
        .until("a topic can be made", SOON, async || {
            create(subject, &cluster, NAME).await.map_err(|error| error.to_string())
        })
        .await;
    let deleted = subject.admin().topics().delete_topic(&cluster, NAME).await;
    assert_eq!(deleted, Ok(true));
}

async fn a_dead_one_of_three_is_removed(subject: &dyn Subject) {
    let three = Three::of(subject).await;
    let [dead, living] = three.others;
    subject.kill(dead).await;
    three.remove(subject, dead).await;
    until_changes_go_on(subject, &[three.leader, living]).await;
    come_up(subject, &[dead], &ALL).await;
    three.add(subject, dead).await;
    until_voters(subject, &NODES).await;
}

/// Two voters for a moment: the third is there before one dies, and the dead one is removed.
async fn a_third_one_in_time_saves_the_quorum(subject: &dyn Subject) {
    let three = Three::of(subject).await;
    let [dead, third] = three.others;
    three.remove(subject, third).await;
    three.add(subject, third).await;
    subject.kill(dead).await;
    three.remove(subject, dead).await;
    until_changes_go_on(subject, &[three.leader, third]).await;
    come_up(subject, &[dead], &ALL).await;
    three.add(subject, dead).await;
    until_voters(subject, &NODES).await;
}

/// The other order: one dies while there are two, and the third is too late.
async fn a_dead_one_of_two_stops_every_change(subject: &dyn Subject) {
    let three = Three::of(subject).await;
    let [dead, third] = three.others;
    create(subject, &through(subject, &NODES), NAME).await.unwrap();
    three.remove(subject, third).await;
    subject.kill(dead).await;
    let living = through(subject, &[three.leader]);
    subject
        .until("no controller is active", SOON, async || {
            let view = subject.admin().describe_cluster(&living).await;
            let active = view.map_err(|error| error.to_string())?.controller_id;
            if active.is_none() { Ok(()) } else { Err(format!("{active:?} is active")) }
        })
        .await;

    let voters = subject.admin().voters();
    let settings = subject.admin().settings();
    let changes = one(SettingsOf::Topic(NAME.into()), MIN_IN_SYNC, Some("1"));
    let refused = [
        voters.remove_voter(&living, dead, three.directory(dead)).await.unwrap_err(),
        add(subject, &living, third, three.directory(third)).await.unwrap_err(),
        create(subject, &living, "late").await.unwrap_err(),
        settings.change_settings_of(&living, &changes).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.remedy(), Remedy::Retry, "{error}");
    }
    clients_go_on(subject, three.leader).await;

    come_up(subject, &[dead], &ALL).await;
    until_voters(subject, &sorted([three.leader, dead])).await;
    three.add(subject, third).await;
    until_voters(subject, &NODES).await;
    let topics = subject.admin().topics();
    assert_eq!(topics.delete_topic(&subject.cluster(), NAME).await, Ok(true));
    // Kafka may carry out later what it did not answer in time.
    assert!(topics.delete_topic(&subject.cluster(), "late").await.is_ok());
}

fn sorted<const N: usize>(mut nodes: [i32; N]) -> [i32; N] {
    nodes.sort_unstable();
    nodes
}

/// On what a broker leads alone.
async fn clients_go_on(subject: &dyn Subject, broker: i32) {
    let topic = subject.topic(broker, NAME).await.unwrap();
    let led = topic.partitions.iter().find(|it| it.leader == Some(broker)).unwrap();
    assert_eq!(subject.write(broker, NAME, led.index).await, Ok(()));
}
