//! Shrinking: 7 → 5, 5 → 3, 3 → 1, and a broker that is replaced.

use crate::story::tell;
use crate::world::{Build, GB, cluster, loads};
use mover::{Aim, Reassignment};

#[test]
fn five_become_three() {
    let mut five = cluster("1 2 3 4! 5!")
        .topic("__consumer_offsets", GB / 1000, 2, "4 5 1, 5 1 2")
        .topic("orders", GB, 2, "1 2 3, 2 3 4, 3 4 5, 4 5 1, 5 1 2, 1 3 5");
    let story = tell(&mut five, &Aim::shrink(3, false));
    let expected = [
        "__consumer_offsets-0: 4 5 1 → 2 3 1",
        "__consumer_offsets-1: 5 1 2 → 1 3 2",
        "orders-2: 3 4 5 → 3 2 1",
        "orders-3: 4 5 1 → 3 2 1",
        "orders-1: 2 3 4 → 2 3 1",
        "orders-4: 5 1 2 → 3 1 2",
        "orders-5: 1 3 5 → 1 3 2",
        "done",
    ];
    assert_eq!(story, expected);
    assert!(five.partitions.iter().all(|it| it.replicas.iter().all(|node| *node <= 3)));
}

/// With min ISR above the replicas that remain, Kafka would keep the others in the ELR.
#[test]
fn three_become_one_and_min_isr_is_lowered_first() {
    let mut three = cluster("1 2! 3!")
        .topic("__consumer_offsets", GB / 1000, 2, "3 2 1")
        .topic("orders", GB, 2, "1 2 3, 2 3 1")
        .topic("single", GB, 1, "3");
    let story = tell(&mut three, &Aim::shrink(1, true));
    let expected = [
        "min ISR __consumer_offsets: 2 → 1",
        "min ISR orders: 2 → 1",
        "__consumer_offsets-0: 3 2 1 → 1",
        "orders-0: 1 2 3 → 1",
        "orders-1: 2 3 1 → 1",
        "single-0: 3 → 1",
        "done",
    ];
    assert_eq!(story, expected);
}

#[test]
fn a_dead_broker_that_leaves_is_replaced_from_the_others() {
    let mut four = cluster("1 2 3!? 4").topic("orders", GB, 2, "1 2 3, 3 1 2");
    let story = tell(&mut four, &Aim::rebalance());
    let expected = ["orders-0: 1 2 3 → 1 2 4", "orders-1: 3 1 2 → 4 1 2", "elect orders-1", "done"];
    assert_eq!(story, expected);
}

#[test]
fn the_only_copy_on_a_dead_broker_is_waited_for() {
    let mut four = cluster("1 2 3!? 4").topic("single", GB, 1, "3").topic("orders", GB, 1, "2 1");
    let story = tell(&mut four, &Aim::rebalance());
    assert_eq!(story.last().unwrap(), "wait: single-0 has no leader");
}

#[test]
fn nothing_begins_while_something_is_under_way_or_a_broker_is_unreachable() {
    let world = || cluster("1 2 3 4!").topic("orders", GB, 2, "1 2 4, 1 2 4");
    let mut busy = world();
    let partition = busy.partition("orders", 1);
    partition.replicas = vec![1, 2, 3, 4];
    partition.reassignment =
        Some(Reassignment { adding: vec![3], removing: vec![4], copied_bytes: GB / 4 });
    assert_eq!(mover::plan(&busy, &Aim::rebalance()).bytes_left(), GB + GB * 3 / 4);
    let expected = ["wait: orders-1 has a reassignment under way"];
    assert_eq!(tell(&mut busy, &Aim::rebalance()), expected);
    let mut down = world();
    down.brokers[2].is_up = false;
    assert_eq!(tell(&mut down, &Aim::rebalance()), ["wait: broker 3 is unreachable"]);
}

/// A new broker died for good while it was copied to, and is given up.
#[test]
fn a_copy_to_a_dead_broker_that_leaves_is_cancelled() {
    let mut four = cluster("1 2 3 4!?").topic("orders", GB, 2, "1 2 3, 1 2 3");
    let partition = four.partition("orders", 1);
    partition.replicas = vec![1, 2, 4, 3];
    partition.reassignment =
        Some(Reassignment { adding: vec![4], removing: vec![3], copied_bytes: 0 });
    let story = tell(&mut four, &Aim { spread: false, ..Aim::default() });
    assert_eq!(story, ["cancel orders-1", "done"]);
}

