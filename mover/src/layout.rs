//! Which partition is on which broker while a plan is made: brokers and topics by index, with
//! their loads kept up to date by every change.
//!
//! Brokers that are leaving, and nodes that replicas are on but that are no brokers any more,
//! come after those that stay, and get nothing.

use crate::cluster::{Broker, Cluster, Partition};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The part of a disk that plans leave free: one in so many.
pub const SPARE_PART: u64 = 5;

pub struct Layout<'a> {
    pub partitions: &'a [Partition],
    /// How many of the first brokers stay.
    pub staying: usize,
    /// Kafka's node id of each broker.
    pub nodes: Vec<i32>,
    /// The rack of each broker, as a number.
    racks: Vec<usize>,
    /// How many racks the staying brokers are in.
    staying_racks: usize,
    /// Bytes of the replicas on each broker.
    pub load: Vec<u64>,
    /// Replicas on each broker.
    pub count: Vec<usize>,
    /// Bytes that each broker can take and keep the spare part of its disk free. Negative if
    /// that is used already.
    pub room: Vec<i64>,
    /// Replicas of each partition as brokers, in order.
    pub replicas: Vec<Vec<usize>>,
    /// The same at the beginning.
    pub before: Vec<Vec<usize>>,
    /// Topic of each partition, as a number.
    topic: Vec<usize>,
    /// Replicas of each topic on each broker.
    topic_count: Vec<u32>,
    /// Partitions that were relocated, from which broker and to which, in order.
    pub relocated: Vec<(usize, usize, usize)>,
}

