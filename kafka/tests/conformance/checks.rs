//! What both clusters do. The checks follow one another on one cluster, and
//! each leaves it whole.

use crate::resources;
use crate::subject::{NODES, SOON, Subject, others};
use kafka::client::{
    Acl, Broker, Created, Elected, Error, Mechanism, NewTopic, Operation, PartitionView,
    PatternType, Permission, Remedy, ResourceType, TopicPartition, TopicReplication,
};
use model::Secret;
use std::collections::BTreeSet;

pub const TOPIC: &str = "orders";
/// Wants all of its three replicas in sync.
const STRICT: &str = "strict";
/// One replica each.
const ALONE: &str = "alone";

pub async fn all(subject: &dyn Subject) {
    come_up(subject, &NODES, &NODES).await;
    topics_are_seen(subject).await;
    one_stays(subject).await;
    users_come_and_go(subject).await;
    rights_come_and_go(subject).await;
    resources::all(subject).await;
    crate::groups::all(subject).await;
    let (sent, places) = crate::messages::all(subject).await;
    let active = the_quorum_is_whole(subject).await;
    one_that_stops_hands_over(subject, active).await;
    crate::messages::found_again(subject, &sent, &places).await;
    one_that_is_back_catches_up(subject, active).await;
    users_can_log_in_where_others_were_deleted(subject, active).await;
    let follower = others(the_quorum_is_whole(subject).await)[0];
    one_that_is_killed_is_missed_after_a_while(subject, follower).await;
    one_that_is_back_catches_up(subject, follower).await;
    leaders_go_back(subject).await;
    crate::growing::all(subject).await;
}

fn set(nodes: &[i32]) -> BTreeSet<i32> {
    nodes.iter().copied().collect()
}

/// Starts servers, for the first time or again, and returns once these serve and all of them
/// know it.
pub async fn come_up(subject: &dyn Subject, starting: &[i32], serving: &[i32]) {
    for node in starting {
        subject.start(*node).await;
    }
    for node in serving {
        subject
            .until("every server serves", SOON, async || {
                let view = subject.admin().describe_cluster(&subject.through(*node)).await;
                let view = view.map_err(|error| error.to_string())?;
                let unfenced = view.brokers.iter().filter(|broker| !broker.fenced);
                let ids: Vec<i32> = unfenced.map(|broker| broker.id).collect();
                let whole = ids == serving && view.controller_id.is_some();
                if whole { Ok(()) } else { Err(format!("{node} sees {view:?}")) }
            })
            .await;
    }
}

async fn topics_are_seen(subject: &dyn Subject) {
    let topic = |name: &str, replicas, demand: &str| NewTopic {
        name: name.into(),
        partitions: 3,
        replicas,
        settings: vec![("min.insync.replicas".into(), demand.into())],
    };
    for (name, replicas, demand) in [(TOPIC, 3, "2"), (STRICT, 3, "3"), (ALONE, 1, "1")] {
        let new = topic(name, replicas, demand);
        let created = subject.admin().create_topic(&subject.cluster(), &new).await;
        assert_eq!(created, Ok(Created::New));
        let again = subject.admin().create_topic(&subject.cluster(), &new).await;
        assert_eq!(again, Ok(Created::AlreadyThere));
        let seen = subject
            .until_topic(name, &NODES, "the topic is whole", |topic| {
                let is_whole = |it: &PartitionView| {
                    it.leader.is_some() && set(&it.in_sync) == set(&it.replicas)
                };
                topic.partitions.len() == 3 && topic.partitions.iter().all(is_whole)
            })
            .await;
        assert_eq!(seen.min_in_sync.to_string(), demand);
        let mut led = BTreeSet::new();
        for partition in &seen.partitions {
            assert_eq!(partition.replicas.len(), usize::try_from(replicas).unwrap());
            assert_eq!(set(&partition.in_sync), set(&partition.replicas));
            assert_eq!(partition.leader, partition.replicas.first().copied(), "{seen:?}");
            assert_eq!(seen.needed(partition).to_string(), demand);
            led.extend(partition.leader);
        }
        assert_eq!(led, set(&NODES), "leaders are spread: {seen:?}");
    }
    let refused = subject.admin().create_topic(&subject.cluster(), &topic("wide", 4, "2")).await;
    assert_eq!(code(&refused.unwrap_err()), "InvalidReplicationFactor");
    for node in NODES {
        let dirs = subject.admin().describe_log_dirs(&subject.through(node)).await.unwrap();
        assert!(dirs.iter().all(|dir| !dir.failed), "{dirs:?}");
        let held = dirs.iter().flat_map(|dir| &dir.replicas).filter(|it| it.topic == TOPIC);
        assert_eq!(held.count(), 3, "{dirs:?}");
    }
    for name in [TOPIC, STRICT, ALONE] {
        writes_go_on(subject, &subject.topic(1, name).await.unwrap()).await;
    }
}

