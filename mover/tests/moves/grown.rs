//! Growing: 1 → 3, 3 → 5, 5 → 7.

use crate::story::tell;
use crate::world::{Build, GB, apply, cluster, loads};
use mover::{Aim, Limits, Move, Next, Partition, next_batch, plan};

#[test]
fn one_becomes_three_with_three_copies_of_everything() {
    let mut three = cluster("1 2 3")
        .topic("__consumer_offsets", GB / 1000, 1, "1, 1")
        .topic("__transaction_state", GB / 1000, 1, "1")
        .topic("orders", GB, 1, "1, 1, 1");
    let story = tell(&mut three, &Aim::grow(1, true));
    let expected = [
        "__consumer_offsets-0: 1 → 2 1 3",
        "__consumer_offsets-1: 1 → 3 1 2",
        "__transaction_state-0: 1 → 2 1 3",
        "orders-0: 1 → 3 1 2",
        "orders-1: 1 → 1 2 3",
        "orders-2: 1 → 1 2 3",
        "elect __consumer_offsets-0 __consumer_offsets-1 __transaction_state-0 orders-0",
        "min ISR __consumer_offsets: 1 → 2",
        "min ISR __transaction_state: 1 → 2",
        "done",
    ];
    assert_eq!(story, expected);
    assert!(loads(&three).values().all(|(_, leaders)| *leaders == 2));
}

#[test]
fn topics_of_one_copy_can_be_kept_and_are_spread() {
    let mut three = cluster("1 2 3")
        .topic("__consumer_offsets", GB / 1000, 1, "1")
        .topic("orders", GB, 1, "1, 1, 1");
    let story = tell(&mut three, &Aim::grow(1, false));
    let expected = [
        "__consumer_offsets-0: 1 → 1 2 3",
        "orders-0: 1 → 2",
        "orders-1: 1 → 3",
        "min ISR __consumer_offsets: 1 → 2",
        "done",
    ];
    assert_eq!(story, expected);
}

/// A topic is raised as a whole or not at all.
#[test]
fn topics_are_raised_where_the_disks_allow_it() {
    let three = cluster("1 2 3")
        .topic("large", 300 * GB, 1, "1, 1")
        .topic("small", GB, 1, "1, 1")
        .disk(3, 200 * GB);
    let plan = plan(&three, &Aim::grow(1, true));
    let not_raised: Vec<&str> = plan.not_raised.iter().map(|it| &*it.topic).collect();
    assert_eq!(not_raised, ["large"]);
    let raised = plan.moves.iter().filter(|it| it.to.len() == 3);
    assert!(
        raised.clone().count() == 2 && raised.clone().all(|it| &*it.partition.topic == "small")
    );
}

#[test]
fn three_become_five_and_only_what_is_needed_moves() {
    let mut five = cluster("1 2 3 4 5").topic(
        "orders",
        10 * GB,
        2,
        "1 2 3, 2 3 1, 3 1 2, 1 2 3, 2 3 1, 3 1 2, 1 2 3, 2 3 1, 3 1 2, 1 2 3",
    );
    let plan = plan(&five, &Aim::grow(3, true));
    // Two new brokers are to hold six replicas each.
    assert_eq!((plan.bytes / GB, plan.lower_bound / GB), (120, 114));
    assert!(plan.moves.iter().all(|it| it.to.len() == 3));
    let story = tell(&mut five, &Aim::grow(3, true));
    assert_eq!(story.last().unwrap(), "done");
    assert!(loads(&five).values().all(|load| *load == (60 * GB, 2)), "{:?}", loads(&five));
}

/// Empty topics are spread too, or new brokers would have nothing to lead.
#[test]
fn empty_topics_are_spread() {
    let mut five = cluster("1 2 3 4 5");
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        five = five.topic(name, 0, 1, "1");
    }
    tell(&mut five, &Aim::grow(3, true));
    assert!(loads(&five).values().all(|(_, leaders)| *leaders == 2), "{:?}", loads(&five));
}

#[test]
fn a_small_imbalance_is_not_worth_a_move() {
    let mut two = cluster("1 2").topic("a", 26 * GB, 1, "1, 2").topic("b", 2 * GB, 1, "1").topic(
        "c",
        GB / 10,
        1,
        "2",
    );
    assert_eq!(tell(&mut two, &Aim::rebalance()), ["done"]);
}

#[test]
fn a_topic_stays_spread_when_it_moves() {
    let mut five = cluster("1 2 3 4 5");
    for name in ["a", "b", "c"] {
        five = five.topic(name, GB, 1, "1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3");
    }
    tell(&mut five, &Aim::grow(3, true));
    for name in ["a", "b", "c"] {
        for node in 1..=5 {
            let is_here = |it: &&Partition| &*it.topic == name && it.replicas == [node];
            let here = five.partitions.iter().filter(is_here).count();
            assert!((2..=4).contains(&here), "{here} of {name} on {node}");
        }
    }
}

#[test]
fn batches_are_small_and_change_few_leaders() {
    let mut seven = cluster("1 2 3 4 5 6 7");
    for at in 0..40 {
        seven = seven.topic(&format!("t{at:02}"), GB, 1, "1, 2, 3, 4, 5");
    }
    let limits = Limits { partitions: 5, bytes: 3 * GB, leaders: 2 };
    let planned = plan(&seven, &Aim::grow(5, true)).bytes;
    let mut copied = 0;
    while let Next::Reassign(moves) = next_batch(&seven, &Aim::grow(5, true), &limits) {
        let bytes = moves.iter().map(|it| it.bytes).sum::<u64>();
        assert!(moves.len() <= 5 && bytes <= 3 * GB, "{moves:?}");
        let moves_leader = |it: &&Move| !it.to.contains(&it.from[0]);
        assert!(moves.iter().filter(moves_leader).count() <= 2, "{moves:?}");
        apply(&mut seven, &moves);
        copied += bytes;
        assert!(copied <= planned * 2, "it does not end");
    }
    assert_eq!(next_batch(&seven, &Aim::grow(5, true), &limits), Next::Done);
    // Planned again after every batch, it does hardly more than planned once.
    assert!(copied * 100 <= planned * 105, "{copied} of {planned}");
}
