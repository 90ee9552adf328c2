//! A Kafka that keeps replicas as 4.3 does, with its mistake: replicas that are removed while
//! too few remain stay in the ELR. Every replica knows how much it has, so that an election
//! that loses acknowledged bytes is seen.

use mover::{Cluster, Move, Partition, PartitionName, Reassignment};
use std::collections::{BTreeMap, BTreeSet};

pub struct Kafka {
    pub cluster: Cluster,
    logs: BTreeMap<PartitionName, Logs>,
    /// Partitions that lost acknowledged bytes.
    pub lost: Vec<PartitionName>,
}

#[derive(Default)]
struct Logs {
    acknowledged: u64,
    by_node: BTreeMap<i32, u64>,
    /// Before the reassignment under way.
    original: Vec<i32>,
}

impl Kafka {
    pub fn new(cluster: Cluster) -> Self {
        let mut kafka = Self { cluster, logs: BTreeMap::new(), lost: vec![] };
        for at in 0..kafka.cluster.partitions.len() {
            kafka.make_logs(at);
        }
        kafka
    }

    fn make_logs(&mut self, at: usize) {
        let partition = &self.cluster.partitions[at];
        let by_node = partition.replicas.iter().map(|node| (*node, partition.bytes)).collect();
        let logs = Logs { acknowledged: partition.bytes, by_node, original: vec![] };
        self.logs.insert(partition.name(), logs);
    }

    pub fn create(&mut self, partitions: Vec<Partition>) {
        for partition in partitions {
            self.cluster.partitions.push(partition);
            self.make_logs(self.cluster.partitions.len() - 1);
        }
    }

    pub fn delete(&mut self, topic: &str) {
        self.cluster.partitions.retain(|it| &*it.topic != topic);
        self.logs.retain(|name, _| &*name.topic != topic);
    }

    fn find(&self, name: &PartitionName) -> Option<usize> {
        self.cluster.partitions.iter().position(|it| it.name() == *name)
    }

    pub fn kill(&mut self, node: i32) {
        self.set_up(node, false);
        for at in 0..self.cluster.partitions.len() {
            let partition = &self.cluster.partitions[at];
            let left = partition.in_sync.iter().copied().filter(|it| *it != node);
            self.set_in_sync(at, left.collect());
            self.elect_if_needed(at);
        }
    }

    pub fn revive(&mut self, node: i32) {
        self.set_up(node, true);
        for at in 0..self.cluster.partitions.len() {
            self.elect_if_needed(at);
        }
    }

    fn set_up(&mut self, node: i32, is_up: bool) {
        let broker = self.cluster.brokers.iter_mut().find(|it| it.node == node).unwrap();
        broker.is_up = is_up;
    }

    fn set_in_sync(&mut self, at: usize, in_sync: Vec<i32>) {
        let partition = &mut self.cluster.partitions[at];
        let before = std::mem::replace(&mut partition.in_sync, in_sync);
        let elr: BTreeSet<i32> = before.into_iter().chain(partition.elr.drain(..)).collect();
        if partition.in_sync.len() < partition.min_isr {
            let is_out = |node: &i32| !partition.in_sync.contains(node);
            partition.elr = elr.into_iter().filter(is_out).collect();
        }
    }

    /// From the ISR, or else from replicas in the ELR.
    fn elect_if_needed(&mut self, at: usize) {
        let partition = &self.cluster.partitions[at];
        let can_lead = |node: &i32| partition.in_sync.contains(node) && self.cluster.is_up(*node);
        if partition.leader.is_some_and(|leader| can_lead(&leader)) {
            return;
        }
        let up = || partition.replicas.iter().copied().filter(|it| self.cluster.is_up(*it));
        let in_sync = up().find(can_lead);
        let leader = in_sync.or_else(|| up().find(|node| partition.elr.contains(node)));
        let is_from_elr = in_sync.is_none();
        self.cluster.partitions[at].leader = leader;
        let Some(leader) = leader else { return };
        if is_from_elr {
            self.set_in_sync(at, vec![leader]);
        }
        self.lead(at, leader);
    }

    fn lead(&mut self, at: usize, leader: i32) {
        let partition = &mut self.cluster.partitions[at];
        partition.leader = Some(leader);
        let logs = self.logs.get_mut(&partition.name()).unwrap();
        let has = logs.by_node[&leader];
        if has < logs.acknowledged {
            self.lost.push(partition.name());
            logs.acknowledged = has;
        }
        // The others cut off what the leader does not have.
        logs.by_node.values_mut().for_each(|it| *it = (*it).min(has));
    }

    pub fn elect_preferred(&mut self, names: &[PartitionName]) {
        for at in names.iter().filter_map(|name| self.find(name)).collect::<Vec<_>>() {
            let partition = &self.cluster.partitions[at];
            let first = partition.replicas[0];
            if partition.in_sync.contains(&first) && self.cluster.is_up(first) {
                self.lead(at, first);
            }
        }
    }

