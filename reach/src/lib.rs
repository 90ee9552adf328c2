//! The way from the control plane into the clusters it runs: where brokers
//! listen, whom to trust there, and who we are.
//!
//! Engine and use cases share it. Nothing else may assume a route into a
//! customer's network.

mod dial;
mod identity;
mod leave;
mod look;
mod placement;

pub use dial::RowDial;
pub use placement::{Ours, Placement, for_mover};

use identity::Identities;
use kafka::client::{Admin, Broker, Cluster};
use model::{CertificateLife, Clock, Entropy, InstanceId, Server};
use pki::Authority;
use std::sync::Arc;
use store::{AuthorityKind, Store, authorities};

/// Why a cluster can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Pki(#[from] pki::Error),
    #[error("the instance has no {0} authority")]
    NoAuthority(&'static str),
    #[error(transparent)]
    Kafka(#[from] kafka::client::Error),
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Reach {
    store: Store,
    admin: Arc<dyn Admin>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    identities: Arc<Identities>,
    certificate_life: CertificateLife,
}

impl Reach {
    pub fn new(
        store: Store,
        admin: Arc<dyn Admin>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let certificate_life = CertificateLife::default();
        Self { store, admin, clock, entropy, identities: Arc::default(), certificate_life }
    }

    /// With identities that live no longer than this. To be called before the first is made.
    #[must_use]
    pub fn with_certificate_life(self, certificate_life: CertificateLife) -> Self {
        Self { certificate_life, ..self }
    }

    pub fn admin(&self) -> &dyn Admin {
        &*self.admin
    }

    /// The internal listeners of an instance's servers.
    pub async fn cluster(&self, id: InstanceId, servers: &[Server]) -> Result<Cluster, Error> {
        let kind = AuthorityKind::Internal;
        let trust = authorities::certificate(&mut self.store.reader(), id, kind).await?;
        Ok(Cluster {
            instance: id,
            brokers: servers.iter().map(Broker::internal).collect(),
            trust_pem: trust.ok_or(Error::NoAuthority(kind.as_str()))?,
            identity: self.identity(id).await?,
        })
    }

    pub async fn authority(&self, id: InstanceId, kind: AuthorityKind) -> Result<Authority, Error> {
        let found = authorities::find(&mut self.store.reader(), id, kind).await?;
        let (certificate, key) = found.ok_or(Error::NoAuthority(kind.as_str()))?;
        Ok(Authority { certificate, key })
    }
}
