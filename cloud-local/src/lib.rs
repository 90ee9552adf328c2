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
mod leftovers;
mod limits;
mod places;
mod planes;
mod pool_isolation;
mod running;
mod servers;
mod strays;
mod uids;
mod vpcs;

pub use error::LocalError;
pub use leftovers::{
    NetworkPart, PastNetworks, Whose, clean_networks, network_parts, past_networks,
    remove_namespaces,
};
pub use netns::missing as missing_for_networks;
pub use places::{LocalPlaces, PrivatePlaces};
pub use planes::planes;
pub use pool_isolation::PoolIsolation;
pub use running::{Running, Stopped, kill_all, remove_groups, running, stop_all};

use agents::Agents;
use binary::AgentBinary;
use cloud::Disruption;
use fences::Fences;
use host::{Group, Groups};
use layout::Layout;
use model::ServerId;
use netns::Rule;
use std::borrow::Cow;
use std::net::SocketAddrV4;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use uids::Uids;
pub use vpcs::NetworkOptions;
use vpcs::Vpcs;
use wire::agent::HostSettings;
pub use wire::agent::SERVER_VARIABLE;

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
    /// Uids for instances, one each. Takes root. None: all share ours.
    pub uids: Option<RangeInclusive<u32>>,
    /// Namespaces for networks made from now on. Takes root. None: servers are at addresses
    /// of the host itself.
    pub network: Option<NetworkOptions>,
}

#[derive(Debug)]
pub struct LocalCloud {
    layout: Layout,
    binary: AgentBinary,
    options: Options,
    agents: Agents,
    fences: Fences,
    uids: Option<Uids>,
    groups: Groups,
    vpcs: Option<Arc<Vpcs>>,
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
            if opening.uids.is_some() {
                layout.open_passages()?;
            }
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
            let network = opening.network.as_ref();
            let vpcs = network.map(|options| Vpcs::open(&layout, options)).transpose()?;
            Ok::<_, LocalError>((layout, fences, binary, vpcs.map(Arc::new)))
        });
        let (layout, fences, binary, vpcs) =
            opened.await.map_err(|_| LocalError::Interrupted)??;
        if let Some(vpcs) = &vpcs {
            tokio::spawn(Vpcs::keep(Arc::downgrade(vpcs)));
        }
        let groups = Groups::find();
        let (agents, serial) = (Agents::new(), <_>::default());
        let uids = options.uids.clone().map(|range| Uids::new(&layout, range));
        Ok(Self { layout, binary, options, agents, fences, uids, groups, vpcs, serial })
    }

    /// What of a server's plan can't be held to on this host, for people.
    pub fn unlimited(&self) -> Option<String> {
        self.groups.missing()
    }

    /// Where agents in namespaces call the control plane, which has to listen there.
    pub fn called_at(&self) -> Option<SocketAddrV4> {
        self.vpcs.as_ref().map(|vpcs| vpcs.control_plane())
    }

    /// Who may connect to a server besides its own instance, in place of all that might before.
    /// False if nothing stands between it and this host's neighbours.
    async fn open_to(&self, server: ServerId, openings: Vec<Rule>) -> Result<bool, LocalError> {
        let Some(vpcs) = &self.vpcs else { return Ok(false) };
        vpcs::blocking(vpcs, move |vpcs| vpcs.open_to(server, &openings)).await
    }

    /// Whether a server lives in a namespace.
    fn is_seated(&self, server: ServerId) -> Result<bool, LocalError> {
        let is_seated = vpcs::all(&self.layout)?.values().any(|vpc| vpc.has(server));
        if is_seated && self.vpcs.is_none() {
            return Err(LocalError::NetworkOff(server));
        }
        Ok(is_seated)
    }

    /// What a server is told of the control plane, in a namespace or outside.
    fn options_in(&self, namespace: bool) -> Cow<'_, Options> {
        match self.vpcs.as_ref().filter(|_| namespace) {
            Some(vpcs) => {
                let control_plane = format!("https://{}", vpcs.control_plane());
                Cow::Owned(Options { control_plane, ..self.options.clone() })
            }
            None => Cow::Borrowed(&self.options),
        }
    }

    /// After a start of the control plane: every agent is told its address,
    /// watched again and brought to this release. What a tenant has done to one server
    /// keeps no other from that. Returns the servers whose
    /// agent does not run; starting it is the caller's decision, because only
    /// the caller knows which servers should be.
    pub async fn resume(&self) -> Result<Vec<Disruption>, LocalError> {
        let _serial = self.serial.lock().await;
        let mut down = Vec::new();
        for (id, directory) in self.layout.servers()? {
            let Some(record) = servers::Record::load(&directory) else { continue };
            let told = self.uid(record.instance_id).and_then(|uid| {
                let options = self.options_in(self.is_seated(id)?);
                servers::refresh_start(&directory, &record, &options, uid)
            });
            if let Err(error) = told {
                tracing::warn!(server = %id, %error, "an agent is not told where we are");
            }
            if let Some(group) = limits::load(&self.layout, id).filter(Group::is_there) {
                limits::enter(&group, id, &servers::processes(&directory));
            }
            match servers::live_agent(&directory) {
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