pub fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl<'a> Layout<'a> {
    pub fn new(cluster: &'a Cluster) -> Self {
        let (brokers, nodes) = ordered(cluster);
        let staying = cluster.staying().count();
        let racks = rack_numbers(&brokers, nodes.len());
        let index: HashMap<i32, usize> = nodes.iter().copied().zip(0..).collect();
        let before: Vec<Vec<usize>> = cluster
            .partitions
            .iter()
            .map(|partition| partition.settled().iter().map(|node| index[node]).collect())
            .collect();
        let mut room: Vec<i64> = brokers
            .iter()
            .map(|it| signed(it.free_bytes) - signed(it.disk_bytes / SPARE_PART))
            .collect();
        room.resize(nodes.len(), 0);
        let topic = topic_numbers(&cluster.partitions);
        let topics = topic.iter().max().map_or(0, |last| last + 1);
        let mut layout = Self {
            partitions: &cluster.partitions,
            staying,
            staying_racks: racks[..staying].iter().collect::<BTreeSet<_>>().len(),
            racks,
            load: vec![0; nodes.len()],
            count: vec![0; nodes.len()],
            room,
            replicas: before.clone(),
            before,
            topic,
            topic_count: vec![0; topics * nodes.len()],
            relocated: vec![],
            nodes,
        };
        layout.take_in(&index);
        layout
    }

    /// Counts the replicas that are there, and what reassignments under way change of the room.
    fn take_in(&mut self, index: &HashMap<i32, usize>) {
        for at in 0..self.partitions.len() {
            for position in 0..self.before[at].len() {
                let broker = self.before[at][position];
                self.count_in(at, broker);
                self.room[broker] += signed(self.bytes(at));
            }
            let partition = &self.partitions[at];
            let Some(reassignment) = &partition.reassignment else { continue };
            for broker in reassignment.removing.iter().filter_map(|node| index.get(node)) {
                self.room[*broker] += signed(partition.bytes);
            }
            let coming = partition.bytes_under_way() / reassignment.adding.len().max(1) as u64;
            for broker in reassignment.adding.iter().filter_map(|node| index.get(node)) {
                self.room[*broker] -= signed(coming);
            }
        }
    }

    pub fn bytes(&self, at: usize) -> u64 {
        self.partitions[at].bytes
    }

    pub fn holds(&self, at: usize, broker: usize) -> bool {
        self.replicas[at].contains(&broker)
    }

    /// Whether a replica was not on this broker at the beginning: then it is copied anyway, and
    /// moving it elsewhere costs nothing more.
    pub fn is_new(&self, at: usize, broker: usize) -> bool {
        !self.before[at].contains(&broker)
    }

    pub fn add(&mut self, at: usize, broker: usize) {
        self.replicas[at].push(broker);
        self.count_in(at, broker);
    }

    pub fn remove(&mut self, at: usize, broker: usize) {
        self.replicas[at].retain(|it| *it != broker);
        self.count_out(at, broker);
    }

    /// Puts another broker into the place of one, so that the order of the others stays.
    pub fn relocate(&mut self, at: usize, from: usize, to: usize) {
        for broker in &mut self.replicas[at] {
            if *broker == from {
                *broker = to;
            }
        }
        self.count_out(at, from);
        self.count_in(at, to);
        self.relocated.push((at, from, to));
    }

    fn count_in(&mut self, at: usize, broker: usize) {
        self.load[broker] += self.bytes(at);
        self.count[broker] += 1;
        self.room[broker] -= signed(self.bytes(at));
        self.topic_count[self.topic[at] * self.nodes.len() + broker] += 1;
    }

    fn count_out(&mut self, at: usize, broker: usize) {
        self.load[broker] -= self.bytes(at);
        self.count[broker] -= 1;
        self.room[broker] += signed(self.bytes(at));
        self.topic_count[self.topic[at] * self.nodes.len() + broker] -= 1;
    }

    /// Replicas of this partition's topic on a broker.
    pub fn of_topic(&self, at: usize, broker: usize) -> u32 {
        self.topic_count[self.topic[at] * self.nodes.len() + broker]
    }

    /// Whether a broker has more, or less, than its share of this partition's topic.
    pub fn compare_share(&self, at: usize, broker: usize) -> Ordering {
        let first = self.topic[at] * self.nodes.len();
        let all = &self.topic_count[first..first + self.staying];
        let brokers = u32::try_from(self.staying).unwrap_or(u32::MAX);
        all[broker].saturating_mul(brokers).cmp(&all.iter().sum())
    }

    pub fn topic(&self, at: usize) -> usize {
        self.topic[at]
    }

    pub fn topics(&self) -> usize {
        self.topic.iter().max().map_or(0, |last| last + 1)
    }

    pub fn has_room(&self, at: usize, broker: usize) -> bool {
        self.room[broker] >= signed(self.bytes(at))
    }

    /// In how many racks these brokers are.
    pub fn racks_of(&self, brokers: &[usize]) -> usize {
        let is_first = |(at, broker): &(usize, &usize)| {
            brokers[..*at].iter().all(|other| self.racks[*other] != self.racks[**broker])
        };
        brokers.iter().enumerate().filter(is_first).count()
    }

    pub fn same_rack(&self, one: usize, other: usize) -> bool {
        self.racks[one] == self.racks[other]
    }

    /// The staying brokers of each rack.
    pub fn rack_members(&self) -> Vec<Vec<usize>> {
        let mut racks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for broker in 0..self.staying {
            racks.entry(self.racks[broker]).or_default().push(broker);
        }
        racks.into_values().collect()
    }

    /// In how many racks so many replicas can be.
    pub fn most_racks(&self, replicas: usize) -> usize {
        replicas.min(self.staying_racks)
    }

    /// Whether another broker may take the place of one without bringing racks together.
    pub fn keeps_racks(&self, at: usize, from: usize, to: usize) -> bool {
        if self.same_rack(from, to) {
            return true;
        }
        let others = || self.replicas[at].iter().filter(|it| **it != from);
        let shares = |broker: usize| others().any(|other| self.same_rack(*other, broker));
        // Alone in its rack, it can be replaced only by one that would be alone too.
        shares(from) || !shares(to)
    }

    /// What a broker bears. An empty replica costs something too.
    pub fn burden(&self, broker: usize) -> u64 {
        const EMPTY_REPLICA: u64 = 1 << 20;
        self.load[broker] + EMPTY_REPLICA * self.count[broker] as u64
    }
}

/// Staying brokers, leaving ones, and the nodes of both and of those that are gone.
fn ordered(cluster: &Cluster) -> (Vec<&Broker>, Vec<i32>) {
    let mut brokers: Vec<&Broker> = cluster.brokers.iter().collect();
    brokers.sort_by_key(|broker| (broker.is_leaving, broker.node));
    let mut nodes: Vec<i32> = brokers.iter().map(|broker| broker.node).collect();
    let known: BTreeSet<i32> = nodes.iter().copied().collect();
    let named: BTreeSet<i32> = cluster
        .partitions
        .iter()
        .flat_map(|partition| partition.replicas.iter().copied())
        .collect();
    nodes.extend(named.difference(&known));
    (brokers, nodes)
}

fn rack_numbers(brokers: &[&Broker], nodes: usize) -> Vec<usize> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    // Nodes that are brokers no more have no rack either.
    let racks = brokers.iter().map(|broker| broker.rack.as_deref());
    let racks = racks.chain(std::iter::repeat(None)).take(nodes).enumerate();
    racks.map(|(at, rack)| rack.map_or(at, |rack| *names.entry(rack).or_insert(at))).collect()
}

fn topic_numbers(partitions: &[Partition]) -> Vec<usize> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut numbers = Vec::with_capacity(partitions.len());
    for partition in partitions {
        let next = names.len();
        numbers.push(*names.entry(&partition.topic).or_insert(next));
    }
    numbers
}
