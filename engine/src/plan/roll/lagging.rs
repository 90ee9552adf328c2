//! Who lags while it runs: servers that don't answer, lack metadata, or have replicas that
//! have not caught up. No other server is restarted or stopped meanwhile.
//!
//! Whether a server may stop is for [`kafka::safety::may_stop`] to say. Here is what the
//! engine knows of the servers beside it, and what helps with one that does not answer.

use crate::world::{Life, ServerView, World};
use kafka::safety::{Leaving, Look, Member, Need, Standing, may_stop};
use model::condition::{FirstFew, MissingReply, Objection};
use wire::agent::Phase;

/// Why a server may not stop; nothing: it may. Without a look only one that is unresponsive
/// may.
pub(super) fn objections_to(world: &World, view: &ServerView) -> Vec<Objection> {
    let others = members(world, |other| other.server.id != view.server.id);
    let both_agree = world.is_unresponsive(view) && view.unresponsive_since().is_some();
    let leaving = Leaving {
        nodes: &[view.server.node_id],
        need: Need::for_stop(&view.server),
        unresponsive: both_agree.then_some(&view.server),
        others: &others,
    };
    let objections = may_stop(world.look.as_ref(), &leaving).objections();
    objections.into_iter().map(|objection| with_remedy(world, objection)).collect()
}

/// Why no server may stop: what the servers that are awaited lack, and every replica that lags.
/// That `leaving` does not answer counts, and what it lacks does not. Replicas of servers that
/// leave the cluster are not waited for.
pub(super) fn lagging(
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
    let mut objections = look.not_answering(&members(world, |it| awaited(it) && counts(it)));
    let is_awaited = |node: i32| {
        let mut servers = world.servers.iter();
        let found = servers.find(|view| view.server.node_id == node);
        found.is_none_or(|view| !view.server.is_leaving() && awaited(view))
    };
    let all = members(world, |_| true);
    objections.extend(look.lagging_replicas(&all, |node| !leaves(node) && is_awaited(node)));
    objections.into_iter().map(|objection| with_remedy(world, objection)).collect()
}

fn members(world: &World, which: impl Fn(&ServerView) -> bool) -> Vec<Member> {
    let servers = world.servers.iter().filter(|view| which(view));
    servers.map(|view| Member::new(&view.server, standing(world, view))).collect()
}

/// By the word of its agent, and of ours where its broker runs.
fn standing(world: &World, view: &ServerView) -> Standing {
    match view.current_report().map(|report| report.phase) {
        Some(Phase::Stopping) => Standing::Stopping,
        Some(Phase::Running) if world.is_unresponsive(view) => Standing::Unresponsive,
        Some(Phase::Running) => Standing::Works,
        _ if view.server.wanted.is_stopped() => Standing::Out,
        Some(Phase::Failed) => Standing::Failed,
        _ => Standing::Returning,
    }
}

/// What helps with a server that does not answer, once it is clear that it won't.
fn with_remedy(world: &World, objection: Objection) -> Objection {
    let Objection::Unresponsive { server, .. } = objection else { return objection };
    let view = world.servers.iter().find(|view| view.server.number == server);
    let remedy = view.filter(|view| world.is_unresponsive(view));
    Objection::Unresponsive { server, remedy: remedy.and_then(|view| remedy_for(world, view)) }
}

fn remedy_for(world: &World, view: &ServerView) -> Option<MissingReply> {
    if !matches!(view.life(), Life::Due(_) | Life::Leaving(_)) {
        let agent_agrees = view.unresponsive_since().is_some();
        let by = if agent_agrees { MissingReply::Restart } else { MissingReply::CancelAndRestart };
        return Some(by);
    }
    let missed = world.look.as_ref()?.missed(&[view.server.node_id], Need::for_stop(&view.server));
    let objections = FirstFew::few(missed);
    (!objections.is_empty()).then_some(MissingReply::Missed { objections })
}
