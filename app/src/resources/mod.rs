//! What people do with a running cluster: topics, users, rights, groups.
//!
//! Kafka is the truth, and nothing of it is copied into the store but what Kafka
//! can't hold. These are the only use cases that touch a cluster before they
//! answer, so each has a deadline, and a change is in the audit log before it is
//! tried and once more with its outcome: whatever dies in between is told.

mod ask;
mod behind;
mod change;
mod demand;
mod in_order;
mod own;
mod repeat;
mod unanswered;

pub(crate) use ask::Cluster;
pub(crate) use behind::Behind;
pub(crate) use change::change;
pub(crate) use demand::demand_may_change;
pub(crate) use in_order::in_order;
pub(crate) use own::{is_own, is_own_group};
pub(crate) use unanswered::unknown;
