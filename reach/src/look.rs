//! One look at a whole cluster: every broker is asked at the same moment what it
//! has in its memory, because each may be a moment behind.

use crate::{Error, Reach};
use futures::future::join_all;
use kafka::client::{self, Broker, Cluster, TopicReplication};
use kafka::safety::Look;
use model::{InstanceId, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::timeout;

/// A broker that takes longer counts as not answering.
const PATIENCE: Duration = Duration::from_secs(4);

/// What every broker said of itself, and those who said nothing.
pub(crate) struct Asked {
    pub views: BTreeMap<i32, Vec<TopicReplication>>,
    /// Nodes that were asked and did not answer.
    pub no_reply: BTreeSet<i32>,
    /// Those of them that said nothing in all that time. One that refuses us, or can't
    /// make itself understood, is alive or not there at all.
    pub timed_out: BTreeSet<i32>,
    /// The way in, through those that answered; through all where none did, to tell
    /// why. So a broker that does not answer is not waited for twice.
    through: Cluster,
}

impl Reach {
    /// Fails if no broker answers for the quorum. Brokers that don't answer for
    /// themselves are not in the look.
    pub async fn look(&self, id: InstanceId, servers: &[Server]) -> Result<Look, Error> {
        let asked = self.ask_all(id, servers).await?;
        self.look_on(asked).await
    }

    /// Asks every broker for itself, all at the same moment.
    pub(crate) async fn ask_all(&self, id: InstanceId, servers: &[Server]) -> Result<Asked, Error> {
        let mut through = self.cluster(id, servers).await?;
        let brokers: Vec<&Server> = servers.iter().filter(|server| server.is_broker()).collect();
        let asked = brokers.iter().map(|server| {
            let alone = through.through(&Broker::internal(server));
            async move { timeout(PATIENCE, self.admin.describe_replication(&alone)).await }
        });
        let (mut views, mut answering) = (BTreeMap::new(), vec![]);
        let (mut no_reply, mut timed_out) = (BTreeSet::new(), BTreeSet::new());
        for (server, answer) in brokers.iter().zip(join_all(asked).await) {
            if matches!(answer, Err(_) | Ok(Err(client::Error::Deadline { .. }))) {
                timed_out.insert(server.node_id);
            }
            if let Ok(Ok(view)) = answer {
                views.insert(server.node_id, view);
                answering.push(Broker::internal(server));
            } else {
                no_reply.insert(server.node_id);
            }
        }
        if !answering.is_empty() {
            through.brokers = answering;
        }
        Ok(Asked { views, no_reply, timed_out, through })
    }

    /// The whole look, once a broker has described the quorum.
    pub(crate) async fn look_on(&self, asked: Asked) -> Result<Look, Error> {
        let Asked { views, no_reply, through, .. } = asked;
        let quorum = self.admin.describe_quorum(&through).await?;
        Ok(Look { quorum, views, no_reply })
    }
}
