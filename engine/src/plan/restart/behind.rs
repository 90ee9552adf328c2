//! Who is behind while it runs: servers that don't answer, lack metadata, or have copies
//! that have not caught up. Nobody else is touched meanwhile.
//!
//! What is behind on a server keeps nobody from stopping that very one. Whether the
//! others can do without it is for `kafka::safety` to say.

use crate::world::{ServerView, World};
use kafka::safety::{Look, Need, some_of};

/// Why nobody may be missed, a sentence each: of the servers that are awaited, and of
/// every copy. That `leaving` does not answer counts, and what it lacks does not.
pub(super) fn behind(
    world: &World,
    look: &Look,
    awaited: impl Fn(&ServerView) -> bool,
    leaving: Option<&ServerView>,
) -> Vec<String> {
    let leaves = |node: i32| leaving.is_some_and(|view| view.server.node_id == node);
    let answers = |view: &ServerView| {
        !view.server.is_broker() || look.views.contains_key(&view.server.node_id)
    };
    let counts = |view: &ServerView| !(leaves(view.server.node_id) && answers(view));
    let mut sentences = silent(world, look, |view| awaited(view) && counts(view));
    sentences.extend(copies(world, look, |node| !leaves(node)));
    sentences
}

/// Why nobody else may be missed: one that shall run is away, or behind.
pub(super) fn others(world: &World, look: &Look, leaving: &ServerView) -> Vec<String> {
    let mut reasons = silent(world, look, |view| view.server.id != leaving.server.id);
    for view in &world.servers {
        if view.server.id != leaving.server.id && !view.server.stopped && !view.is_up() {
            reasons.push(format!("{} is down", view.title()));
        }
    }
    let stays = |node: i32| {
        let of = world.servers.iter().find(|view| view.server.node_id == node);
        of.is_some_and(|view| view.server.id != leaving.server.id && !view.server.stopped)
    };
    reasons.extend(copies(world, look, stays));
    reasons
}

/// Copies on these nodes that have not caught up.
fn copies(world: &World, look: &Look, which: impl Fn(i32) -> bool) -> Vec<String> {
    let title = |node: i32| {
        let of = world.servers.iter().find(|view| view.server.node_id == node);
        of.map_or_else(|| format!("node {node}"), ServerView::title)
    };
    let lagging = look.lagging().into_iter().filter(|lag| which(lag.node));
    lagging.map(|lag| lag.in_words(&title(lag.node))).collect()
}

/// Servers of these that run but don't answer, or lack metadata.
fn silent(world: &World, look: &Look, which: impl Fn(&ServerView) -> bool) -> Vec<String> {
    let mut sentences = Vec::new();
    for view in world.servers.iter().filter(|view| view.is_up() && which(view)) {
        let (node, title) = (view.server.node_id, view.title());
        if view.server.is_broker() && !look.views.contains_key(&node) {
            sentences.push(format!("{title} does not answer{}", remedy(world, look, view)));
        } else if look.is_controller_behind(node) {
            sentences.push(format!("the controller of {title} is behind"));
        }
    }
    sentences
}

/// What helps with one that does not answer, once it is clear that it hangs.
fn remedy(world: &World, look: &Look, view: &ServerView) -> String {
    if !world.hangs(view) {
        return String::new();
    }
    if !view.is_due() && !view.is_moving() {
        let first = match view.silent_since() {
            Some(_) => "restart that server with actions/restart",
            None => "take this back and restart that server first, with actions/restart",
        };
        return format!("; {first}");
    }
    let objections = look.objections(view.server.node_id, Need::of(&view.server));
    match &objections[..] {
        [] => String::new(),
        some => format!(", and the others can't do without it: {}", some_of(some)),
    }
}
