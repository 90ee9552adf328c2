//! Leave for agents to stop their brokers, given and taken back. What agents
//! make of it is between them and whoever answers their claims.

use crate::pass::{Done, Pass};
use crate::world::World;
use crate::{Engine, PassError};
use store::tickets;

/// Of a ticket for all servers at once.
const WHY: &str = "the instance is stopped";

impl Engine {
    /// A ticket of an earlier pass is made this one's own; one for anything
    /// else is of no use any more.
    pub(super) async fn open_ticket(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let now = self.clock.now();
        let mut work = self.guarded(pass).await?;
        match tickets::find(&mut work, world.instance.id, now).await? {
            Some(ticket) if ticket.server_id.is_none() && ticket.why == WHY => {
                tickets::renew(&mut work, &pass.lease, &ticket, now).await?;
            }
            other => {
                if other.is_some() {
                    tickets::close(&mut work, world.instance.id).await?;
                }
                tickets::open(&mut work, &pass.lease, None, WHY, now).await?;
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
