//! What stands between supervision and Java: how the broker is started.
//!
//! The supervisor starts whatever it is given here, so that its tests run a
//! shell script in place of a JVM.

use crate::disk::Needed;
use crate::successor::Successor;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wire::agent::{Desired, DesiredBroker, Format};

/// A program and its arguments, to be run in the server's directory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

#[async_trait]
pub trait Launcher: Send + Sync {
    /// Has everything on this host that a start needs. May take minutes the
    /// first time; `progress` hears what it does. An error is a sentence.
    async fn prepare(
        &self,
        broker: &DesiredBroker,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Launch, String>;

    /// What must be free on the disk.
    fn room_to_start(&self) -> Needed;

    /// Whether the next JVM may be warmed up while the broker runs; false where the host is
    /// set to do without. An error is a sentence.
    fn may_warm(&self) -> Result<bool, String>;

    /// Whether a warm JVM waits beside every broker that has run well, to be the next.
    fn keeps_standby(&self) -> bool;

    /// Whether the host has the memory for two JVMs.
    fn check_memory(&self) -> Result<(), String>;

    /// Prepares a rehearsal, and names the command of a JVM that is warmed up by it. Ordered
    /// to start, it is what `launch` would be.
    fn rehearse(&self, broker: &DesiredBroker, launch: &Launch) -> Result<Launch, String>;

    /// A JVM of the host's pool that is what `launch` would be, if it has one.
    async fn take_from_pool(&self, launch: &Launch) -> Option<Successor>;

    /// The text of `format.args`, with which the broker formats its disk
    /// before it starts.
    fn format_arguments(&self, desired: &Desired, format: &Format) -> String;
}
