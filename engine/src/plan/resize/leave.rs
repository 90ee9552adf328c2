//! Servers that leave, once they are empty: from the first vote that is taken on there is no
//! way back. A broker that runs stops under a ticket, as a roll does it; one that is down, and
//! that the controllers don't let serve, has nothing to stop for. Its server goes before its
//! broker is unregistered: Kafka would forget a broker that runs or holds replicas, and with
//! it the data that only it has.

use super::{Change, pause, soon};
use crate::plan::{Lane, Plan, Step};
use crate::world::{Life, Placed, ServerView, World};
use kafka::placement::PlacedPartition;
use model::{Condition, Reason};

/// Whether one of them may never run again. What it held lacks a replica until that has moved,
/// and no other broker with such a replica may be restarted so long.
pub(super) fn is_one_gone(world: &World) -> bool {
    world.servers.iter().any(|view| world.may_be_gone(view))
}

pub(super) fn begin_removing(change: &Change) -> Option<Plan> {
    let is_due = !change.resize.removing && change.leaving().next().is_some();
    is_due.then(|| change.act(Step::BeginRemoving))
}

pub(super) fn ask_to_stop(change: &Change) -> Option<Plan> {
    let runs = |view: &ServerView| !view.server.wanted.is_stopped();
    change.leaving().any(runs).then(|| change.act(Step::StopLeaving))
}

/// A topic was made on a broker in the moment it stopped: no other broker has its replicas, so
/// this one has to run until they have moved.
pub(super) fn start_again(change: &Change) -> Option<Plan> {
    let is_missed = |view: &&ServerView| holds_the_last_replica(change.placed, view);
    let server = change.leaving().find(is_missed)?.server.id;
    Some(change.act(Step::StartLeaving(server)))
}

fn holds_the_last_replica(placed: &Placed, view: &ServerView) -> bool {
    let node = view.server.node_id;
    let mut partitions = placed.view.topics.iter().flat_map(|topic| &topic.partitions);
    let is_missed = |it: &PlacedPartition| it.leader.is_none() && it.replicas.contains(&node);
    view.server.wanted.is_stopped() && partitions.any(is_missed)
}

/// Whether a roll is to stop one of them, or is about to.
pub(super) fn is_stopping(world: &World) -> bool {
    let stops = |view: &ServerView| matches!(view.life(), Life::Due(_) | Life::Leaving(_));
    world.servers.iter().any(|view| view.server.is_leaving() && stops(view))
}

pub(super) fn remove_stopped(change: &Change) -> Option<Plan> {
    let lane = |view: &ServerView| {
        let steps = vec![next_of(change, view)?];
        Some(Lane { server: Some(view.server.id), steps })
    };
    let lanes: Vec<Lane> = change.leaving().filter_map(lane).collect();
    (!lanes.is_empty()).then(|| Plan { lanes, wait: soon(removing(change)) })
}

pub(super) fn wait_for_stops(change: &Change) -> Option<Plan> {
    change.leaving().next().map(|_| pause(removing(change)))
}

fn removing(change: &Change) -> Vec<Condition> {
    change.leaving().map(|view| Reason::Removing.of(view.server.number)).collect()
}

/// None: its broker may still run. Its agent says when it has stopped, or its session ends.
fn next_of(change: &Change, view: &ServerView) -> Option<Step> {
    let server = view.server.id;
    let is_down = view.life() == Life::Stopped || !change.placed.serves(view.server.node_id);
    match (is_down, view.may_exist()) {
        (false, _) => None,
        (true, true) => Some(Step::Hibernate(server)),
        (true, false) => Some(Step::RemoveLeaving(server)),
    }
}
