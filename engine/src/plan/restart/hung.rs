//! Servers that are to be restarted or stopped, and whose brokers hang: they run, and
//! their own agents find them silent, or have given us no answer for half a minute.
//!
//! Such a broker is missed already, so its turn does not wait until every broker
//! answers. By the word of all the others they can do without it; or, where it is to
//! come back, its own agent finds it silent too, and then nothing can be lost by its
//! end. Still they go one at a time, because one of them may only be slow. Whoever
//! answers its agent's claim looks at all that once more.

use super::behind::others;
use super::{let_stop, look_first};
use crate::plan::Plan;
use crate::world::{ServerView, World};
use kafka::safety::Need;
use wire::agent::Phase;

/// None: no server that shall be touched hangs, or the others can't do without it.
pub(super) fn plan(world: &World) -> Option<Plan> {
    let is_meant = |view: &&ServerView| (view.is_due() || view.is_moving()) && view.is_up();
    let hanging = world.servers.iter().filter(is_meant).filter(|view| world.hangs(view));
    let mut hanging: Vec<&ServerView> = hanging.collect();
    // Whoever has been let go may be gone any moment.
    hanging.sort_by_key(|view| !has_turn(world, view));
    // An agent that can't read its broker's metrics is no proof by itself.
    if world.look.is_none() && world.unseen.is_none() && !has_turn(world, hanging.first()?) {
        return Some(look_first(world));
    }
    hanging.into_iter().find(|view| may_go(world, view)).map(|view| let_stop(world, view))
}

fn may_go(world: &World, view: &ServerView) -> bool {
    let need = Need::of(&view.server);
    if need == Need::Returns && view.silent_since().is_some() && !is_to_wait(world) {
        return true;
    }
    let Some(look) = &world.look else {
        // A look takes seconds while somebody hangs, and the ticket is not good before
        // it is this pass's. Whoever answers a claim looks anyway.
        return has_turn(world, view);
    };
    look.objections(view.server.node_id, need).is_empty() && others(world, look, view).is_empty()
}

/// Whether another is on the way out, or back to a quorum that could form without one
/// that hangs: then that other comes first. One that does not stay up is not waited for.
fn is_to_wait(world: &World) -> bool {
    let goes = |view: &ServerView| {
        view.current_report().is_some_and(|report| report.phase == Phase::Stopping)
    };
    let comes = |view: &ServerView| !view.server.stopped && !view.is_up() && !view.has_failed();
    let works = |view: &ServerView| comes(view) || view.is_up() && !world.hangs(view);
    let could_form = world.is_majority(works);
    world.servers.iter().any(|view| goes(view) || could_form && comes(view))
}

fn has_turn(world: &World, view: &ServerView) -> bool {
    world.ticket.as_ref().is_some_and(|ticket| ticket.server_id == Some(view.server.id))
}
