//! One look at a whole cluster: every broker is asked at the same moment what it
//! has in its memory, because each may be a moment behind.

use crate::{Error, Reach};
use futures::future::join_all;
use kafka::safety::Look;
use model::{InstanceId, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::timeout;

/// Who stands still for so long is no help to anybody.
const PATIENCE: Duration = Duration::from_secs(4);

impl Reach {
    /// Fails if no broker answers for the quorum. Brokers that don't answer for
    /// themselves are not in the look.
    pub async fn look(&self, id: InstanceId, servers: &[Server]) -> Result<Look, Error> {
        let mut cluster = self.cluster(id, servers).await?;
        let brokers: Vec<&Server> = servers.iter().filter(|server| server.is_broker()).collect();
        let asked = brokers.iter().map(|server| {
            let alone = cluster.through(&(&server.listeners.internal).into());
            async move { timeout(PATIENCE, self.admin.describe_replication(&alone)).await }
        });
        let (mut views, mut silent, mut answering) = (BTreeMap::new(), BTreeSet::new(), vec![]);
        for (server, answer) in brokers.iter().zip(join_all(asked).await) {
            if let Ok(Ok(view)) = answer {
                views.insert(server.node_id, view);
                answering.push((&server.listeners.internal).into());
            } else {
                silent.insert(server.node_id);
            }
        }
        // Of those that answered, so that nobody who stands still is waited for
        // twice; of all where none did, to tell why.
        if !answering.is_empty() {
            cluster.brokers = answering;
        }
        let quorum = self.admin.describe_quorum(&cluster).await?;
        Ok(Look { quorum, views, silent })
    }
}
