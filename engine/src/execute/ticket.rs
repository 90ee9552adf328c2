//! Leave for agents to stop their brokers, given and taken back. What agents
//! make of it is between them and whoever answers their claims.

use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use kafka::safety::some_of;
use model::ServerId;
use store::{actions, tickets};

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
                let step = format!("may stop now: {}", why + &missed(world, server));
                actions::note(&mut work, world.instance.id, &step, now).await?;
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
    let partitions = look.unavoidable(super::server(world, id).server.node_id);
    if partitions.is_empty() {
        return String::new();
    }
    let named = some_of(&partitions);
    format!("; these demand every replica they have and take no writes meanwhile: {named}")
}
