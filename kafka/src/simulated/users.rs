//! Users of a simulated cluster and what they may do.

use super::SimKafka;
use crate::client::{Acl, Cluster, Error, Users};
use async_trait::async_trait;

#[async_trait]
impl Users for SimKafka {
    async fn list_scram_users(&self, cluster: &Cluster) -> Result<Vec<String>, Error> {
        self.ask("DescribeUserScramCredentials", &cluster.brokers, |asked| {
            Ok(asked.view().users.keys().cloned().collect())
        })
    }

    async fn list_acls(&self, cluster: &Cluster) -> Result<Vec<Acl>, Error> {
        self.ask("DescribeAcls", &cluster.brokers, |asked| Ok(asked.view().acls.clone()))
    }

    async fn remove_acl(&self, cluster: &Cluster, acl: &Acl) -> Result<(), Error> {
        self.ask("DeleteAcls", &cluster.brokers, |asked| {
            asked.change(|state| {
                state.change().acls.retain(|there| there != acl);
                Ok(())
            })
        })
    }
}
