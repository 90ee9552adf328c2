//! JVMs of this host that are warmed up and wait for a server: for brokers that are started
//! for the first time and, where instances share a uid, for those that died.
//!
//! The control plane keeps them (`keep.rs`) and hands the input of one to an agent that asks.
//! From then on it is the agent's own ([`Successor`]). A JVM ends when no process has its
//! input any more, unless it was ordered: so it has one owner at every moment, and the death
//! of control plane or agent leaves none behind. Where instances have uids, the JVMs run as
//! one that no instance has; the next instance gets it (`stock.rs` ends what that leaves).

mod keep;
mod stock;
#[cfg(test)]
mod tests;

pub use keep::{Pool, PoolHost, Shape, Status, Wanted, end_leftovers, status};

use crate::launcher::Launch;
use crate::place::Place;
use crate::successor::Successor;
use host::{Input, ProcessId};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;

/// A cold start costs more, and not much more.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is handed over, besides its input.
#[derive(Serialize, Deserialize)]
struct Offer {
    process: ProcessId,
    /// The file that it prints to.
    output: PathBuf,
}

/// One that is what `launch` would be, if the pool has one for this user. It is never a reason
/// not to start.
pub(crate) async fn take(place: &Place, launch: &Launch) -> Option<Successor> {
    let question = serde_json::to_string(launch).expect("plain data serialises");
    let asked = timeout(PATIENCE, host::ask(&place.pool(), &question)).await;
    let received = asked.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())).and_then(|given| {
        given.map(|(words, input)| receive(place, launch, &words, input)).transpose()
    });
    match received {
        Ok(successor) => successor,
        Err(error) if has_none(error.kind()) => None,
        Err(error) => {
            tracing::warn!(%error, "the host's pool has no warm JVM for this broker");
            None
        }
    }
}

/// There is no pool, no control plane keeps it, or it has none for this user: then it ends the
/// connection, maybe before the question has come.
fn has_none(error: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    matches!(error, NotFound | ConnectionRefused | BrokenPipe | ConnectionReset)
}

fn receive(place: &Place, launch: &Launch, words: &str, input: Input) -> io::Result<Successor> {
    let Offer { process, output } = serde_json::from_str(words)?;
    Successor::received(place, launch.clone(), process, input, &output)
}
