//! What a cluster is to become: how many replicas each partition is to have, and whether they
//! are spread evenly. That leaving brokers are emptied goes without saying.
//!
//! An aim is a rule, not a list of topics, so that it also holds for topics made later.

use crate::cluster::Partition;
use std::collections::BTreeMap;

/// Topics that Kafka makes for itself. Their replicas follow the number of servers.
pub const INTERNAL_TOPICS: [&str; 3] =
    ["__consumer_offsets", "__transaction_state", "__share_group_state"];
/// As many replicas as a topic gets that follows the number of servers.
pub const FULL_REPLICATION: usize = 3;

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Aim {
    /// Partitions with one replica get so many, where the disks allow it.
    pub raise_single: Option<usize>,
    /// Partitions with more replicas keep so many.
    pub lower_to: Option<usize>,
    /// By topic, instead of the two rules above.
    pub topics: BTreeMap<String, usize>,
    /// Evens out bytes, replicas and leaders, and keeps racks apart, beyond what has to move.
    pub spread: bool,
    /// The customer agreed that one server is left, with one copy of everything.
    pub accept_single_copy: bool,
    /// What is under way ends, and nothing else begins: no broker is needed that is down.
    pub ends: bool,
}

impl Aim {
    /// For more servers. Topics of one replica are raised when a single server becomes several.
    pub fn grow(from: usize, raise_replication: bool) -> Self {
        let raise_single = (from == 1 && raise_replication).then_some(FULL_REPLICATION);
        Self { raise_single, spread: true, ..Self::default() }
    }

    /// For fewer servers. Replicas of topics are dropped only if one server is left.
    pub fn shrink(to: usize, accept_single_copy: bool) -> Self {
        let lower_to = (to == 1 && accept_single_copy).then_some(1);
        Self { lower_to, spread: true, accept_single_copy, ..Self::default() }
    }

    pub fn rebalance() -> Self {
        Self { spread: true, ..Self::default() }
    }

    pub fn end() -> Self {
        Self { ends: true, ..Self::default() }
    }

    /// How many replicas a partition is to have, with so many brokers staying. It may be more
    /// than there are brokers: then the aim is refused.
    pub fn replicas(&self, partition: &Partition, present: usize, staying: usize) -> usize {
        if let Some(wanted) = self.topics.get(&*partition.topic) {
            return (*wanted).max(1);
        }
        if is_internal(&partition.topic) {
            return FULL_REPLICATION.min(staying).max(1);
        }
        let raised = self.raise_single.filter(|_| present == 1).map(|to| to.min(staying));
        let lowered = self.lower_to.filter(|to| present > *to);
        lowered.or(raised).unwrap_or(present).max(1)
    }
}

pub fn is_internal(topic: &str) -> bool {
    INTERNAL_TOPICS.contains(&topic)
}

/// The min ISR that lets one of so many replicas be missing.
pub fn min_isr_for(replicas: usize) -> usize {
    replicas.saturating_sub(1).max(1)
}