pub async fn writes_go_on(subject: &dyn Subject, topic: &TopicReplication) {
    for partition in &topic.partitions {
        let leader = partition.leader.expect("it is led");
        subject
            .until("a write is acknowledged", SOON, async || {
                let written = subject.write(leader, &topic.name, partition.index).await;
                written.map_err(|error| error.to_string())
            })
            .await;
    }
}

/// Kafka's own name of an error.
pub fn code(error: &Error) -> String {
    match error {
        Error::Kafka { code, .. } => format!("{code:?}"),
        other => panic!("not Kafka's refusal: {other}"),
    }
}

/// Comes after whoever is deleted, by the order in which Kafka goes through names.
const LATER: &str = "linus";
const EARLIER: &str = "bob";

/// One user is deleted, and another is not.
async fn one_stays(subject: &dyn Subject) {
    let (admin, cluster, word) = (subject.admin(), subject.through(1), Secret::new("word"));
    let users = [kafka::PLACEHOLDER_USER, LATER, EARLIER].map(|user| (user, &word));
    admin.set_scram_users(&cluster, &users).await.unwrap();
    admin.remove_scram_user(&cluster, EARLIER).await.unwrap();
}

/// A broker that was started anew knows everybody who was not deleted.
async fn users_can_log_in_where_others_were_deleted(subject: &dyn Subject, node: i32) {
    for mechanism in Mechanism::ALL {
        subject
            .until("it lets a user in who was not deleted", SOON, async || {
                let login = subject.login(node, LATER, &Secret::new("word"), mechanism);
                subject.admin().check_login(&login).await.map_err(|error| error.to_string())
            })
            .await;
    }
}

