//! Seven servers, 10,000 topics, 100,000 replicas.

use crate::dice::Dice;
use crate::world::{apply, loads};
use mover::{Aim, Broker, Cluster, Limits, Next, Partition, next_batch, plan};
use std::time::Instant;

const TB: u64 = 1_000_000_000_000;

/// Ten replicas a topic, on these brokers.
fn cluster(nodes: &[i32], leaving: &[i32], replicas: usize) -> Cluster {
    cluster_of(leaving, replicas, |dice| dice.some(nodes, replicas))
}

/// Brokers 1 to 5 in three racks, which 6 and 7 join. Every partition is in all of them.
fn in_racks() -> Cluster {
    let mut cluster = cluster_of(&[], 3, |dice| {
        let mut one_of_each = vec![1 + 3 * dice.pick(&[0, 1]).unwrap(), 3];
        one_of_each.push(2 + 3 * dice.pick(&[0, 1]).unwrap());
        dice.some(&one_of_each, 3)
    });
    for (broker, rack) in cluster.brokers.iter_mut().zip(["a", "b", "c"].into_iter().cycle()) {
        broker.rack = Some(rack.to_owned());
    }
    cluster
}

/// Few topics are large.
fn cluster_of(leaving: &[i32], replicas: usize, place: impl Fn(&mut Dice) -> Vec<i32>) -> Cluster {
    let mut dice = Dice::new(7);
    let broker = |node| Broker {
        node,
        rack: None,
        disk_bytes: 1000 * TB,
        free_bytes: 1000 * TB,
        is_leaving: leaving.contains(&node),
        is_up: true,
    };
    let mut cluster =
        Cluster { brokers: (1..=7).map(broker).collect(), partitions: Vec::with_capacity(100_000) };
    let mut left = 100_000;
    for topic in 0..10_000 {
        let name = format!("topic-{topic:05}").into();
        let most = dice.size(20_000_000_000);
        let number = (left / (10_000 - topic) / replicas).max(1);
        for index in (0..).take(number) {
            let on = place(&mut dice);
            left -= replicas;
            cluster.partitions.push(Partition {
                topic: std::sync::Arc::clone(&name),
                index,
                bytes: most / 2 + dice.below(most / 2 + 1),
                min_isr: 1,
                leader: Some(on[0]),
                in_sync: on.clone(),
                replicas: on,
                elr: vec![],
                reassignment: None,
            });
        }
    }
    let used = loads(&cluster);
    for broker in &mut cluster.brokers {
        broker.free_bytes -= used[&broker.node].0;
    }
    cluster
}

fn try_one(what: &str, mut cluster: Cluster, aim: &Aim) {
    let replicas: usize = cluster.partitions.iter().map(|it| it.replicas.len()).sum();
    let began = Instant::now();
    let first = plan(&cluster, aim);
    let took = began.elapsed();
    let over = (first.bytes - first.lower_bound) * 1000 / first.lower_bound.max(1);
    println!(
        "{what}: {replicas} replicas planned in {took:?}, {} moves of {} GB, {}.{} % above the \
        lower bound",
        first.moves.len(),
        first.bytes / 1_000_000_000,
        over / 10,
        over % 10,
    );
    let began = Instant::now();
    let next = next_batch(&cluster, aim, &Limits::default());
    println!("{what}: the next batch took {:?}", began.elapsed());
    assert_eq!(matches!(next, Next::Reassign(_)), !first.is_empty(), "{what}");
    assert!(over <= 50, "{what}: {} is too far from {}", first.bytes, first.lower_bound);
    apply(&mut cluster, &first.moves);
    assert!(plan(&cluster, aim).is_empty(), "{what}: a plan of the plan");
    println!("{what}: {:?}", loads(&cluster));
}

#[test]
fn plans_of_a_large_cluster_copy_few_bytes() {
    let nodes: Vec<i32> = (1..=7).collect();
    try_one("5 → 7", cluster(&nodes[..5], &[], 3), &Aim::grow(5, true));
    try_one("3 → 7", cluster(&nodes[..3], &[], 2), &Aim::grow(3, true));
    try_one("7 → 5", cluster(&nodes, &[6, 7], 3), &Aim::shrink(5, false));
    try_one("1 → 7", cluster(&nodes[..1], &[], 1), &Aim::grow(1, false));
    try_one("5 → 7 in racks", in_racks(), &Aim::grow(5, true));
    try_one("even already", cluster(&nodes, &[], 3), &Aim::rebalance());
}
