//! Whether a server may leave its cluster right now.

use crate::{Error, Reach};
use kafka::safety::{Need, some_of};
use model::{InstanceId, ServerId};
use store::servers;

impl Reach {
    /// Why the rest of the cluster can't do without the server, on a fresh look
    /// at every broker; none if it can.
    pub async fn objection(
        &self,
        instance: InstanceId,
        leaving: ServerId,
    ) -> Result<Option<String>, Error> {
        let servers = servers::list_bare(&mut self.store.reader(), instance).await?;
        let Some(server) = servers.iter().find(|server| server.id == leaving) else {
            return Ok(Some("the server is gone".into()));
        };
        let look = match self.look(instance, &servers).await {
            Ok(look) => look,
            Err(Error::Kafka(error)) => {
                return Ok(Some(format!("no broker tells how the cluster is: {error}")));
            }
            Err(error) => return Err(error),
        };
        let objections = look.objections(server.node_id, Need::of(server));
        Ok((!objections.is_empty()).then(|| some_of(&objections)))
    }
}
