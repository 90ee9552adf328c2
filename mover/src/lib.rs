//! Plans how replicas move when a cluster grows, shrinks or is rebalanced.
//!
//! It is pure: no I/O, no clock, no memory. [`check`] refuses what can't be reached, [`plan`]
//! says where every partition is to be, and [`next_batch`] what to do next, each from the
//! cluster as it is now. So a crash goes on where it was, and a topic that is made or deleted
//! in the middle is part of the next plan or not.
//!
//! Every change of replicas passes [`may_reassign`], every cancel [`may_cancel`].

mod aim;
mod batch;
mod check;
mod cluster;
mod layout;
mod next;
mod plan;
mod progress;
mod safety;
mod throttle;

pub use aim::{Aim, FULL_REPLICATION, INTERNAL_TOPICS};
pub use batch::{Limits, elections};
pub use check::{Refusal, Room, check};
pub use cluster::{Broker, Cluster, Partition, PartitionName, Reassignment};
pub use next::{Next, Reason, StaleElr, next_batch, next_of_plan};
pub use plan::{Hop, MinIsr, Move, MoveKind, MovePlan, NotRaised, Unplaced, plan};
pub use progress::Progress;
pub use safety::{Obstacle, Verdict, may_cancel, may_change_min_isr, may_reassign};
pub use throttle::{Observed, Throttle};
