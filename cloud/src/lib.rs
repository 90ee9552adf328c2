//! A cloud makes networks, disks and servers, and knows nothing of Kafka.
//!
//! Every call is idempotent, returns at once, and names things by our ids. A
//! call that is repeated after a crash finds what the first one made, and one
//! that comes too late, because its caller slept while another took over, does
//! nothing.

mod clouds;
pub mod conformance;
mod fence;
mod places;
mod simulated;

pub use clouds::{Clouds, UnservedRegion};
pub use fence::{Epoch, Kind, Mark, Owner, Refusal};
pub use places::{Addresses, Neighbourhood, NoPlace, Place, Places};
pub use simulated::{Call, Effect, Fault, SimulatedCloud};

use async_trait::async_trait;
use model::{DiskId, InstanceId, Opening, Secret, ServerId, VpcId};
use std::time::Duration;
use tokio::sync::broadcast;

/// The network an instance's servers share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkSpec {
    pub vpc_id: VpcId,
    pub subnet: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskSpec {
    pub id: DiskId,
    pub instance_id: InstanceId,
    pub server_id: ServerId,
    pub size_gb: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerSpec {
    pub id: ServerId,
    /// Counts the identities of its agent. A higher one than before hands the agent that
    /// runs its new token; nothing is ended or started anew.
    pub incarnation: i64,
    pub instance_id: InstanceId,
    pub vpc_id: VpcId,
    pub disk_id: DiskId,
    pub cores: u32,
    pub memory_mb: u32,
    /// The addresses on record. A cloud that gives a server its addresses does not look at
    /// them.
    pub addresses: Addresses,
    /// For the agent's enrolment. None keeps the one that this incarnation was
    /// given before: an agent that has not used it yet still needs it.
    pub token: Option<Secret>,
}

/// What became of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    Ready(T),
    /// Not yet; ask again after that long.
    Pending {
        reason: String,
        after: Duration,
    },
    Failed {
        reason: String,
        remedy: Remedy,
        /// Set if the mark of the instance's owners does not admit the caller.
        refusal: Option<Refusal>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// The same call may succeed later.
    Retry,
    /// It won't without a person.
    GiveUp,
}

impl<T> Outcome<T> {
    pub fn retry(reason: impl Into<String>) -> Self {
        Outcome::Failed { reason: reason.into(), remedy: Remedy::Retry, refusal: None }
    }

    pub fn give_up(reason: impl Into<String>) -> Self {
        Outcome::Failed { reason: reason.into(), remedy: Remedy::GiveUp, refusal: None }
    }

    /// Gives up because the mark of the instance's owners does not admit the caller.
    pub fn refused(refusal: Refusal) -> Self {
        let reason = refusal.to_string();
        Outcome::Failed { reason, remedy: Remedy::GiveUp, refusal: Some(refusal) }
    }
}

/// How a server's agent was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// It runs since before the call.
    Running,
    /// This call has started it: what it said before is no longer true.
    Started,
}

/// A server that is there, as the cloud finds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedServer {
    pub agent: Agent,
    /// The same for as long as the server exists.
    pub addresses: Addresses,
}

/// Something happened to a server that we did not ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disruption {
    pub instance_id: InstanceId,
    pub server_id: ServerId,
}

/// What becomes of the rules that a server is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Enforcement {
    /// They are in effect.
    Enforced,
    /// Nothing stands between this server and its neighbours that could hold anybody off.
    NotEnforced,
}

/// Everything a cloud holds under our ids, for the search for orphans.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inventory {
    pub networks: Vec<VpcId>,
    pub disks: Vec<DiskId>,
    pub servers: Vec<ServerId>,
}

/// Effects name the owner of the instance that they are for. Once a cloud has
/// seen an epoch it refuses all lower ones of that instance, by [`Mark::admit`]:
/// nothing of them happens after that, also if a call of theirs was under way.
#[async_trait]
pub trait Cloud: Send + Sync {
    /// Has no effect but that of every call: from here on, whatever earlier
    /// owners of the instance still have in mind is refused.
    async fn take_over(&self, by: &Owner) -> Outcome<()>;
    async fn ensure_network(&self, by: &Owner, network: &NetworkSpec) -> Outcome<()>;
    /// Makes the disk, or makes it as large as it shall be while it is in use: no server is
    /// stopped for that. It never becomes smaller.
    async fn ensure_disk(&self, by: &Owner, disk: &DiskSpec) -> Outcome<()>;
    /// Makes the server and has its agent running. Said again for a server
    /// whose agent died, it starts the agent anew. A disk that is missing is the
    /// agent's to tell of, and is not made anew.
    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<ObservedServer>;
    /// Ends everything that runs there, at once. The disk stays.
    async fn remove_server(&self, by: &Owner, server: ServerId) -> Outcome<()>;
    async fn remove_disk(&self, by: &Owner, disk: DiskId) -> Outcome<()>;
    /// Lets others reach the listeners of a server through these openings and through no
    /// other, in place of all that were before; brokers go on, and connections that came
    /// through one that is gone end. Where servers of an instance, agents and the control
    /// plane reach each other is not touched. A server that is not there is not made: that
    /// call may be repeated.
    ///
    /// Where openings are enforced, a server that was given none yet is open to its own network
    /// alone: one that joins an instance with strict rules must not be open for a moment.
    ///
    /// Has no owner: it is repeated every few seconds for as long as the server lives, so one
    /// that comes too late is soon put right.
    async fn apply_firewall(&self, server: ServerId, openings: &[Opening]) -> Outcome<Enforcement>;
    /// Has no owner: nobody can join a network that is to be removed, so the
    /// removal never comes too late.
    async fn remove_network(&self, network: VpcId) -> Outcome<()>;
    /// The instance is gone for good, and all that was made for it. The cloud
    /// remembers that for as long as anybody may come too late.
    async fn retire(&self, by: &Owner) -> Outcome<()>;
    async fn inventory(&self) -> Outcome<Inventory>;
    /// Disruptions from now on.
    fn events(&self) -> broadcast::Receiver<Disruption>;
}
