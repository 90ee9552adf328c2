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
    match action.kind {
        ActionKind::Restart | ActionKind::Start => is_so_on_all(world, action, serves),
        ActionKind::Stop => is_so_on_all(world, action, has_stopped),
        ActionKind::Create
        | ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::ClusterStop
        | ActionKind::ClusterStart => false,
    }
}

/// Whether that is so on every server of an action that no other has taken from it.
fn is_so_on_all(
    world: &World,
    action: &Action,
    is_so: impl Fn(&World, &ServerView) -> bool,
) -> bool {
    let is_left = |view: &&ServerView| {
        let number = view.server.number;
        action.is_about(number) && !action.overtaken.contains_key(&number)
    };
    world.servers.iter().filter(is_left).all(|view| is_so(world, view))
}

fn has_stopped(_: &World, view: &ServerView) -> bool {
    view.server.stopped && view.is_stopped()
}

fn runs(_: &World, view: &ServerView) -> bool {
    !view.server.stopped && view.is_current()
}

/// Whether its broker runs as asked, and every copy on it has caught up, by the word of
/// brokers that were asked in this pass. One that did not answer holds nothing in sync.
fn serves(world: &World, view: &ServerView) -> bool {
    let node = view.server.node_id;
    let is_in_sync = world.look.as_ref().is_some_and(|look| {
        look.views.contains_key(&node) && look.lagging().iter().all(|lag| lag.node != node)
    });
    runs(world, view) && is_in_sync
}

/// Whether a server is as it is, to run or `stopped`, because of this action.
pub(crate) fn concerns(action: &Action, number: u32, stopped: bool) -> bool {
    let fits = match action.kind {
        ActionKind::Create | ActionKind::ClusterStop | ActionKind::ClusterStart => true,
        ActionKind::Stop => stopped,
        ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::Restart
        | ActionKind::Start => !stopped,
    };
    fits && action.is_about(number) && !action.overtaken.contains_key(&number)
}
