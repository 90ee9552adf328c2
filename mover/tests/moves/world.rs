//! Clusters written down in a line or two, and what becomes of them.

use mover::{Broker, Cluster, Move, Partition};
use std::collections::BTreeMap;

pub const GB: u64 = 1_000_000_000;
/// The disk of a broker, unless said otherwise.
pub const DISK: u64 = 1000 * GB;

/// Brokers as `1 2@rack 3!`, where `!` leaves and `?` is unreachable.
pub fn cluster(brokers: &str) -> Cluster {
    let broker = |text: &str| {
        let (is_leaving, is_up) = (text.contains('!'), !text.contains('?'));
        let text = text.trim_end_matches(['!', '?']);
        let (node, rack) = text.split_once('@').map_or((text, None), |(node, it)| (node, Some(it)));
        Broker {
            node: node.parse().unwrap(),
            rack: rack.map(str::to_owned),
            disk_bytes: DISK,
            free_bytes: DISK,
            is_leaving,
            is_up,
        }
    };
    Cluster { brokers: brokers.split_whitespace().map(broker).collect(), partitions: vec![] }
}

fn nodes(text: &str) -> Vec<i32> {
    text.split_whitespace().map(|node| node.parse().unwrap()).collect()
}

pub trait Build: Sized {
    /// A topic of partitions of this size, with these replicas: `1 2 3, 2 3 1`. All that are
    /// up are in sync.
    fn topic(self, name: &str, bytes: u64, min_isr: usize, partitions: &str) -> Self;
    fn partition(&mut self, name: &str, index: i32) -> &mut Partition;
    fn disk(self, node: i32, bytes: u64) -> Self;
}

impl Build for Cluster {
    fn topic(mut self, name: &str, bytes: u64, min_isr: usize, partitions: &str) -> Self {
        for (index, replicas) in (0..).zip(partitions.split(',')) {
            let replicas = nodes(replicas);
            let up: Vec<i32> = replicas.iter().copied().filter(|it| self.is_up(*it)).collect();
            add_free(&mut self, &replicas, bytes, false);
            self.partitions.push(Partition {
                topic: name.into(),
                index,
                bytes,
                min_isr,
                leader: up.first().copied(),
                in_sync: up,
                replicas,
                elr: vec![],
                reassignment: None,
            });
        }
        self
    }

    fn partition(&mut self, name: &str, index: i32) -> &mut Partition {
        let is_it = |it: &&mut Partition| &*it.topic == name && it.index == index;
        self.partitions.iter_mut().find(is_it).unwrap()
    }

    fn disk(mut self, node: i32, bytes: u64) -> Self {
        let broker = self.brokers.iter_mut().find(|it| it.node == node).unwrap();
        broker.free_bytes = bytes - (broker.disk_bytes - broker.free_bytes);
        broker.disk_bytes = bytes;
        self
    }
}

fn add_free(cluster: &mut Cluster, nodes: &[i32], bytes: u64, frees: bool) {
    for broker in cluster.brokers.iter_mut().filter(|it| nodes.contains(&it.node)) {
        let free = broker.free_bytes;
        broker.free_bytes = if frees { free + bytes } else { free - bytes };
    }
}

/// Carries moves out at once.
pub fn apply(cluster: &mut Cluster, moves: &[Move]) {
    let places: BTreeMap<_, _> =
        cluster.partitions.iter().enumerate().map(|(at, it)| (it.name(), at)).collect();
    for done in moves {
        let at = places[&done.partition];
        let bytes = cluster.partitions[at].bytes;
        let only = |some: &[i32], others: &[i32]| -> Vec<i32> {
            some.iter().filter(|it| !others.contains(it)).copied().collect()
        };
        add_free(cluster, &only(&done.to, &done.from), bytes, false);
        add_free(cluster, &only(&done.from, &done.to), bytes, true);
        let partition = &mut cluster.partitions[at];
        partition.replicas.clone_from(&done.to);
        partition.in_sync.clone_from(&done.to);
        partition.elr = vec![];
        if !partition.leader.is_some_and(|leader| done.to.contains(&leader)) {
            partition.leader = done.to.first().copied();
        }
    }
}

/// Bytes and preferred leaders by broker.
pub fn loads(cluster: &Cluster) -> BTreeMap<i32, (u64, usize)> {
    let mut loads: BTreeMap<i32, (u64, usize)> =
        cluster.brokers.iter().map(|it| (it.node, (0, 0))).collect();
    for partition in &cluster.partitions {
        for (position, node) in partition.replicas.iter().enumerate() {
            let load = loads.entry(*node).or_default();
            load.0 += partition.bytes;
            load.1 += usize::from(position == 0);
        }
    }
    loads
}

pub fn write(nodes: &[i32]) -> String {
    nodes.iter().map(i32::to_string).collect::<Vec<_>>().join(" ")
}
