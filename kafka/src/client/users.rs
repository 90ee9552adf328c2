//! Users with passwords, and rights by which people know them.

use super::admin::acls::{DescribeAcls, RemoveAcl};
use super::admin::scram::ListUsers;
use super::{Acl, Cluster, Error, ProtocolAdmin};
use async_trait::async_trait;

#[async_trait]
pub trait Users: Send + Sync {
    /// Everybody who has a password, by name.
    async fn list_scram_users(&self, cluster: &Cluster) -> Result<Vec<String>, Error>;

    /// Every ACL that holds for all hosts.
    async fn list_acls(&self, cluster: &Cluster) -> Result<Vec<Acl>, Error>;

    /// Removes one ACL, if it is there. On return the broker that was asked no
    /// longer goes by it.
    async fn remove_acl(&self, cluster: &Cluster, acl: &Acl) -> Result<(), Error>;
}

#[async_trait]
impl Users for ProtocolAdmin {
    async fn list_scram_users(&self, cluster: &Cluster) -> Result<Vec<String>, Error> {
        self.ask(cluster, &ListUsers).await
    }

    async fn list_acls(&self, cluster: &Cluster) -> Result<Vec<Acl>, Error> {
        self.ask(cluster, &DescribeAcls { principal: None }).await
    }

    async fn remove_acl(&self, cluster: &Cluster, acl: &Acl) -> Result<(), Error> {
        self.ask(cluster, &RemoveAcl { acl }).await
    }
}
