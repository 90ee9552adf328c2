//! Where servers may listen: asked of the region's cloud, without knowing it.

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

/// Where the servers of a new instance may listen; implemented by the
/// composition root from the region's cloud.
#[async_trait]
pub trait Places: Send + Sync {
    /// A place for each server of the `plan`, none of them among the `taken`
    /// addresses, if there is room for them all. An error is a sentence for
    /// the customer.
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
