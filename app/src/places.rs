//! Where servers may listen: asked of the region's cloud, without knowing it.

use crate::Error;
use async_trait::async_trait;
use ipnet::Ipv4Net;
use model::{HostId, Listeners, Plan, Region};

/// A place for one server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    pub host_id: HostId,
    pub zone: String,
    pub private_ip: String,
    pub listeners: Listeners,
}

/// What a customer is answered where a region can't take an instance. The reason tells of
/// the host and of other customers, so it is for the operator's log alone.
const NO_ROOM: &str = "This region has no room for that plan now; choose a smaller plan or disk, \
                       delete an instance, or ask the operator";

/// Why a new instance can't be promised.
#[derive(Debug, thiserror::Error)]
pub enum NoRoom {
    /// A sentence for the operator, with the numbers.
    #[error("{0}")]
    Refused(String),
    /// Nobody knows whether there is room.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<NoRoom> for Error {
    fn from(why: NoRoom) -> Self {
        match why {
            NoRoom::Refused(reason) => {
                tracing::warn!(reason, "a region has no room for a new instance");
                Error::Refused(NO_ROOM.into())
            }
            NoRoom::Store(error) => error.into(),
        }
    }
}

/// Where the servers of a new instance may listen; implemented by the
/// composition root from the region's cloud.
#[async_trait]
pub trait Places: Send + Sync {
    /// Fails unless there is room for all servers of the `plan`, each with a disk of
    /// so many gigabytes.
    async fn check_room(&self, _plan: &Plan, _disk_gb: u32) -> Result<(), NoRoom> {
        Ok(())
    }

    /// A place for each server of the `plan`, none of them among the `taken`
    /// addresses.
    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        plan: &Plan,
    ) -> Result<Vec<Placement>, NoRoom>;

    /// Networks that the hosts themselves use, which no customer's network
    /// may overlap.
    fn host_networks(&self) -> Vec<Ipv4Net>;
}
