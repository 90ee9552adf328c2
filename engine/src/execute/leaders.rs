//! Giving a server the leaders back that it handed to others when it stopped: a few
//! partitions in one call, and then a rest, after which the brokers are looked at anew.
//!
//! Which partitions follows from the look alone, so a control plane that takes over goes on
//! with those that are left. An election that comes late, by an earlier owner, only has
//! partitions led by their first replicas.

use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use kafka::client::TopicPartition;
use model::{Reason, Server};
use std::time::Duration;

/// Leaders in one call: 18 at once kept some sends waiting for 3.3 s, and commits for 6.6 s.
const FEW: usize = 4;
/// Servers with very many leaders get them back in not many more calls than this.
const CALLS: usize = 32;
/// Clients find the leaders that have moved, and followers fetch from them.
const BREATH: Duration = Duration::from_millis(100);
/// A cluster that does not answer may do so the next moment.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    pub(super) async fn return_leaders(
        &self,
        pass: &Pass,
        world: &World,
        home: &ServerView,
    ) -> Result<Done, PassError> {
        let away = away(world, home);
        let servers: Vec<Server> = world
            .servers
            .iter()
            .filter(|view| !view.server.wanted.is_stopped() && !world.is_unresponsive(view))
            .map(|view| view.server.clone())
            .collect();
        let cluster = self.reach.cluster(world.instance.id, &servers).await?;
        for few in away.chunks(FEW.max(away.len() / CALLS)) {
            self.look_at_lease(pass).await?;
            match self.reach.admin().elect_preferred_leaders(&cluster, few).await {
                // None of them could be moved, or had to be: the next few.
                Ok(elected) if elected.moved.is_empty() => {}
                Ok(_) => {
                    return Ok(Done::Wait { reason: Reason::LeadersReturning, after: BREATH });
                }
                Err(error) => {
                    let reason = Reason::LeadersPending { error: error.to_string() };
                    return Ok(Done::Wait { reason, after: LOOK_AGAIN });
                }
            }
        }
        Ok(Done::LeadersRefused(home.server.id))
    }
}

fn away(world: &World, home: &ServerView) -> Vec<TopicPartition> {
    let homecomings = world.look.as_ref().map(|look| look.homecomings(|_| true));
    let homecoming = homecomings.and_then(|mut all| all.remove(&home.server.node_id));
    homecoming.map(|homecoming| homecoming.away).unwrap_or_default()
}
