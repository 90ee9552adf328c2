use super::*;
use model::Timestamp;

const BOTH: [Need; 2] = [Need::ComeBack, Need::StayDown];

fn partition(index: i32, replicas: &[i32], in_sync: &[i32]) -> PartitionView {
    let leader = in_sync.first().copied();
    PartitionView { index, leader, replicas: replicas.into(), in_sync: in_sync.into() }
}

fn topic(min_in_sync: usize, partitions: Vec<PartitionView>) -> TopicReplication {
    TopicReplication { name: "t".into(), min_in_sync, partitions }
}

fn voter(id: i32, seconds_ago: i64) -> Replica {
    let at = Timestamp::from_second(1_000_000 - seconds_ago).unwrap();
    Replica {
        id,
        directory: None,
        log_end_offset: Some(9),
        last_fetch: Some(at),
        last_caught_up: Some(at),
    }
}

fn words(objections: &[Objection]) -> Vec<String> {
    objections.iter().map(ToString::to_string).collect()
}

/// Three servers that all answer and see the same.
fn look(topics: &[TopicReplication]) -> Look {
    Look {
        quorum: Quorum {
            leader: Some(1),
            leader_epoch: 1,
            high_watermark: 9,
            voters: vec![voter(1, 0), voter(2, 1), voter(3, 1)],
            observers: vec![],
        },
        views: (1..=3).map(|node| (node, topics.to_vec())).collect(),
        no_reply: BTreeSet::new(),
    }
}

#[test]
fn a_whole_cluster_can_miss_any_one_server_but_no_two() {
    let look = look(&[topic(2, vec![partition(0, &[1, 2, 3], &[1, 2, 3])])]);
    for need in BOTH {
        for node in 1..=3 {
            assert_eq!(look.missed(&[node], need), []);
        }
        let objections = look.missed(&[1, 2], need);
        assert_eq!(objections.len(), 2, "{objections:?}");
        assert_eq!(objections[0], Objection::QuorumLost { left: 1, all: 3, needed: 2 });
    }
    assert_eq!(look.lagging(), []);
}

#[test]
fn a_partition_keeps_what_it_needs() {
    let look = look(&[topic(2, vec![partition(0, &[1, 2, 3], &[1, 2])])]);
    let short = "partition t-0 would have 1 of the 2 replicas in sync that it needs";
    for need in BOTH {
        assert_eq!(words(&look.missed(&[1], need)), [short]);
        assert_eq!(words(&look.missed(&[2], need)), [short]);
    }
    assert_eq!(words(&look.missed(&[3], Need::ComeBack)), ["its replica of t-0 is not in sync"]);
    assert_eq!(look.missed(&[3], Need::StayDown), [], "nobody misses a copy that lags");
    let lagging = Lagging { partition: "t-0".into(), node: 3, in_sync: 2, replicas: 3 };
    assert_eq!(look.lagging(), std::slice::from_ref(&lagging));
    let expected = "t-0 has 2 of 3 replicas in sync, the one on server 3 lags";
    assert_eq!(lagging.objection(Place::Server(3)).to_string(), expected);
}

#[test]
fn the_worst_view_decides() {
    let mut look = look(&[topic(2, vec![partition(0, &[1, 2, 3], &[1, 2, 3])])]);
    look.views.insert(2, vec![topic(2, vec![partition(0, &[1, 2, 3], &[1, 2])])]);
    assert_eq!(look.missed(&[1], Need::ComeBack).len(), 1);
    look.views.insert(2, vec![]);
    assert_eq!(look.missed(&[1], Need::ComeBack), [], "it has not heard of the topic");
    look.views.remove(&2);
    assert_eq!(look.missed(&[1], Need::ComeBack).len(), 1, "it does not answer");
    assert_eq!(look.lagging(), [], "it is down, which is no lag");
}

#[test]
fn what_demands_all_its_replicas_is_missed_only_for_a_while() {
    let look = look(&[
        topic(3, vec![partition(0, &[1, 2, 3], &[1, 2, 3])]),
        TopicReplication {
            name: "single".into(),
            min_in_sync: 2,
            partitions: vec![partition(0, &[1], &[1])],
        },
    ]);
    assert_eq!(look.missed(&[1], Need::ComeBack), []);
    let objections = look.missed(&[1], Need::StayDown);
    assert_eq!(
        words(&objections),
        [
            "partition single-0 would have 0 of the 1 replicas in sync that it needs",
            "partition t-0 would have 2 of the 3 replicas in sync that it needs",
        ]
    );
    assert_eq!(look.unavoidable(&[1]), ["single-0", "t-0"]);
    assert_eq!(look.unavoidable(&[2]), ["t-0"]);
    assert_eq!(look.unavoidable(&[2, 1]), ["single-0", "t-0"]);
}

