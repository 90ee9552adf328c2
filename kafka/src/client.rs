//! The client of Kafka's protocol: one connection, the calls an operator
//! makes, and the seam a simulation stands behind.
//!
//! The codec is `kafka-protocol`'s; connections, negotiation and the choice of
//! a broker are here. Clusters are reached through their internal listener with
//! our certificate, or through the customers' listener with a password. To add
//! a call, write one file in `admin/` with a type that implements [`Call`].

pub mod admin;
mod ask;
mod batch;
mod broker;
mod checked_lengths;
mod connection;
mod dial;
mod error;
#[cfg(test)]
mod fake;
mod frame;
pub mod groups;
pub mod messages;
mod placement;
mod pool;
mod protocol;
pub mod quotas;
#[cfg(test)]
mod request_snapshots;
mod route;
#[cfg(test)]
mod routing_tests;
pub mod sasl;
mod setting;
pub mod settings;
pub mod tls;
mod topics;
mod users;
mod versions;
mod voters;

pub use crate::Endpoint;
pub use crate::placement::{
    OwnWords, PlacedBroker, PlacedPartition, PlacedTopic, PlacementView, UnderWay,
};
pub use crate::quorum::{Quorum, Replica};
pub use admin::acls::{Acl, Operation, PatternType, Permission, ResourceType};
pub use admin::cluster::{BrokerView, ClusterView};
pub use admin::configs::Changes;
pub use admin::copy::{Contents, Copied, CopiedRecord};
pub use admin::elections::Elected;
pub use admin::list_offsets::At;
pub use admin::log_dirs::{LogDir, LogReplica};
pub use admin::replication::TopicReplication;
pub use admin::topics::{Created, NewTopic, PartitionView};
pub use ask::{Call, graver, none_answered};
pub use broker::{Broker, BrokerKey};
pub use connection::{CLIENT_ID, Connection, Limits};
pub use dial::{Dial, DirectDial, Stream, connect_tcp};
pub use error::{Error, Remedy, made};
pub use groups::Groups;
pub use messages::Messages;
pub use placement::{Altered, Assignment, Placement, Reassignment};
pub use protocol::ProtocolAdmin;
pub use quotas::Quotas;
pub use route::TopicPartition;
pub use sasl::Mechanism;
pub use setting::{Setting, SettingKind};
pub use settings::{ChangedSettings, Settings, SettingsOf};
pub use tls::Identity;
pub use topics::{Topic, TopicChange, Topics};
pub use users::Users;
pub use voters::{NewVoter, Voters, parse_directory};

use async_trait::async_trait;
use model::{InstanceId, Secret};

/// A cluster's internal listener, and who we are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    pub instance: InstanceId,
    pub brokers: Vec<Broker>,
    pub trust_pem: String,
    pub identity: Identity,
}

impl Cluster {
    /// The same cluster, through this broker alone.
    #[must_use]
    pub fn through(&self, broker: &Broker) -> Self {
        Self { brokers: vec![broker.clone()], ..self.clone() }
    }

    /// The same, with the broker beside the active controller first: it hears of changes first.
    #[must_use]
    pub fn nearest(&self, controller: Option<i32>) -> Self {
        let mut near = self.clone();
        near.brokers.sort_by_key(|broker| Some(broker.node_id) != controller);
        near
    }
}

/// A user at the SASL listener.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Login {
    pub instance: InstanceId,
    pub brokers: Vec<Broker>,
    pub trust_pem: String,
    pub username: String,
    pub password: Secret,
    pub mechanism: Mechanism,
}

/// What is asked of a running cluster: here what the engine asks, beside it
/// what people do, by noun. Every call is safe to repeat.
#[async_trait]
pub trait Admin: Send + Sync {
    fn topics(&self) -> &dyn Topics;

    fn users(&self) -> &dyn Users;

    fn settings(&self) -> &dyn Settings;

    fn groups(&self) -> &dyn Groups;

    fn quotas(&self) -> &dyn Quotas;

    fn messages(&self) -> &dyn Messages;

    fn placement(&self) -> &dyn Placement;

    fn voters(&self) -> &dyn Voters;

    /// Makes a user, or changes its password, for every [`Mechanism`]. On
    /// return the broker that was asked knows the user; the others, and a
    /// changed password, follow within moments.
    async fn set_scram_user(
        &self,
        cluster: &Cluster,
        user: &str,
        password: &Secret,
    ) -> Result<(), Error> {
        self.set_scram_users(cluster, &[(user, password)]).await
    }

    /// The same for several users, each of whom is named once: brokers hear of all of them at
    /// once, mechanism by mechanism in the order of [`Mechanism::ALL`].
    async fn set_scram_users(
        &self,
        cluster: &Cluster,
        users: &[(&str, &Secret)],
    ) -> Result<(), Error>;

    /// Adds ACLs that are not there yet. On return the broker that was asked
    /// enforces them.
    async fn add_acls(&self, cluster: &Cluster, acls: &[Acl]) -> Result<(), Error>;

    /// Removes a user with its passwords, if it is there.
    async fn remove_scram_user(&self, cluster: &Cluster, user: &str) -> Result<(), Error>;

    /// The mechanisms a user can log in with; none if there is no such user.
    async fn describe_scram_user(
        &self,
        cluster: &Cluster,
        user: &str,
    ) -> Result<Vec<Mechanism>, Error>;

    /// The ACLs of a principal.
    async fn describe_acls(&self, cluster: &Cluster, principal: &str) -> Result<Vec<Acl>, Error>;

    /// Removes every ACL of a principal.
    async fn remove_acls(&self, cluster: &Cluster, principal: &str) -> Result<(), Error>;

    /// Makes a topic, if there is none of that name. If it was made, the broker
    /// that was asked knows a leader of each partition on return.
    async fn create_topic(&self, cluster: &Cluster, topic: &NewTopic) -> Result<Created, Error>;

    async fn describe_cluster(&self, cluster: &Cluster) -> Result<ClusterView, Error>;

    /// The controllers' quorum, as its leader sees it.
    async fn describe_quorum(&self, cluster: &Cluster) -> Result<Quorum, Error>;

    /// Every partition of every topic, the internal ones too: where it is, who
    /// leads it, which copies are in sync and how many must be. It is what one
    /// broker has in its memory, which may be a moment old.
    async fn describe_replication(&self, cluster: &Cluster)
    -> Result<Vec<TopicReplication>, Error>;

    /// What is on the disks of the first broker that answers: name one.
    async fn describe_log_dirs(&self, cluster: &Cluster) -> Result<Vec<LogDir>, Error>;

    /// Has these partitions led by their first replicas, as far as those are in sync.
    async fn elect_preferred_leaders(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
    ) -> Result<Elected, Error>;

    /// Logs in as a customer would. [`Error::WrongPassword`] may also mean
    /// that the broker has not heard of a new user or password yet.
    async fn check_login(&self, login: &Login) -> Result<(), Error>;
}
