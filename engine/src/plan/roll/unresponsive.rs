//! Servers that are to be restarted or stopped, and whose brokers are unresponsive: they
//! run, and have answered neither their own agents nor, for half a minute, us.
//!
//! The cluster does without such a broker already, so its turn does not wait until every
//! broker answers. Still they go one at a time, because one of them may only be slow. The
//! claim of its agent is checked against all of this once more.

use super::lagging::objections_to;
use super::{Roll, Turn, let_stop, look_first};
use crate::plan::Plan;
use crate::world::{ServerView, World};

/// None: no server of the roll is unresponsive, or the others can't do without it.
pub(super) fn let_go(roll: &Roll) -> Option<Plan> {
    let world = roll.world;
    let turns = roll.leaving.iter().chain(&roll.due);
    let mut turns: Vec<&Turn> = turns.filter(|turn| world.is_unresponsive(turn.view)).collect();
    // A server with the ticket may stop any moment.
    turns.sort_by_key(|turn| (!has_ticket(world, turn.view), turn.number()));
    // An agent that can't read its broker's metrics is no proof by itself.
    if world.look.is_none() && world.unseen.is_none() && !has_ticket(world, turns.first()?.view) {
        return Some(look_first(world));
    }
    turns.into_iter().find(|turn| may_go(world, turn.view)).map(|turn| let_stop(world, turn))
}

/// A look takes seconds while a broker is unresponsive, and the ticket is not good before
/// this pass has renewed it: a server that has the ticket keeps it until then.
fn may_go(world: &World, view: &ServerView) -> bool {
    let keeps_ticket = world.look.is_none() && has_ticket(world, view);
    keeps_ticket || objections_to(world, view).is_empty()
}

fn has_ticket(world: &World, view: &ServerView) -> bool {
    world.ticket.as_ref().is_some_and(|ticket| ticket.server_id == Some(view.server.id))
}
