//! Plans how replicas move when a cluster grows, shrinks or is rebalanced.
//!
//! It is pure: no I/O, no clock, no memory.

mod aim;
mod check;
mod cluster;
mod layout;
mod plan;
mod safety;

pub use aim::{Aim, FULL_REPLICATION, INTERNAL_TOPICS};
pub use check::{Refusal, Room, check};
pub use cluster::{Broker, Cluster, Partition, PartitionName, Reassignment};
pub use plan::{Hop, MinIsr, Move, MoveKind, MovePlan, NotRaised, Unplaced, plan};
pub use safety::{Obstacle, Verdict, may_cancel, may_change_min_isr, may_reassign};