    pub fn reassign(&mut self, name: &PartitionName, to: &[i32]) {
        let Some(at) = self.find(name) else { return };
        let partition = &mut self.cluster.partitions[at];
        let logs = self.logs.get_mut(name).unwrap();
        let only = |some: &[i32], others: &[i32]| -> Vec<i32> {
            some.iter().filter(|it| !others.contains(it)).copied().collect()
        };
        let (adding, removing) = (only(to, &partition.replicas), only(&partition.replicas, to));
        logs.original.clone_from(&partition.replicas);
        logs.by_node.extend(adding.iter().map(|node| (*node, 0)));
        partition.replicas = [to, &removing].concat();
        partition.reassignment = Some(Reassignment { adding, removing, copied_bytes: 0 });
        self.complete(at);
    }

    pub fn start(&mut self, moves: &[Move]) {
        for one in moves {
            self.reassign(&one.partition, &one.to);
        }
    }

    /// A change that needs no copy ends at once, and must leave nothing that lags.
    pub fn assert_in_sync(&self, name: &PartitionName) {
        let Some(at) = self.find(name) else { return };
        let partition = &self.cluster.partitions[at];
        let is_whole = partition.reassignment.is_some() || partition.lagging().is_empty();
        assert!(is_whole, "{partition:?}");
    }

    pub fn cancel(&mut self, name: &PartitionName) {
        let Some(at) = self.find(name) else { return };
        let partition = &mut self.cluster.partitions[at];
        if partition.reassignment.take().is_some() {
            partition.replicas.clone_from(&self.logs[name].original);
            self.cut_to_replicas(at);
        }
    }

    /// Ends a reassignment once all that it adds are in sync.
    fn complete(&mut self, at: usize) {
        let partition = &mut self.cluster.partitions[at];
        let Some(reassignment) = &partition.reassignment else { return };
        let is_in_sync = |node: &i32| partition.in_sync.contains(node);
        let kept = partition.in_sync.iter().any(|it| !reassignment.removing.contains(it));
        if kept && reassignment.adding.iter().all(is_in_sync) {
            partition.replicas = partition.settled();
            partition.reassignment = None;
            self.cut_to_replicas(at);
        }
    }

    /// Replicas that were removed are deleted, and leave the ISR but not the ELR.
    fn cut_to_replicas(&mut self, at: usize) {
        let partition = &self.cluster.partitions[at];
        let replicas = partition.replicas.clone();
        let left = partition.in_sync.iter().copied().filter(|it| replicas.contains(it));
        self.set_in_sync(at, left.collect());
        let name = self.cluster.partitions[at].name();
        self.logs.get_mut(&name).unwrap().by_node.retain(|node, _| replicas.contains(node));
        self.elect_if_needed(at);
    }

    pub fn set_min_isr(&mut self, topic: &str, min_isr: usize) {
        for partition in self.cluster.partitions.iter_mut().filter(|it| &*it.topic == topic) {
            partition.min_isr = min_isr;
            partition.elr = vec![];
        }
    }

    /// Producers write, and the followers of each partition fetch at most so many bytes.
    pub fn pass_time(&mut self, written: u64, mut fetched: impl FnMut() -> u64) {
        for at in 0..self.cluster.partitions.len() {
            self.write(at, written);
            self.fetch(at, fetched());
            self.complete(at);
        }
        self.measure();
    }

    fn write(&mut self, at: usize, bytes: u64) {
        let partition = &self.cluster.partitions[at];
        if partition.leader.is_none() || partition.in_sync.len() < partition.min_isr {
            return;
        }
        let logs = self.logs.get_mut(&partition.name()).unwrap();
        for node in &partition.in_sync {
            *logs.by_node.get_mut(node).unwrap() += bytes;
        }
        logs.acknowledged += bytes;
    }

    fn fetch(&mut self, at: usize, bytes: u64) {
        let partition = &self.cluster.partitions[at];
        let Some(leader) = partition.leader else { return };
        let logs = self.logs.get_mut(&partition.name()).unwrap();
        let end = logs.by_node[&leader];
        let mut in_sync = partition.in_sync.clone();
        for node in partition.lagging() {
            let log = logs.by_node.get_mut(&node).unwrap();
            if self.cluster.is_up(node) {
                *log = (*log + bytes).min(end);
                if *log == end {
                    in_sync.push(node);
                }
            }
        }
        if in_sync.len() > partition.in_sync.len() {
            self.set_in_sync(at, in_sync);
        }
    }

    /// Sizes and room, as the mover is told of them.
    fn measure(&mut self) {
        let mut used: BTreeMap<i32, u64> = BTreeMap::new();
        for partition in &mut self.cluster.partitions {
            let logs = &self.logs[&partition.name()];
            for (node, bytes) in &logs.by_node {
                *used.entry(*node).or_default() += bytes;
            }
            partition.bytes = logs.by_node.values().copied().max().unwrap_or(0);
            if let Some(reassignment) = &mut partition.reassignment {
                let copied = reassignment.adding.iter().map(|node| logs.by_node[node]);
                reassignment.copied_bytes = copied.sum();
            }
        }
        for broker in &mut self.cluster.brokers {
            let used = used.get(&broker.node).copied().unwrap_or(0);
            broker.free_bytes = broker.disk_bytes.saturating_sub(used);
        }
    }
}
