//! The real [`Admin`]: Kafka's protocol over TLS.

use super::admin::acls::{AddAcls, DescribeAcls, RemoveAcls};
use super::admin::cluster::DescribeCluster;
use super::admin::elections::ElectPreferredLeaders;
use super::admin::log_dirs::DescribeLogDirs;
use super::admin::quorum::DescribeQuorum;
use super::admin::replication::DescribeReplication;
use super::admin::scram::{DescribeUser, RemoveUser, SetUsers};
use super::admin::topics::{CreateTopic, DescribeTopics};
use super::ask::Brokers;
use super::pool::Pool;
use super::{
    Acl, Admin, Call, Cluster, ClusterView, Connection, Created, Dial, Elected, Error, Groups,
    Limits, LogDir, Login, Mechanism, Messages, NewTopic, Placement, Quorum, Quotas, Settings,
    TopicPartition, TopicReplication, Topics, Users, Voters, sasl, tls,
};
use async_trait::async_trait;
use model::{Entropy, Secret};
use std::sync::Arc;

pub struct ProtocolAdmin {
    dial: Arc<dyn Dial>,
    entropy: Arc<dyn Entropy>,
    limits: Limits,
    pool: Pool,
}

impl ProtocolAdmin {
    pub fn new(dial: Arc<dyn Dial>, entropy: Arc<dyn Entropy>) -> Self {
        Self { dial, entropy, limits: Limits::default(), pool: Pool::default() }
    }

    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Runs any call through a cluster's internal listener.
    pub async fn ask<C: Call>(&self, cluster: &Cluster, call: &C) -> Result<C::Answer, Error> {
        self.brokers(cluster)?.ask(call).await
    }

    /// The brokers of a cluster, through its internal listener.
    pub(super) fn brokers<'a>(&'a self, cluster: &'a Cluster) -> Result<Brokers<'a>, Error> {
        let (who, tls) = self.pool.enter(cluster)?;
        Ok(Brokers {
            dial: self.dial.as_ref(),
            instance: cluster.instance,
            all: &cluster.brokers,
            tls,
            limits: self.limits,
            pool: Some((&self.pool, who)),
        })
    }
}

#[async_trait]
impl Admin for ProtocolAdmin {
    fn topics(&self) -> &dyn Topics {
        self
    }

    fn users(&self) -> &dyn Users {
        self
    }

    fn settings(&self) -> &dyn Settings {
        self
    }

    fn groups(&self) -> &dyn Groups {
        self
    }

    fn quotas(&self) -> &dyn Quotas {
        self
    }

    fn messages(&self) -> &dyn Messages {
        self
    }

    fn placement(&self) -> &dyn Placement {
        self
    }

    fn voters(&self) -> &dyn Voters {
        self
    }

    async fn set_scram_users(
        &self,
        cluster: &Cluster,
        users: &[(&str, &Secret)],
    ) -> Result<(), Error> {
        self.ask(cluster, &SetUsers { users, entropy: self.entropy.as_ref() }).await
    }

    async fn add_acls(&self, cluster: &Cluster, acls: &[Acl]) -> Result<(), Error> {
        self.ask(cluster, &AddAcls { acls }).await
    }

    async fn describe_cluster(&self, cluster: &Cluster) -> Result<ClusterView, Error> {
        self.ask(cluster, &DescribeCluster).await
    }

    async fn remove_scram_user(&self, cluster: &Cluster, user: &str) -> Result<(), Error> {
        self.ask(cluster, &RemoveUser { user }).await
    }

    async fn describe_scram_user(
        &self,
        cluster: &Cluster,
        user: &str,
    ) -> Result<Vec<Mechanism>, Error> {
        self.ask(cluster, &DescribeUser { user }).await
    }

    async fn describe_acls(&self, cluster: &Cluster, principal: &str) -> Result<Vec<Acl>, Error> {
        self.ask(cluster, &DescribeAcls { principal: Some(principal) }).await
    }

    async fn remove_acls(&self, cluster: &Cluster, principal: &str) -> Result<(), Error> {
        self.ask(cluster, &RemoveAcls { principal }).await
    }

    async fn create_topic(&self, cluster: &Cluster, topic: &NewTopic) -> Result<Created, Error> {
        self.ask(cluster, &CreateTopic::from(topic)).await
    }

    async fn describe_quorum(&self, cluster: &Cluster) -> Result<Quorum, Error> {
        self.ask(cluster, &DescribeQuorum).await
    }

    async fn describe_replication(
        &self,
        cluster: &Cluster,
    ) -> Result<Vec<TopicReplication>, Error> {
        self.ask(cluster, &DescribeReplication).await
    }

    async fn describe_log_dirs(&self, cluster: &Cluster) -> Result<Vec<LogDir>, Error> {
        self.ask(cluster, &DescribeLogDirs).await
    }

    async fn elect_preferred_leaders(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
    ) -> Result<Elected, Error> {
        self.ask(cluster, &ElectPreferredLeaders { partitions }).await
    }

    async fn check_login(&self, login: &Login) -> Result<(), Error> {
        let brokers = Brokers {
            dial: self.dial.as_ref(),
            instance: login.instance,
            all: &login.brokers,
            tls: tls::client_config(&login.trust_pem, None)?,
            limits: self.limits,
            pool: None,
        };
        brokers.ask(&ProveLogin(login)).await
    }
}

/// Logs in, and asks for what only a logged-in client is answered: metadata of
/// no topic, which needs no ACL.
struct ProveLogin<'a>(&'a Login);

impl Call for ProveLogin<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let login = self.0;
        sasl::log_in(connection, &login.username, &login.password, login.mechanism).await?;
        DescribeTopics { names: Some(&[]) }.run(connection).await?;
        Ok(())
    }
}
