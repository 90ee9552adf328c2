//! Which actions are done while others go on: their own servers are as asked, with
//! copies that are in sync. What is asked of the whole cluster, and whatever is the
//! last to go on, ends once everything is reached, because only then can something
//! else be asked for.

use crate::world::{ServerView, World};
use model::{Action, ActionId, ActionKind};

pub(crate) fn of(world: &World) -> Vec<ActionId> {
    let is_reached = |action: &&Action| is_reached(world, action);
    let reached: Vec<ActionId> =
        world.actions.iter().filter(is_reached).map(|action| action.id).collect();
    if reached.len() == world.actions.len() { vec![] } else { reached }
}

fn is_reached(world: &World, action: &Action) -> bool {
    let is_so: fn(&World, &ServerView) -> bool = match action.kind {
        ActionKind::Restart | ActionKind::Start => serves,
        ActionKind::Stop => has_stopped,
        ActionKind::Create
        | ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::ClusterStop
        | ActionKind::ClusterStart => return false,
    };
    let is_left = |view: &&ServerView| {
        let number = view.server.number;
        action.is_about(number) && !action.overtaken.contains_key(&number)
    };
    world.servers.iter().filter(is_left).all(|view| is_so(world, view))
}

fn has_stopped(_: &World, view: &ServerView) -> bool {
    view.server.stopped && view.is_stopped()
}

/// Whether its broker runs as asked, and every copy on it has caught up, by the word of
/// brokers that were asked in this pass. One that did not answer holds nothing in sync.
fn serves(world: &World, view: &ServerView) -> bool {
    let node = view.server.node_id;
    let is_in_sync = world.look.as_ref().is_some_and(|look| {
        look.views.contains_key(&node) && look.lagging().iter().all(|lag| lag.node != node)
    });
    !view.server.stopped && view.runs() && is_in_sync
}
