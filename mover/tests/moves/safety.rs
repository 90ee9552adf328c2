//! When replicas may change, and when a change may be cancelled.

use crate::world::{Build, GB, cluster};
use mover::{Cluster, Partition, Reassignment, Verdict, may_cancel, may_reassign};

fn three() -> Cluster {
    cluster("1 2 3 4 5?").topic("orders", GB, 2, "1 2 3")
}

fn words(verdict: &Verdict) -> Vec<String> {
    match verdict {
        Verdict::Go => vec![],
        Verdict::Wait(obstacles) => obstacles.iter().map(ToString::to_string).collect(),
    }
}

fn check(change: impl FnOnce(&mut Partition), target: &[i32], expected: &[&str]) {
    let mut cluster = three();
    change(cluster.partition("orders", 0));
    let verdict = may_reassign(&cluster.partitions[0], target, |node| cluster.is_up(node));
    assert_eq!(words(&verdict), expected, "to {target:?}");
}

#[test]
fn replicas_change_only_from_a_whole_partition() {
    check(|_| {}, &[1, 2, 4], &[]);
    check(|_| {}, &[2, 1, 3], &[]);
    check(|_| {}, &[1, 2], &[]);
    check(|it| it.in_sync = vec![1, 2], &[1, 2, 3], &["orders-0 is not in sync on [3]"]);
    check(|it| it.in_sync = vec![1, 2], &[1, 3, 4], &["orders-0 is not in sync on [3]"]);
    check(|it| it.leader = None, &[1, 2, 4], &["orders-0 has no leader"]);
    check(|_| {}, &[1, 2, 5], &["broker 5 is unreachable"]);
    let under_way = Reassignment { adding: vec![3], ..Reassignment::default() };
    let expected = ["orders-0 has a reassignment under way"];
    check(|it| it.reassignment = Some(under_way), &[1, 2, 4], &expected);
}

/// The replica that goes need not be in sync: it may be why it goes.
#[test]
fn a_replica_that_lags_may_be_replaced() {
    check(|it| it.in_sync = vec![1, 2], &[1, 2, 4], &[]);
}

#[test]
fn nothing_is_added_while_the_elr_names_a_broker_that_is_no_replica() {
    let stale = |it: &mut Partition| it.elr = vec![3, 4];
    check(stale, &[1, 2, 3, 4], &["the ELR of orders-0 names [4], which is no replica"]);
    let stale = |it: &mut Partition| it.elr = vec![4, 5];
    check(stale, &[2, 1, 3], &["the ELR of orders-0 names [4, 5], which are no replicas"]);
    check(|it| it.elr = vec![3], &[1, 2, 3, 4], &[]);
}

#[test]
fn replicas_never_become_fewer_than_min_isr() {
    let expected = ["orders-0 would have 1 in sync, below its min ISR of 2"];
    check(|_| {}, &[1], &expected);
    check(|it| it.min_isr = 1, &[1], &[]);
    check(|it| it.min_isr = 0, &[], &["orders-0 would have 0 in sync, below its min ISR of 0"]);
}

/// A partition of 1 and 2 to which 3 and 4 are being added.
fn cancelled(in_sync: &[i32], elr: &[i32], min_isr: usize, expected: &[&str]) {
    let mut cluster = cluster("1 2 3 4").topic("orders", GB, min_isr, "3 1 4 2");
    let partition = cluster.partition("orders", 0);
    let adding = vec![3, 4];
    partition.reassignment = Some(Reassignment { adding, ..Reassignment::default() });
    partition.in_sync = in_sync.to_vec();
    partition.elr = elr.to_vec();
    assert_eq!(words(&may_cancel(partition)), expected, "{in_sync:?} {elr:?} {min_isr}");
}

#[test]
fn a_cancel_leaves_enough_in_sync_and_no_stale_elr() {
    cancelled(&[1, 2], &[], 2, &[]);
    cancelled(&[1, 2, 3], &[], 2, &[]);
    let below = "orders-0 would have 1 in sync, below its min ISR of 2";
    cancelled(&[1, 3], &[], 2, &[below]);
    cancelled(&[1, 3], &[], 1, &[]);
    cancelled(&[3, 4], &[], 1, &["orders-0 would have 0 in sync, below its min ISR of 1"]);
    cancelled(&[1, 2], &[2], 2, &[]);
    cancelled(&[1, 2], &[3], 2, &["the ELR of orders-0 names [3], which is no replica"]);
}

#[test]
fn what_is_not_under_way_can_not_be_cancelled() {
    let cluster = three();
    let expected = ["orders-0 has no reassignment that could be cancelled"];
    assert_eq!(words(&may_cancel(&cluster.partitions[0])), expected);
}