#[test]
fn a_quorum_needs_a_majority_that_has_everything() {
    let mut look = look(&[]);
    look.quorum.voters[2] = voter(3, 60);
    assert_eq!(look.missed(&[2], Need::ComeBack).len(), 1);
    assert_eq!(look.missed(&[3], Need::ComeBack), [], "the other two are enough");
    assert_eq!(look.missed(&[4], Need::ComeBack), [], "it is no voter");
    look.quorum.voters[2] = voter(3, 1);
    look.no_reply.insert(3);
    assert_eq!(look.missed(&[2], Need::ComeBack).len(), 1, "it has just died");
    look.no_reply.clear();
    look.quorum.voters[2].last_caught_up = None;
    assert_eq!(look.missed(&[2], Need::ComeBack).len(), 1);
    let mut alone = look.clone();
    alone.quorum.voters.truncate(1);
    assert_eq!(alone.missed(&[1], Need::ComeBack), [], "it can't be helped");
    assert_eq!(alone.missed(&[1], Need::StayDown).len(), 1);
    let blind = Look { views: BTreeMap::new(), ..look.clone() };
    assert_eq!(blind.missed(&[4], Need::ComeBack), [Objection::NoReplicationKnown]);
    look.quorum.leader = None;
    assert_eq!(look.missed(&[4], Need::ComeBack), [Objection::NoActiveController]);
}

/// Every broker is asked for four partitions; their leaders, as each of the three says.
fn led(leaders: [[i32; 4]; 3]) -> Look {
    let mut look = look(&[]);
    for (node, leaders) in (1..).zip(leaders) {
        let partition = |(index, leader)| PartitionView {
            leader: (leader > 0).then_some(leader),
            ..partition(index, &[index % 2 + 1, 3], &[1, 2, 3])
        };
        let partitions = (0..).zip(leaders).map(partition).collect();
        look.views.insert(node, vec![topic(1, partitions)]);
    }
    look
}

fn places(indexes: &[i32]) -> Vec<crate::client::TopicPartition> {
    indexes.iter().map(|index| crate::client::TopicPartition::new("t", *index)).collect()
}

#[test]
fn leaders_come_home_to_replicas_in_sync() {
    let all = |_| true;
    assert_eq!(led([[1, 2, 1, 2]; 3]).homecomings(all), BTreeMap::new());
    let away = led([[1, 3, 3, 0]; 3]).homecomings(all);
    assert_eq!(away.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(away[&1].away, places(&[2]));
    assert_eq!(away[&2].away, places(&[1, 3]));
    // One broker has read of the election, the next one has not.
    let halfway = led([[1, 2, 1, 2], [1, 3, 1, 3], [1, 2, 1, 3]]);
    let moving = Homecoming { away: vec![], moving: places(&[1, 3]) };
    assert_eq!(halfway.homecomings(all), BTreeMap::from([(2, moving.clone())]));
    assert_eq!(halfway.homecomings(|node| node == 2), BTreeMap::from([(2, moving)]));
    assert_eq!(halfway.homecomings(|node| node == 1), BTreeMap::new());
}

#[test]
fn leaders_stay_where_the_first_replica_can_not_lead() {
    let mut lags = led([[3, 3, 3, 3]; 3]);
    lags.views.get_mut(&3).unwrap()[0].partitions[1].in_sync = vec![1, 3];
    assert_eq!(lags.homecomings(|_| true)[&2].away, places(&[3]));
    let mut silent = led([[3, 3, 3, 3]; 3]);
    silent.views.remove(&2);
    assert_eq!(silent.homecomings(|_| true).into_keys().collect::<Vec<_>>(), [1]);
    // Somebody is moving replicas: brokers differ in which is the first.
    let mut reassigned = led([[3, 3, 3, 3]; 3]);
    reassigned.views.get_mut(&1).unwrap()[0].partitions[0].replicas = vec![3, 1];
    assert_eq!(reassigned.homecomings(|_| true)[&1].away, places(&[2]));
}
