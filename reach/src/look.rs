//! One look at a whole cluster: every broker is asked at the same moment what it
//! has in its memory, because each may be a moment behind.

use crate::{Error, Reach};
use futures::future::join_all;
use kafka::client::Cluster;
use kafka::safety::Look;
use model::{InstanceId, Server};
use std::time::Duration;
use tokio::time::timeout;

/// Who stands still for so long is no help to anybody.
const PATIENCE: Duration = Duration::from_secs(4);

impl Reach {
    /// Fails if no broker answers for the quorum. Brokers that don't answer for
    /// themselves are not in the look.
    pub async fn look(&self, id: InstanceId, servers: &[Server]) -> Result<Look, Error> {
        let cluster = self.cluster(id, servers).await?;
        let view = |server: &Server| {
            let alone: Cluster = cluster.through(&(&server.listeners.internal).into());
            let node = server.node_id;
            async move {
                let asked = timeout(PATIENCE, self.admin.describe_replication(&alone)).await;
                (node, asked.ok().and_then(Result::ok))
            }
        };
        let brokers = servers.iter().filter(|server| server.is_broker());
        let views = join_all(brokers.map(view)).await;
        // Of those that answered, so that nobody who stands still is waited for
        // twice; of all where none did, to tell why.
        let mut asked = cluster.clone();
        let answers = |server: &&Server| {
            views.iter().any(|(node, view)| *node == server.node_id && view.is_some())
        };
        let answering = servers.iter().filter(answers);
        let endpoints: Vec<_> =
            answering.map(|server| (&server.listeners.internal).into()).collect();
        if !endpoints.is_empty() {
            asked.brokers = endpoints;
        }
        let quorum = self.admin.describe_quorum(&asked).await?;
        let silent = |(node, view): &(i32, Option<_>)| view.is_none().then_some(*node);
        Ok(Look {
            quorum,
            silent: views.iter().filter_map(silent).collect(),
            views: views.into_iter().filter_map(|(node, view)| Some((node, view?))).collect(),
        })
    }
}