/// The only brokers that may get a replica are full until others have been moved away.
#[test]
fn room_is_made_by_evening_out_where_nothing_else_can_move() {
    let replicas = ["1 2"; 10].join(", ");
    let mut four = cluster("1 2 3 4!").topic("orders", 85 * GB, 1, &replicas).topic(
        "late",
        100 * GB,
        1,
        "3 4",
    );
    let story = tell(&mut four, &Aim::shrink(3, false));
    assert!(story[0].starts_with("orders-"), "{story:?}");
    assert_eq!(story.last().unwrap(), "done");
    assert!(!four.partition("late", 0).replicas.contains(&4), "{story:?}");
}

/// A rebalance that was cancelled ends though a broker is down, which may take for ever.
#[test]
fn what_is_under_way_ends_without_brokers_that_are_down() {
    let three = || cluster("1 2 3 4?").topic("orders", GB, 2, "1 2 3, 1 2 3");
    assert_eq!(tell(&mut three(), &Aim::end()), ["done"]);
    let copies_to = |node| {
        let mut three = three();
        let partition = three.partition("orders", 1);
        partition.replicas = vec![1, 2, node, 3];
        partition.reassignment =
            Some(Reassignment { adding: vec![node], removing: vec![3], copied_bytes: 0 });
        tell(&mut three, &Aim::end())
    };
    assert_eq!(copies_to(4), ["cancel orders-1", "done"]);
    let copied_from = |node| {
        let mut five = cluster("1 2 3 4 5?").topic("orders", GB, 1, node);
        let partition = five.partition("orders", 0);
        let source = partition.replicas[0];
        (partition.replicas, partition.in_sync) = (vec![source, 4], vec![source]);
        partition.reassignment =
            Some(Reassignment { adding: vec![4], removing: vec![source], copied_bytes: 0 });
        tell(&mut five, &Aim::end())
    };
    assert_eq!(copied_from("1"), ["wait: orders-0 has a reassignment under way"]);
    assert_eq!(copied_from("5"), ["cancel orders-0", "done"]);
    // Min ISR of Kafka's own topics is not raised, nor are leaders moved.
    let mut low = cluster("1 2 3?").topic("__consumer_offsets", GB, 1, "2 1 3");
    low.partition("__consumer_offsets", 0).leader = Some(1);
    assert_eq!(tell(&mut low, &Aim::end()), ["done"]);
}

#[test]
fn a_stale_elr_is_mended_before_anything_moves() {
    let mut four = cluster("1 2 3 4!").topic("orders", GB, 2, "1 2 4, 1 2 4");
    four.partition("orders", 1).elr = vec![3];
    let story = tell(&mut four, &Aim::rebalance());
    assert_eq!(story[0], "mend orders [1]");
    assert_eq!(story.last().unwrap(), "done");
}

/// Changing min ISR clears the ELR of a partition that needs it to come back.
#[test]
fn a_topic_with_a_partition_without_a_leader_is_not_mended() {
    let mut four = cluster("1 2 3 4!").topic("orders", GB, 2, "1 2 4, 1 2 4");
    four.partition("orders", 1).elr = vec![3];
    let partition = four.partition("orders", 0);
    (partition.leader, partition.in_sync, partition.elr) = (None, vec![], vec![1, 2]);
    let expected = [
        "wait: orders-0 has no leader",
        "wait: orders-0 is not in sync on [1, 2]",
        "wait: the ELR of orders-1 names [3], which is no replica",
    ];
    assert_eq!(tell(&mut four, &Aim::rebalance()), expected);
}

#[test]
fn nothing_moves_to_a_single_broker_unasked() {
    let mut three = cluster("1 2! 3!").topic("__consumer_offsets", GB, 2, "1 2 3");
    let story = tell(&mut three, &Aim::shrink(1, false));
    assert!(story.len() == 1 && story[0].starts_with("wait: one of 3 brokers would remain"));
}

/// It was made after the shrink was accepted.
#[test]
fn a_topic_with_too_many_replicas_is_waited_for() {
    let mut four =
        cluster("1 2 3 4!").topic("orders", GB, 2, "1 2 4").topic("wide", GB, 2, "1 2 3 4");
    let story = tell(&mut four, &Aim::shrink(3, false));
    let expected = "wait: topic wide is to have 4 replicas and 3 brokers would remain: give it \
        fewer replicas first";
    assert_eq!(story.last().unwrap(), expected);
    assert_eq!(loads(&four)[&4].0, GB);
}
