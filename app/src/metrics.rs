//! What servers measured, for those who may read it, and from the agents that measured it.
//!
//! Samples are kept by [`watch::metrics`]; here is who may send and read them.

mod latest;
mod read;

pub use latest::{Latest, latest};
pub use read::{Found, ReadFields, ServerValues, Values, read};
pub use series::{Measure, Sample};
pub use watch::metrics::Taken;

use crate::agents::Agent;
use crate::{App, Result};

/// Takes samples of the agent's own server.
pub async fn take(agent: &Agent, app: &App, samples: Vec<Sample>) -> Result<Taken> {
    let (instance, server) = (agent.instance_id(), agent.server_id());
    Ok(watch::metrics::take(app.watch(), instance, server, samples).await?)
}
