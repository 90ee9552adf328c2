//! Who is behind while it runs: servers that don't answer, lack metadata, or have copies
//! that have not caught up. Nobody else is touched meanwhile.
//!
//! What is behind on a server keeps nobody from stopping that very one. Whether the
//! others can do without it is for `kafka::safety` to say.

use crate::world::{ServerView, World};
use kafka::safety::{Look, Need};
use model::condition::{FirstFew, MissingReply, Objection, Place};

/// Why nobody may be missed: of the servers that are awaited, and of
/// every copy. That `leaving` does not answer counts, and what it lacks does not.
pub(super) fn behind(
    world: &World,
    look: &Look,
    awaited: impl Fn(&ServerView) -> bool,
    leaving: Option<&ServerView>,
) -> Vec<Objection> {
    let leaves = |node: i32| leaving.is_some_and(|view| view.server.node_id == node);
    let answers = |view: &ServerView| {
        !view.server.is_broker() || look.views.contains_key(&view.server.node_id)
    };
    let counts = |view: &ServerView| !(leaves(view.server.node_id) && answers(view));
    let mut objections = silent(world, look, |view| awaited(view) && counts(view));
    objections.extend(copies(world, look, |node| !leaves(node)));
    objections
}

/// Why nobody else may be missed: one that shall run is away, or behind.
pub(super) fn others(world: &World, look: &Look, leaving: &ServerView) -> Vec<Objection> {
    let mut objections = silent(world, look, |view| view.server.id != leaving.server.id);
    for view in &world.servers {
        if view.server.id != leaving.server.id && !view.server.stopped && !view.is_up() {
            objections.push(Objection::Down { server: view.server.number });
        }
    }
    let stays = |node: i32| {
        let of = world.servers.iter().find(|view| view.server.node_id == node);
        of.is_some_and(|view| view.server.id != leaving.server.id && !view.server.stopped)
    };
    objections.extend(copies(world, look, stays));
    objections
}

/// Copies on these nodes that have not caught up.
fn copies(world: &World, look: &Look, which: impl Fn(i32) -> bool) -> Vec<Objection> {
    let place = |node: i32| {
        let of = world.servers.iter().find(|view| view.server.node_id == node);
        of.map_or(Place::Node(node), |view| Place::Server(view.server.number))
    };
    let lagging = look.lagging().into_iter().filter(|lag| which(lag.node));
    lagging.map(|lag| (place(lag.node), lag)).map(|(place, lag)| lag.objection(place)).collect()
}

/// Servers of these that run but don't answer, or lack metadata.
fn silent(world: &World, look: &Look, which: impl Fn(&ServerView) -> bool) -> Vec<Objection> {
    let mut objections = Vec::new();
    for view in world.servers.iter().filter(|view| view.is_up() && which(view)) {
        let (node, server) = (view.server.node_id, view.server.number);
        if view.server.is_broker() && !look.views.contains_key(&node) {
            let remedy = remedy(world, look, view);
            objections.push(Objection::Unresponsive { server, remedy });
        } else if look.is_controller_behind(node) {
            objections.push(Objection::ControllerLagging { server });
        }
    }
    objections
}

/// What helps with one that does not answer, once it is clear that it hangs.
fn remedy(world: &World, look: &Look, view: &ServerView) -> Option<MissingReply> {
    if !world.hangs(view) {
        return None;
    }
    if !view.is_due() && !view.is_moving() {
        let agent_agrees = view.silent_since().is_some();
        let by = if agent_agrees { MissingReply::Restart } else { MissingReply::CancelAndRestart };
        return Some(by);
    }
    let objections = look.objections(view.server.node_id, Need::of(&view.server));
    let objections = FirstFew::few(objections);
    (!objections.is_empty()).then_some(MissingReply::Missed { objections })
}
