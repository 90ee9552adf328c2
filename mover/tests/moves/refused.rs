//! What is refused before anything moves, and in which words.

use crate::world::{Build, GB, cluster};
use mover::{Aim, Cluster, check};

fn refused(cluster: &Cluster, aim: &Aim, expected: &[&str]) {
    let found = check(cluster, aim).err().unwrap_or_default();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn more_replicas_than_brokers_that_remain() {
    let five = cluster("1 2 3 4! 5!")
        .topic("wide", GB, 3, "1 2 3 4 5")
        .topic("orders", GB, 2, "1 2 3, 3 4 5")
        .topic("audit", GB, 2, "1 2 3 4");
    let expected = [
        "topic audit is to have 4 replicas and 3 brokers would remain: give it fewer replicas \
        first",
        "topic wide is to have 5 replicas and 3 brokers would remain: give it fewer replicas first",
    ];
    refused(&five, &Aim::shrink(3, false), &expected);
    let mut asked = Aim::shrink(3, false);
    asked.topics.extend([("wide".to_owned(), 3), ("audit".to_owned(), 3)]);
    refused(&five, &asked, &[]);
}

#[test]
fn a_single_copy_that_was_not_asked_for() {
    let three = cluster("1 2! 3!").topic("orders", GB, 2, "1 2 3, 2 3 1");
    let expected = ["one of 3 brokers would remain, with one copy of everything: ask for that \
        with accept_single_copy"];
    refused(&three, &Aim::shrink(1, false), &expected);
    refused(&three, &Aim::shrink(1, true), &[]);
    refused(
        &cluster("1!").topic("orders", GB, 1, "1"),
        &Aim::shrink(1, true),
        &["no broker would remain"],
    );
}

#[test]
fn disks_that_can_not_hold_the_data_with_a_fifth_to_spare() {
    let full = |bytes: u64| {
        let partitions = "1 2 3, 2 3 4, 3 4 5, 4 5 1, 5 1 2";
        cluster("1 2 3 4! 5!").topic("orders", bytes, 2, partitions)
    };
    refused(&full(160 * GB), &Aim::shrink(3, false), &[]);
    let expected = ["1020.0 GB have to move, and with 20 % of each disk left free there is no \
        place for 510.0 GB of it, such as orders-4: broker 1 can take 290.0 GB, broker 2 can \
        take 290.0 GB, broker 3 can take 290.0 GB"];
    refused(&full(170 * GB), &Aim::shrink(3, false), &expected);
}
