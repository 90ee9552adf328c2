//! Opens and closes tickets; `app/src/agents/claim.rs` answers claims.

use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use model::condition::{FirstFew, Note};
use model::{Action, Server, ServerId, Timestamp};
use store::tickets::{self, Purpose};
use store::{Work, actions};

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
        let purpose = purpose(world, server);
        let mut work = self.guarded(pass).await?;
        match tickets::find(&mut work, world.instance.id, now).await? {
            Some(ticket) if ticket.server_id == server && ticket.purpose == Some(purpose) => {
                tickets::renew(&mut work, &pass.lease, &ticket, now).await?;
            }
            other => {
                if other.is_some() {
                    tickets::close(&mut work, world.instance.id).await?;
                }
                tickets::open(&mut work, &pass.lease, server, purpose, now).await?;
                let open = actions::open(&mut work, world.instance.id).await?;
                foretell(&mut work, world, &open, now).await?;
                let note = Note::MayStop {
                    server: server.map(|id| super::server(world, id).server.number),
                    comes_back: purpose == Purpose::Restart,
                    unavoidable: unavoidable(world, server),
                };
                // Every such note is kept, however long the action goes on.
                for action in open {
                    actions::keep(&mut work, action.id, &note, now).await?;
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
async fn foretell(
    work: &mut Work,
    world: &World,
    open: &[Action],
    now: Timestamp,
) -> Result<(), PassError> {
    let Some(look) = &world.look else { return Ok(()) };
    for action in open {
        let partitions = look.unavoidable(&restarted(world, action));
        if !partitions.is_empty() {
            let note = Note::TakesNoWrites { partitions: FirstFew::few(partitions) };
            actions::note_once(work, action.id, &note, now).await?;
        }
    }
    Ok(())
}

/// The nodes that an action restarts.
fn restarted(world: &World, action: &Action) -> Vec<i32> {
    if !action.kind.restarts() {
        return vec![];
    }
    let servers =
        world.servers.iter().map(|view| &view.server).filter(|server| !server.wanted.is_stopped());
    let is_meant = |server: &&Server| action.is_about(server.number);
    servers.filter(is_meant).map(|server| server.node_id).collect()
}

fn purpose(world: &World, server: Option<ServerId>) -> Purpose {
    match server.map(|id| super::server(world, id).server.wanted.is_stopped()) {
        None => Purpose::ClusterStop,
        Some(true) => Purpose::Stop,
        Some(false) => Purpose::Restart,
    }
}

/// The partitions that take no writes meanwhile, whatever is done.
fn unavoidable(world: &World, server: Option<ServerId>) -> FirstFew<String> {
    let Some((look, id)) = world.look.as_ref().zip(server) else { return FirstFew::default() };
    FirstFew::few(look.unavoidable(&[super::server(world, id).server.node_id]))
}
