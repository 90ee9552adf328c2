//! The end of a server that leaves. Its broker has stopped and its agent is gone; Kafka is
//! asked once more, because a broker that is forgotten while it holds replicas takes the data
//! that only it has with it.

use crate::pass::{Done, Pass};
use crate::world::{Placed, ServerView, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use model::Reason;
use std::time::Duration;

/// Until its session ends, or until it has given away what it still holds.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    pub(super) async fn remove_leaving(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let node = view.server.node_id;
        let placed = match self.read_placement(world).await {
            Ok(Some(placed)) => placed,
            Ok(None) => return Ok(Done::Changed),
            Err(PassError::Reach(reach::Error::Kafka(error))) => {
                return Ok(super::voters::changed::<()>(Err(error)));
            }
            Err(error) => return Err(error),
        };
        if !may_go(&placed, node) {
            return Ok(Done::Wait { reason: Reason::Removing, after: LOOK_AGAIN });
        }
        let cluster = self.reach.cluster(world.instance.id, &staying(world)).await?;
        self.look_at_lease(pass).await?;
        let forgotten = self.reach.admin().voters().unregister_broker(&cluster, node).await;
        if let Err(error) = forgotten {
            return Ok(Done::Failed { reason: error.to_string(), remedy: Remedy::Retry });
        }
        match self.remove_server(pass, world, view).await? {
            Done::Progress => Ok(Done::Changed),
            other => Ok(other),
        }
    }
}

fn may_go(placed: &Placed, node: i32) -> bool {
    placed.is_empty(node) && !placed.serves(node)
}

fn staying(world: &World) -> Vec<model::Server> {
    world.running_first().into_iter().filter(|server| !server.is_leaving()).collect()
}
