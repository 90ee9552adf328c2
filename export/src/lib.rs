//! Metrics of instances to where their owners look at them: every minute the control plane
//! sends what the servers of each instance measured to its metrics integrations.
//!
//! The control plane does that and no agent. Keys of other people's systems stay off the
//! hosts that run customers' brokers, an integration is one caller however many servers there
//! are, and what could not be sent for hours is in the history, which an agent has not.
//!
//! Turns are rows of the store. A control plane takes one for the time of a lease, sends
//! without a transaction open, and then writes up to what minute metrics have been sent. So
//! whatever dies in between, no minute is skipped, and the points of one turn at most are
//! sent twice. Of several control planes the one that hears the instance's agents goes first:
//! it has the newest samples in memory.
//!
//! Nothing here knows how a system is called: that is behind [`SendPoints`].

mod counters;
mod exporter;
mod gather;
mod minutes;
mod parts;
mod places;
mod point;
mod schedule;
mod settled;
mod slow;
mod turn;
mod under_way;

pub use exporter::Exporter;

use async_trait::async_trait;
use model::{Integration, Timestamp};
use ship::{Instance, Outcome, Point};
use std::time::Duration;

/// Calls the systems that metrics are sent to.
#[async_trait]
pub trait SendPoints: Send + Sync {
    /// Sends points, which come in the order of their minutes, as many as it can within this
    /// patience. A call that does not end by then is dropped, and nothing of it counts.
    async fn send(
        &self,
        integration: &Integration,
        instance: &Instance,
        points: &[Point],
        now: Timestamp,
        patience: Duration,
    ) -> Outcome;
}
