//! Client quotas: what users and client ids may use of each broker.

use super::admin::client_quotas::{AlterQuota, DescribeQuotas};
use super::{Cluster, Error, ProtocolAdmin};
use async_trait::async_trait;
use model::words;
use std::collections::BTreeMap;
use std::fmt;

#[async_trait]
pub trait Quotas {
    /// Those of users and client ids, by user and then by client id.
    async fn list_quotas(&self, cluster: &Cluster) -> Result<Vec<Quota>, Error>;

    /// Sets the limits that have a value and removes those that have none; the
    /// others stay.
    async fn alter_quota(
        &self,
        cluster: &Cluster,
        entity: &QuotaEntity,
        changes: &QuotaChange,
    ) -> Result<(), Error>;
}

#[derive(Clone, PartialEq, Debug)]
pub struct Quota {
    pub entity: QuotaEntity,
    pub limits: BTreeMap<QuotaKey, f64>,
}

pub type QuotaChange = BTreeMap<QuotaKey, Option<f64>>;

/// Who a quota is for: a user, a client id, or a user under a client id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct QuotaEntity {
    pub user: Option<Name>,
    pub client_id: Option<Name>,
}

/// One of them, or whoever has no quota of his own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Name {
    Default,
    Of(String),
}

/// How whoever has no quota of his own is called.
const DEFAULT: &str = "<default>";

impl From<&str> for Name {
    /// As it is displayed.
    fn from(text: &str) -> Self {
        if text == DEFAULT { Name::Default } else { Name::Of(text.to_owned()) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Default => f.write_str(DEFAULT),
            Name::Of(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for QuotaEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.user, &self.client_id) {
            (Some(user), None) => write!(f, "user {user}"),
            (None, Some(client)) => write!(f, "client id {client}"),
            (Some(user), Some(client)) => write!(f, "user {user} with client id {client}"),
            (None, None) => f.write_str("nobody"),
        }
    }
}

words! {
    /// What is limited, in Kafka's words.
    #[derive(PartialOrd, Ord)]
    pub enum QuotaKey {
        ProducerByteRate = "producer_byte_rate",
        ConsumerByteRate = "consumer_byte_rate",
        RequestPercentage = "request_percentage",
        ControllerMutationRate = "controller_mutation_rate",
    }
}

#[async_trait]
impl Quotas for ProtocolAdmin {
    async fn list_quotas(&self, cluster: &Cluster) -> Result<Vec<Quota>, Error> {
        self.ask(cluster, &DescribeQuotas).await
    }

    async fn alter_quota(
        &self,
        cluster: &Cluster,
        entity: &QuotaEntity,
        changes: &QuotaChange,
    ) -> Result<(), Error> {
        self.ask(cluster, &AlterQuota { entity, changes }).await
    }
}
