//! Where servers may be, asked of their cloud before anything is made.
//!
//! Who chooses addresses is the cloud's matter. One that can choose them beforehand proposes
//! them here, and they are saved with the server's row; whatever a server has in the end is
//! what [`crate::Cloud::ensure_server`] observes.

use async_trait::async_trait;
use ipnet::Ipv4Net;
use model::{HostId, Listeners, Region, VpcId};

/// Where a server is reached, as its cloud knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// An address, never a name.
    pub private_ip: String,
    pub listeners: Listeners,
}

/// A place for one server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub host_id: HostId,
    pub zone: String,
    pub addresses: Addresses,
}

/// A network that new servers are to be in.
#[derive(Clone, Copy, Debug)]
pub struct Neighbourhood<'a> {
    pub vpc: VpcId,
    pub subnet: Ipv4Net,
    /// The addresses of servers that are in it.
    pub taken: &'a [String],
}

/// Why there is no place, for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoPlace(pub String);

/// What a cloud says without a server of it being there.
#[async_trait]
pub trait Places: Send + Sync {
    /// A place for each of `count` new servers, none of them at an address that is `taken`.
    /// Nothing is reserved: whoever asks writes the places down before the next one asks.
    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        count: usize,
    ) -> Result<Vec<Place>, NoPlace>;

    /// The same places in a network, which is chosen after them: where a cloud gives servers
    /// addresses of their network, these are told now.
    fn settle(&self, network: Neighbourhood<'_>, places: Vec<Place>) -> Vec<Place>;

    /// Networks that the cloud's hosts themselves use, which no customer's network
    /// may overlap.
    fn host_networks(&self) -> Vec<Ipv4Net>;
}
