//! One controller more that votes, or one less. To repeat either does no harm, and a refused
//! one changes nothing.

use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::Remedy;
use kafka::Endpoint;
use kafka::client::{Error, NewVoter, parse_directory};
use uuid::Uuid;

impl Engine {
    pub(super) async fn add_voter(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let Some(directory) = directory(view) else { return Ok(no_directory(view)) };
        let voter = NewVoter {
            id: view.server.node_id,
            directory,
            controller: Endpoint::from(&view.server.listeners.controller),
        };
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        self.look_at_lease(pass).await?;
        Ok(changed(self.reach.admin().voters().add_voter(&cluster, &voter).await))
    }

    pub(super) async fn remove_voter(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let node = view.server.node_id;
        let voters = world.placed().map(|placed| placed.quorum.voters.iter());
        let known = voters.and_then(|mut voters| voters.find(|voter| voter.id == node)?.directory);
        let Some(directory) = known.or_else(|| directory(view)) else {
            return Ok(no_directory(view));
        };
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        self.look_at_lease(pass).await?;
        Ok(changed(self.reach.admin().voters().remove_voter(&cluster, node, directory).await))
    }
}

fn directory(view: &ServerView) -> Option<Uuid> {
    parse_directory(&view.disk.as_ref()?.directory_id)
}

fn no_directory(view: &ServerView) -> Done {
    let reason = format!("{} has no disk with a directory id on record", view.title());
    Done::Failed { reason, remedy: Remedy::GiveUp }
}

/// Everything Kafka refuses may be over the next moment, since all of it was looked at before.
pub(super) fn changed<T>(answer: Result<T, Error>) -> Done {
    match answer {
        Ok(_) => Done::Changed,
        Err(error) => Done::Failed { reason: error.to_string(), remedy: Remedy::Retry },
    }
}
