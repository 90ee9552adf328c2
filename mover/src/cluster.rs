//! What the mover is told of a cluster: its brokers and all its partitions at one moment.
//!
//! Everything else is worked out from this, each time anew. So a crash loses nothing, and a
//! topic that was made or deleted in between is simply there or not.

use std::fmt;
use std::sync::Arc;

/// All brokers and partitions, observed at one moment.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Cluster {
    pub brokers: Vec<Broker>,
    pub partitions: Vec<Partition>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broker {
    /// Kafka's node id.
    pub node: i32,
    /// Brokers without a rack count as a rack each.
    pub rack: Option<String>,
    pub disk_bytes: u64,
    pub free_bytes: u64,
    /// It gets no new replicas, and loses those it has.
    pub is_leaving: bool,
    /// It is registered, unfenced and answers.
    pub is_up: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    pub topic: Arc<str>,
    pub index: i32,
    /// Size of its log, on one broker.
    pub bytes: u64,
    /// The topic's effective `min.insync.replicas`.
    pub min_isr: usize,
    /// In Kafka's order: the first is the preferred leader. While a reassignment is under way
    /// they include those that it adds and those that it removes.
    pub replicas: Vec<i32>,
    pub leader: Option<i32>,
    pub in_sync: Vec<i32>,
    /// Eligible leader replicas. Kafka before 4.0 has none.
    pub elr: Vec<i32>,
    pub reassignment: Option<Reassignment>,
}

/// A change of replicas that Kafka is carrying out.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Reassignment {
    pub adding: Vec<i32>,
    pub removing: Vec<i32>,
    /// Size of the added logs so far, all together.
    pub copied_bytes: u64,
}

/// A partition by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartitionName {
    pub topic: Arc<str>,
    pub index: i32,
}

impl fmt::Display for PartitionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.index)
    }
}

impl Cluster {
    pub fn broker(&self, node: i32) -> Option<&Broker> {
        self.brokers.iter().find(|broker| broker.node == node)
    }

    /// Brokers that are not leaving.
    pub fn staying(&self) -> impl Iterator<Item = &Broker> {
        self.brokers.iter().filter(|broker| !broker.is_leaving)
    }

    /// False for nodes that are no brokers any more.
    pub fn is_up(&self, node: i32) -> bool {
        self.broker(node).is_some_and(|broker| broker.is_up)
    }
}

impl Partition {
    pub fn name(&self) -> PartitionName {
        PartitionName { topic: self.topic.clone(), index: self.index }
    }

    /// The replicas it has once the reassignment under way, if any, has ended.
    pub fn settled(&self) -> Vec<i32> {
        let Some(reassignment) = &self.reassignment else { return self.replicas.clone() };
        self.without(&reassignment.removing)
    }

    /// The replicas it has again if the reassignment under way, if any, is cancelled.
    pub fn original(&self) -> Vec<i32> {
        let Some(reassignment) = &self.reassignment else { return self.replicas.clone() };
        self.without(&reassignment.adding)
    }

    fn without(&self, nodes: &[i32]) -> Vec<i32> {
        self.replicas.iter().filter(|node| !nodes.contains(node)).copied().collect()
    }

    /// Members of the ELR that are not among these replicas.
    pub fn elr_outside(&self, replicas: &[i32]) -> Vec<i32> {
        self.elr.iter().filter(|node| !replicas.contains(node)).copied().collect()
    }

    /// Replicas that are not in sync.
    pub fn lagging(&self) -> Vec<i32> {
        self.without(&self.in_sync)
    }

    /// Bytes that the reassignment under way has still to copy.
    pub fn bytes_under_way(&self) -> u64 {
        let Some(reassignment) = &self.reassignment else { return 0 };
        // Kafka stops listing a copy as added only once the whole reassignment has ended.
        let copies = reassignment.adding.len() as u64;
        (self.bytes.saturating_mul(copies)).saturating_sub(reassignment.copied_bytes)
    }
}
