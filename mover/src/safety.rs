//! May the replicas of this partition be changed now, and may a change under way be cancelled?
//! The one answer for everything that moves replicas.
//!
//! Three rules keep acknowledged writes. No replica goes before its successor is in sync: Kafka
//! sees to that for those it adds, and here the replicas that are kept must be in sync too. No
//! replica is added while the ELR names a broker that is no replica: Kafka would take it for
//! one that has all data. And nothing may lead there: replicas never become fewer than min ISR,
//! which is what makes Kafka put removed replicas into the ELR.

use crate::cluster::{Partition, PartitionName};

/// Whether a partition's replicas may change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Go,
    Wait(Vec<Obstacle>),
}

impl Verdict {
    pub fn is_go(&self) -> bool {
        *self == Self::Go
    }
}

impl From<Vec<Obstacle>> for Verdict {
    fn from(obstacles: Vec<Obstacle>) -> Self {
        if obstacles.is_empty() { Self::Go } else { Self::Wait(obstacles) }
    }
}

/// One reason that the replicas of a partition may not change now.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Obstacle {
    #[error("{partition} has a reassignment under way")]
    UnderWay { partition: PartitionName },
    #[error("{partition} has no reassignment that could be cancelled")]
    NothingUnderWay { partition: PartitionName },
    #[error("{partition} has no leader")]
    NoLeader { partition: PartitionName },
    /// Setting the topic's min ISR to 1 clears the ELR.
    #[error("the ELR of {partition} names {nodes:?}, which {} no replica{}",
        if nodes.len() == 1 { "is" } else { "are" }, if nodes.len() == 1 { "" } else { "s" })]
    StaleElr { partition: PartitionName, nodes: Vec<i32> },
    #[error("{partition} is not in sync on {nodes:?}")]
    Lagging { partition: PartitionName, nodes: Vec<i32> },
    #[error("{partition} would have {replicas} in sync, below its min ISR of {min_isr}")]
    BelowMinIsr { partition: PartitionName, replicas: usize, min_isr: usize },
    #[error("broker {node} is unreachable")]
    Unreachable { node: i32 },
}

/// Whether a reassignment to these replicas may begin.
pub fn may_reassign(partition: &Partition, target: &[i32], is_up: impl Fn(i32) -> bool) -> Verdict {
    let name = || partition.name();
    let mut obstacles = Vec::new();
    if partition.reassignment.is_some() {
        obstacles.push(Obstacle::UnderWay { partition: name() });
    }
    if partition.leader.is_none_or(|leader| !partition.in_sync.contains(&leader)) {
        obstacles.push(Obstacle::NoLeader { partition: name() });
    }
    obstacles.extend(stale_elr(partition, &partition.replicas));
    let lagging = partition.lagging();
    let kept: Vec<i32> = lagging.into_iter().filter(|node| target.contains(node)).collect();
    if !kept.is_empty() {
        obstacles.push(Obstacle::Lagging { partition: name(), nodes: kept });
    }
    if target.len() < partition.min_isr.max(1) {
        let (replicas, min_isr) = (target.len(), partition.min_isr);
        obstacles.push(Obstacle::BelowMinIsr { partition: name(), replicas, min_isr });
    }
    let down = target.iter().copied().filter(|node| !is_up(*node));
    obstacles.extend(down.map(|node| Obstacle::Unreachable { node }));
    obstacles.into()
}

/// Whether the reassignment under way may be cancelled. What it added is dropped at once, so
/// the original replicas must do without.
pub fn may_cancel(partition: &Partition) -> Verdict {
    let name = || partition.name();
    if partition.reassignment.is_none() {
        return Verdict::Wait(vec![Obstacle::NothingUnderWay { partition: name() }]);
    }
    let original = partition.original();
    let mut obstacles: Vec<Obstacle> = stale_elr(partition, &original).into_iter().collect();
    let left = partition.in_sync.iter().filter(|node| original.contains(node)).count();
    if left < partition.min_isr.max(1) {
        let min_isr = partition.min_isr;
        obstacles.push(Obstacle::BelowMinIsr { partition: name(), replicas: left, min_isr });
    }
    obstacles.into()
}

/// Whether the min ISR of the topic with these partitions may change. Kafka then clears the ELR
/// of all of them, and a partition without a leader may have nothing else to elect one from.
pub fn may_change_min_isr<'a>(topic: impl IntoIterator<Item = &'a Partition>) -> Verdict {
    let without_leader = topic.into_iter().filter(|partition| partition.leader.is_none());
    let obstacles = without_leader.map(|it| Obstacle::NoLeader { partition: it.name() });
    obstacles.collect::<Vec<_>>().into()
}

fn stale_elr(partition: &Partition, replicas: &[i32]) -> Option<Obstacle> {
    let nodes = partition.elr_outside(replicas);
    (!nodes.is_empty()).then(|| Obstacle::StaleElr { partition: partition.name(), nodes })
}
