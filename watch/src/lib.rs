//! What servers measure, and the alarms that watch it.
//!
//! [`metrics`] takes samples from agents, keeps the latest in memory and writes closed
//! windows to the history. [`alarms`] compares each sample with the alarms of its instance,
//! and writes what recipients are sent into the outbox. Nothing here checks who asks: use
//! cases do that before they call. Nothing here sends a message: the outbox is drained
//! elsewhere.

pub mod alarms;
pub mod metrics;

mod context;
mod error;

pub use context::Context;
pub use error::{Error, Result};
