//! Servers that are to be restarted or stopped, and whose brokers are unresponsive: they
//! run, and their own agents get no answer, or have given us none for half a minute.
//!
//! Such a broker is missed already, so its turn does not wait until every broker answers.
//! Still they go one at a time, because one of them may only be slow. Whoever answers its
//! agent's claim looks at all that once more.

use super::lagging::objections_to;
use super::{let_stop, look_first};
use crate::plan::Plan;
use crate::world::{ServerView, World};

/// None: no server that shall be touched is unresponsive, or the others can't do without it.
pub(super) fn plan(world: &World) -> Option<Plan> {
    let is_meant = |view: &&ServerView| (view.is_due() || view.is_moving()) && view.is_up();
    let meant = world.servers.iter().filter(is_meant);
    let mut meant: Vec<&ServerView> = meant.filter(|view| world.is_unresponsive(view)).collect();
    // Whoever has been let go may be gone any moment.
    meant.sort_by_key(|view| !has_turn(world, view));
    // An agent that can't read its broker's metrics is no proof by itself.
    if world.look.is_none() && world.unseen.is_none() && !has_turn(world, meant.first()?) {
        return Some(look_first(world));
    }
    meant.into_iter().find(|view| may_go(world, view)).map(|view| let_stop(world, view))
}

/// A look takes seconds while somebody is unresponsive, and the ticket is not good before
/// it is this pass's: a server that has its turn keeps it until then.
fn may_go(world: &World, view: &ServerView) -> bool {
    let keeps_turn = world.look.is_none() && has_turn(world, view);
    keeps_turn || objections_to(world, view).is_empty()
}

fn has_turn(world: &World, view: &ServerView) -> bool {
    world.ticket.as_ref().is_some_and(|ticket| ticket.server_id == Some(view.server.id))
}
