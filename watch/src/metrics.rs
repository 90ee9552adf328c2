//! What servers measured: taken from agents, kept as history, read back.
//!
//! The open windows of all servers are in memory; once their time is over they
//! are written, merged with what is there. What a crash takes from memory, agents
//! send again. A history that can't be written or read fails nothing else: readers get
//! what is in memory.

mod early;
mod flush;
mod groups;
mod hub;
mod sampled;
mod share;
mod take;
mod windows;

pub use early::{SETTLE, is_heard_by_any};
pub use flush::{flush, flush_everything};
pub use groups::lag::{Lag, Lags};
pub use groups::sample_groups;
pub(crate) use hub::Metrics;
pub use hub::{AHEAD, LatestSamples, News, Taken};
pub use sampled::{Heard, Sampled, first_sampled, heard, heard_instances};
pub use take::take;
pub(crate) use windows::minutes;
pub use windows::windows;

use crate::Context;
use model::{ServerId, SignedDuration};
use series::Sample;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;

/// The last samples that this process took of a server, however old they are.
pub fn latest(context: &Context, server: ServerId) -> LatestSamples {
    context.metrics().servers().get(&server).map(|held| held.latest.clone()).unwrap_or_default()
}

/// The last sample of a server, and how long ago its agent last sent any: the clocks of
/// agents may be wrong.
pub(crate) fn last_heard(
    context: &Context,
    server: ServerId,
) -> Option<(Arc<Sample>, SignedDuration)> {
    let servers = context.metrics().servers();
    let held = servers.get(&server)?;
    Some((held.latest.server.clone()?, context.elapsed() - held.heard_at?))
}

/// Every sample taken from now on, each once, the late ones too, and every look at
/// groups. A receiver that lags behind gets an error that says so.
pub fn subscribe(context: &Context) -> Receiver<News> {
    context.metrics().subscribe()
}
