//! The end of a roll: preferred leaders are elected, and the generation is noted as reached,
//! which ends its action.

use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use kafka::client::Error;
use model::{Reason, Server};
use std::time::Duration;

/// A cluster that does not answer may do so the next moment.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    /// Partitions whose first replica is on a server that shall not run, or is unresponsive,
    /// keep the leader they have.
    pub(super) async fn reach_all(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let all = world.servers.len();
        let views = world
            .servers
            .iter()
            .filter(|view| !view.server.wanted.is_stopped() && !world.is_unresponsive(view));
        let servers: Vec<Server> = views.map(|view| view.server.clone()).collect();
        let cluster = self.reach.cluster(world.instance.id, &servers).await?;
        self.look_at_lease(pass).await?;
        let elected = self.reach.admin().elect_preferred_leaders(&cluster).await;
        // Somebody who is not among them may well be the first replica of something.
        let may_lack = servers.len() < all || world.is_cancelled();
        let is_fine = |error: &Error| may_lack && error.lacks_preferred_leader();
        if let Some(error) = elected.err().filter(|error| !is_fine(error)) {
            let reason = Reason::LeadersPending { error: error.to_string() };
            return Ok(Done::Wait { reason, after: LOOK_AGAIN });
        }
        let generation = world.instance.generation;
        self.note(pass, world, |progress| progress.observed_generation = generation).await
    }
}