async fn users_come_and_go(subject: &dyn Subject) {
    let (cluster, right, wrong) = (subject.through(1), Secret::new("right"), Secret::new("wrong"));
    let admin = subject.admin();
    assert_eq!(admin.describe_scram_user(&cluster, "ada").await, Ok(vec![]));
    for _ in 0..2 {
        admin.set_scram_user(&cluster, "ada", &right).await.unwrap();
    }
    let known = admin.describe_scram_user(&cluster, "ada").await;
    assert_eq!(known, Ok(Mechanism::ALL.to_vec()), "who took the write knows at once");
    for node in NODES {
        for mechanism in Mechanism::ALL {
            subject
                .until("the others know soon", SOON, async || {
                    let login = subject.login(node, "ada", &right, mechanism);
                    admin.check_login(&login).await.map_err(|error| error.to_string())
                })
                .await;
            let refused = admin.check_login(&subject.login(node, "ada", &wrong, mechanism)).await;
            assert!(matches!(refused, Err(Error::WrongPassword { .. })), "{refused:?}");
        }
    }
    for _ in 0..2 {
        admin.remove_scram_user(&cluster, "ada").await.unwrap();
    }
    assert_eq!(admin.describe_scram_user(&cluster, "ada").await, Ok(vec![]));
    for node in NODES {
        subject
            .until("a user that is gone is refused", SOON, async || {
                let login = subject.login(node, "ada", &right, Mechanism::ScramSha512);
                match admin.check_login(&login).await {
                    Err(Error::WrongPassword { .. }) => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            })
            .await;
    }
}

async fn rights_come_and_go(subject: &dyn Subject) {
    let acl = |pattern: &str, operation| Acl {
        resource_type: ResourceType::Topic,
        pattern: pattern.into(),
        pattern_type: PatternType::Prefixed,
        principal: "User:ada".into(),
        operation,
        permission: Permission::Allow,
    };
    let rights = [acl("a-", Operation::Read), acl("b-", Operation::All)];
    let (admin, cluster) = (subject.admin(), subject.through(2));
    for _ in 0..2 {
        admin.add_acls(&cluster, &rights).await.unwrap();
    }
    let shows = async |node: i32, expected: &[Acl]| {
        let mut there = admin
            .describe_acls(&subject.through(node), "User:ada")
            .await
            .map_err(|error| error.to_string())?;
        there.sort_by(|a, b| a.pattern.cmp(&b.pattern));
        if there == expected { Ok(()) } else { Err(format!("{node} has {there:?}")) }
    };
    assert_eq!(shows(2, &rights).await, Ok(()), "who took the write knows at once");
    for node in NODES {
        subject.until("the others know soon", SOON, async || shows(node, &rights).await).await;
    }
    assert_eq!(admin.describe_acls(&cluster, "User:bob").await, Ok(vec![]));
    admin.remove_acls(&cluster, "User:ada").await.unwrap();
    for node in NODES {
        subject.until("they are gone soon", SOON, async || shows(node, &[]).await).await;
    }
}

/// The active controller, once every voter has everything.
pub async fn the_quorum_is_whole(subject: &dyn Subject) -> i32 {
    subject
        .until("every voter has caught up", SOON, async || {
            let quorum = subject.admin().describe_quorum(&subject.cluster()).await;
            let quorum = quorum.map_err(|error| error.to_string())?;
            let voters: Vec<i32> = quorum.voters.iter().map(|voter| voter.id).collect();
            assert_eq!(set(&voters), set(&NODES));
            assert_eq!(quorum.observers, [], "every server votes");
            let now = subject.now();
            let fresh = quorum.voters.iter().all(|voter| {
                voter.last_caught_up.is_some_and(|at| now.duration_since(at).as_secs() < 5)
                    && quorum.lag(voter.id).is_some_and(|lag| lag < 10)
            });
            quorum.leader.filter(|_| fresh).ok_or_else(|| format!("{quorum:?}"))
        })
        .await
}

async fn one_that_stops_hands_over(subject: &dyn Subject, node: i32) {
    let before = subject.admin().describe_quorum(&subject.cluster()).await.unwrap();
    subject.stop(node).await;
    let rest = others(node);
    for name in [TOPIC, STRICT] {
        subject
            .until_topic(name, &rest, "its leaders have moved", |topic| {
                topic.partitions.iter().all(|it| {
                    set(&it.in_sync) == set(&rest) && it.leader.is_some_and(|id| id != node)
                })
            })
            .await;
    }
    let topic = subject.topic(rest[0], TOPIC).await.unwrap();
    writes_go_on(subject, &topic).await;
    too_few_refuse(subject, rest[0]).await;
    what_only_it_had_is_away(subject, node, rest[0]).await;
    the_dead_don_t_answer(subject, node).await;
    let after = subject
        .until("another controller is active", SOON, async || {
            let quorum = subject.admin().describe_quorum(&subject.cluster()).await;
            let quorum = quorum.map_err(|error| error.to_string())?;
            let other = quorum.leader.is_some_and(|id| id != node);
            if other { Ok(quorum) } else { Err(format!("{quorum:?}")) }
        })
        .await;
    assert!(after.leader_epoch > before.leader_epoch, "{before:?} {after:?}");
    assert_eq!(after.voters.len(), 3, "who is away still votes");
    resources::what_is_there_is_not_waited_for(subject, ALONE).await;
    subject
        .until("who is away falls behind", SOON, async || {
            let quorum = subject.admin().describe_quorum(&subject.cluster()).await.unwrap();
            let behind = quorum.lag(node).is_none_or(|lag| lag > 3);
            if behind { Ok(()) } else { Err(format!("{quorum:?}")) }
        })
        .await;
}

/// With two of the three replicas it wants.
async fn too_few_refuse(subject: &dyn Subject, asked: i32) {
    let strict = subject.topic(asked, STRICT).await.unwrap();
    let partition = &strict.partitions[0];
    let refused = subject.write(partition.leader.unwrap(), STRICT, partition.index).await;
    assert_eq!(code(&refused.unwrap_err()), "NotEnoughReplicas");
    let follower = *partition.in_sync.iter().find(|id| Some(**id) != partition.leader).unwrap();
    let elsewhere = subject.write(follower, STRICT, partition.index).await;
    assert_eq!(code(&elsewhere.unwrap_err()), "NotLeaderOrFollower");
}

async fn what_only_it_had_is_away(subject: &dyn Subject, node: i32, asked: i32) {
    let alone = subject.topic(asked, ALONE).await.unwrap();
    for partition in &alone.partitions {
        let here = partition.replicas == [node];
        assert_eq!(partition.leader.is_none(), here, "{alone:?}");
    }
}

async fn the_dead_don_t_answer(subject: &dyn Subject, node: i32) {
    let admin = subject.admin();
    let error = admin.describe_cluster(&subject.through(node)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{} refused the connection", subject.internal(node)));
    assert_eq!(error.remedy(), Remedy::Retry);
    let mut cluster = subject.cluster();
    cluster.brokers =
        [node, others(node)[0]].map(|id| Broker::new(id, subject.internal(id))).into();
    subject
        .until("it is no longer counted on", SOON, async || {
            let view = admin.describe_cluster(&cluster).await.unwrap();
            let serving = view.brokers.iter().filter(|broker| !broker.fenced);
            let ids: Vec<i32> = serving.map(|broker| broker.id).collect();
            if ids == others(node) { Ok(()) } else { Err(format!("{view:?}")) }
        })
        .await;
}

async fn one_that_is_killed_is_missed_after_a_while(subject: &dyn Subject, node: i32) {
    let rest = others(node);
    subject.kill(node).await;
    let killed = subject.now();
    let topic = subject.topic(rest[0], TOPIC).await.unwrap();
    let counted = topic.partitions.iter().all(|it| it.in_sync.contains(&node));
    assert!(counted, "nobody has missed it yet: {topic:?}");
    subject
        .until_topic(TOPIC, &rest, "it is missed", |topic| {
            topic
                .partitions
                .iter()
                .all(|it| set(&it.in_sync) == set(&rest) && it.leader.is_some_and(|id| id != node))
        })
        .await;
    let missed = subject.now().duration_since(killed);
    assert!((2..60).contains(&missed.as_secs()), "its session lasted {missed:?}");
    writes_go_on(subject, &subject.topic(rest[0], TOPIC).await.unwrap()).await;
}

async fn one_that_is_back_catches_up(subject: &dyn Subject, node: i32) {
    let before = subject.topic(others(node)[0], TOPIC).await.unwrap();
    come_up(subject, &[node], &NODES).await;
    for name in [TOPIC, STRICT, ALONE] {
        subject
            .until_topic(name, &NODES, "every replica is in sync", |topic| {
                topic
                    .partitions
                    .iter()
                    .all(|it| set(&it.in_sync) == set(&it.replicas) && it.leader.is_some())
            })
            .await;
    }
    let after = subject.topic(node, TOPIC).await.unwrap();
    let leaders = |topic: &TopicReplication| -> Vec<_> {
        topic.partitions.iter().map(|it| it.leader).collect()
    };
    assert_eq!(leaders(&after), leaders(&before), "no leader moves by itself");
    for name in [TOPIC, STRICT, ALONE] {
        writes_go_on(subject, &subject.topic(node, name).await.unwrap()).await;
    }
}

async fn leaders_go_back(subject: &dyn Subject) {
    let topics = [TOPIC, STRICT, ALONE];
    let mut places = vec![TopicPartition::new("gone", 0)];
    for name in topics {
        let partitions = subject.topic(NODES[0], name).await.unwrap().partitions;
        places.extend(partitions.iter().map(|it| TopicPartition::new(name, it.index)));
    }
    let elect = async || {
        let cluster = subject.cluster();
        subject.admin().elect_preferred_leaders(&cluster, &places).await.unwrap()
    };
    let first = elect().await;
    assert_eq!(first.refused, places[..1]);
    assert!(!first.moved.is_empty(), "a server was killed, so leaders had moved");
    assert_eq!(elect().await, Elected { moved: vec![], refused: first.refused });
    for name in topics {
        let seen = subject.until_topic(name, &NODES, "the first replica leads", |topic| {
            topic.partitions.iter().all(|it| it.leader == it.replicas.first().copied())
        });
        writes_go_on(subject, &seen.await).await;
    }
}
