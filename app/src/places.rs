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

/// Why a new instance can't be promised.
#[derive(Debug, thiserror::Error)]
pub enum NoRoom {
    /// A sentence for the customer, with the numbers.
    #[error("{0}")]
    Refused(String),
    /// Nobody knows whether there is room.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<NoRoom> for Error {
    fn from(why: NoRoom) -> Self {
        match why {
            NoRoom::Refused(sentence) => Error::Refused(sentence),
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
    /// addresses. An error is a sentence for the customer.
    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        plan: &Plan,
    ) -> Result<Vec<Placement>, String>;

    /// Networks that the hosts themselves use, which no customer's network
    /// may overlap.
    fn host_networks(&self) -> Vec<Ipv4Net>;
}
