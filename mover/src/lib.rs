//! Plans how replicas move when a cluster grows, shrinks or is rebalanced.
//!
//! It is pure: no I/O, no clock, no memory.

mod cluster;
mod safety;

pub use cluster::{Broker, Cluster, Partition, PartitionName, Reassignment};
pub use safety::{Obstacle, Verdict, may_cancel, may_change_min_isr, may_reassign};
