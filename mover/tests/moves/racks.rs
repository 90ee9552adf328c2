//! Copies of one partition are in different racks, where there are enough.

use crate::story::tell;
use crate::world::{Build, GB, cluster};
use mover::{Aim, Cluster};
use std::collections::BTreeSet;

/// In how many racks each partition is.
fn racks(cluster: &Cluster) -> Vec<usize> {
    let rack = |node: &i32| cluster.broker(*node).unwrap().rack.clone();
    let racks = |replicas: &[i32]| replicas.iter().map(rack).collect::<BTreeSet<_>>().len();
    cluster.partitions.iter().map(|it| racks(&it.replicas)).collect()
}

#[test]
fn new_brokers_in_new_racks_part_the_copies() {
    let mut five = cluster("1@a 2@a 3@a 4@b 5@c").topic("orders", GB, 2, "1 2 3, 2 3 1, 3 1 2");
    tell(&mut five, &Aim::grow(3, true));
    assert_eq!(racks(&five), [3, 3, 3]);
}

#[test]
fn a_leaving_broker_is_replaced_from_its_rack() {
    let mut six = cluster("1@a 2@b 3@c 4@a 5@b 6@c!").topic("orders", GB, 2, "1 2 6, 4 5 6, 6 4 2");
    let story = tell(&mut six, &Aim::shrink(5, false));
    let expected =
        ["orders-0: 1 2 6 → 1 2 3", "orders-1: 4 5 6 → 4 5 3", "orders-2: 6 4 2 → 3 4 2", "done"];
    assert_eq!(story, expected);
}

#[test]
fn with_too_few_racks_copies_are_in_all_of_them() {
    let mut three = cluster("1@a 2@a 3@b").topic("orders", GB, 1, "1, 1, 1, 1");
    tell(&mut three, &Aim::grow(1, true));
    assert_eq!(racks(&three), [2, 2, 2, 2]);
    let mut pairs = cluster("1@a 2@a 3@b").topic("orders", GB, 1, "1 2, 2 1");
    tell(&mut pairs, &Aim::rebalance());
    assert_eq!(racks(&pairs), [2, 2]);
}

/// Evenness comes second: the only broker of a rack holds a copy of everything.
#[test]
fn racks_come_before_evenness() {
    let mut four =
        cluster("1@a 2@b 3@b 4@b").topic("orders", GB, 1, "1 2, 1 2, 1 2, 1 2, 1 2, 1 2");
    let story = tell(&mut four, &Aim::rebalance());
    assert_eq!(racks(&four), [2; 6]);
    assert_eq!(story.last().unwrap(), "done");
}
