//! Leave for agents to stop their brokers, given and taken back. What agents
//! make of it is between them and whoever answers their claims.

use crate::journal;
use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use kafka::safety::some_of;
use model::{Action, Server, ServerId, Timestamp};
use store::{Work, actions, tickets};

impl Engine {
    /// A ticket of an earlier pass is made this one's own; one for anything
    /// else is of no use any more.
    pub(super) async fn open_ticket(
        &self,
        pass: &Pass,
        world: &World,
        server: Option<ServerId>,
    ) -> Result<Done, PassError> {
        let now = self.clock.now();
        let why = why(world, server);
        let mut work = self.guarded(pass).await?;
        match tickets::find(&mut work, world.instance.id, now).await? {
            Some(ticket) if ticket.server_id == server && ticket.why == why => {
                tickets::renew(&mut work, &pass.lease, &ticket, now).await?;
            }
            other => {
                if other.is_some() {
                    tickets::close(&mut work, world.instance.id).await?;
                }
                tickets::open(&mut work, &pass.lease, server, &why, now).await?;
                foretell(&mut work, world, now).await?;
                let step = format!("may stop now: {}", why + &missed(world, server));
                let said: Vec<_> = server.map(|id| (id, step.clone())).into_iter().collect();
                // Nobody may miss it, however long the action goes on.
                for (action, text) in journal::by_action(&mut work, world, &step, &said).await? {
                    actions::keep(&mut work, action, &text, now).await?;
                }
            }
        }
        work.commit().await?;
        Ok(Done::Progress)
    }

    pub(super) async fn close_ticket(&self, pass: &Pass) -> Result<Done, PassError> {
        let mut work = self.guarded(pass).await?;
        tickets::close(&mut work, pass.lease.instance_id).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }
}

/// Tells what a restart takes away whatever is done, before the first server of
/// it may stop.
async fn foretell(work: &mut Work, world: &World, now: Timestamp) -> Result<(), PassError> {
    let Some(look) = &world.look else { return Ok(()) };
    for action in actions::open(work, world.instance.id).await? {
        let partitions = look.unavoidable(&restarted(world, &action));
        if !partitions.is_empty() {
            let text = format!(
                "these partitions demand every replica they have, and take no writes while a \
                 server of theirs restarts: {}",
                some_of(&partitions)
            );
            actions::note_once(work, action.id, &text, now).await?;
        }
    }
    Ok(())
}

/// The nodes that an action restarts.
fn restarted(world: &World, action: &Action) -> Vec<i32> {
    if !action.kind.restarts() {
        return vec![];
    }
    let servers = world.servers.iter().map(|view| &view.server).filter(|server| !server.stopped);
    let is_meant = |server: &&Server| action.is_about(server.number);
    servers.filter(is_meant).map(|server| server.node_id).collect()
}

/// What a ticket is for.
fn why(world: &World, server: Option<ServerId>) -> String {
    let Some(id) = server else { return "every server, because the cluster is stopped".into() };
    let view = super::server(world, id);
    let end = if view.server.stopped { "because it was asked for" } else { "to be started anew" };
    format!("{}, {end}", view.title())
}

/// The partitions that take no writes meanwhile, whatever is done.
fn missed(world: &World, server: Option<ServerId>) -> String {
    let Some((look, id)) = world.look.as_ref().zip(server) else { return String::new() };
    let partitions = look.unavoidable(&[super::server(world, id).server.node_id]);
    if partitions.is_empty() {
        return String::new();
    }
    let named = some_of(&partitions);
    format!("; these demand every replica they have and take no writes meanwhile: {named}")
}
