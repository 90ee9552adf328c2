//! The local cloud: one host, servers as processes, disks as directories.
//!
//! It knows nothing of Kafka: a server is an agent process and whatever that
//! agent records under `run/`. It signals only processes whose identity is on
//! record, and removes only directories that carry its marker. Agents outlive
//! the control plane, so everything it knows is on disk and found again.

pub mod addresses;
mod agents;
mod binary;
mod cloud_impl;
mod disks;
mod error;
mod fences;
pub mod holdings;
mod kept_logs;
mod layout;
mod planes;
mod running;
mod servers;

pub use error::LocalError;
pub use planes::planes;
pub use running::{Running, Stopped, kill_all, running, stop_all};

use agents::Agents;
use binary::AgentBinary;
use cloud::Disruption;
use fences::Fences;
use layout::Layout;
use std::path::PathBuf;
use wire::agent::HostSettings;

/// The variable every process of a server has in its environment, with the
/// server's directory: it finds those that a crash left unrecorded.
pub const SERVER_VARIABLE: &str = "CASTELLAN_SERVER";

/// What the local cloud is opened with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where this host's servers and disks are; made if it is missing.
    pub data_dir: PathBuf,
    /// The program whose copy agents run: `std::env::current_exe()`.
    pub binary: PathBuf,
    /// `https://host:port` of the agent listener.
    pub control_plane: String,
    /// PEM of the fleet CA.
    pub fleet_ca: String,
    pub host: HostSettings,
}

#[derive(Debug)]
pub struct LocalCloud {
    layout: Layout,
    binary: AgentBinary,
    options: Options,
    agents: Agents,
    fences: Fences,
    /// Making and removing servers happens one at a time: both are short.
    serial: tokio::sync::Mutex<()>,
}

impl LocalCloud {
    /// Makes the directories and this release's copy of the binary, and clears
    /// what a crash left half removed and old releases left behind, unless
    /// another control plane may be at work there. Needs a tokio runtime.
    pub async fn open(options: Options) -> Result<Self, LocalError> {
        let opening = options.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let layout = Layout::make(&opening.data_dir)?;
            planes::register(&layout)?;
            let fences = Fences::open(&layout)?;
            let binary = AgentBinary::install(&layout, &opening.binary)?;
            if planes::others(&layout).is_empty() {
                layout.clear_leftovers()?;
                let running = running::of_layout(&layout)?.into_iter();
                let users =
                    running.flat_map(|server| server.agent.into_iter().chain(server.brokers));
                binary.remove_others(&layout, &users.collect::<Vec<_>>());
            }
            Ok::<_, LocalError>((layout, fences, binary))
        });
        let (layout, fences, binary) = opened.await.map_err(|_| LocalError::Interrupted)??;
        let (agents, serial) = (Agents::new(), <_>::default());
        Ok(Self { layout, binary, options, agents, fences, serial })
    }

    /// After a start of the control plane: every agent is told its address,
    /// watched again and brought to this release. Returns the servers whose
    /// agent does not run; starting it is the caller's decision, because only
    /// the caller knows which servers should be.
    pub async fn resume(&self) -> Result<Vec<Disruption>, LocalError> {
        let _serial = self.serial.lock().await;
        let mut down = Vec::new();
        for (id, directory) in self.layout.servers()? {
            let Some(record) = servers::Record::load(&directory) else { continue };
            servers::refresh_start(&directory, &self.options)?;
            match servers::live_agent(&directory)? {
                Some(agent) => {
                    self.agents.upgrade(id, &agent, &self.binary);
                    self.agents.watch(id, record.instance_id, agent);
                }
                None => down.push(Disruption { instance_id: record.instance_id, server_id: id }),
            }
        }
        Ok(down)
    }
}
