//! More servers, fewer, or the same more evenly used: what comes next, worked out anew each
//! time from the servers' rows and from one look at all replicas and the quorum.
//!
//! *Growing*: new servers come up; their controllers get votes, one right after the other;
//! replicas move; min ISR rises; throttles go; the servers that were there before are
//! restarted where new topics are to have more replicas. *Shrinking*: servers that stay are
//! restarted where new topics are to have fewer; leaving brokers get no new replicas; min ISR
//! falls; replicas move; and only once nothing is left on them leaving controllers lose their
//! votes, brokers stop under a ticket, and servers are removed. A change that is undone is a
//! change the other way, by the same rules; only where it leaves two voters, one of them loses
//! its vote at once. Where a server that leaves is gone, staying ones are restarted last.
//!
//! Whatever a roll has to do comes first: servers that start, or are to be restarted. Only a
//! restart that may not be now, for want of a leaving server that is gone, waits for the change
//! instead; and a broker does not stop while its controller is one of two that vote.

mod join;
mod leave;
mod min_isr;
mod moves;
mod restart;
mod votes;

use super::{LOOK_AGAIN, Plan, Step, Wait, roll};
use crate::world::{Life, Placed, ServerView, World};
use model::condition::{Doing, Place};
use model::{Condition, Reason, Resize};
use std::time::Duration;

/// While replicas move, or while Kafka is waited for, which sends no event.
const LOOK_SOON: Duration = Duration::from_secs(1);

/// What all parts look at.
struct Change<'a> {
    world: &'a World,
    resize: &'a Resize,
    placed: &'a Placed,
}

/// The first part that has something to do, or to wait for, is the plan.
const BEFORE_STOPS: [fn(&Change) -> Option<Plan>; 19] = [
    votes::leave_none_of_two,
    min_isr::put_back_mended,
    min_isr::hold,
    join::wait_for_joining,
    restart::before_shrinking,
    moves::cordon,
    min_isr::lower,
    votes::add_voters,
    moves::note_replicas,
    leave::start_again,
    moves::move_replicas,
    min_isr::raise,
    min_isr::put_back_all,
    moves::end_throttles,
    restart::once_moved,
    leave::begin_removing,
    votes::remove_voters,
    leave::ask_to_stop,
    leave::remove_stopped,
];

/// After leaving brokers have stopped.
const AFTER_STOPS: [fn(&Change) -> Option<Plan>; 2] =
    [leave::wait_for_stops, restart::after_removing];

/// None: nothing changes, or a roll comes first.
pub(super) fn plan(world: &World) -> Option<Plan> {
    let resize = world.resize.as_ref()?;
    if !world.instance.ready() {
        return None;
    }
    if is_rolling(world) {
        return end_beside_roll(world, resize);
    }
    if is_roll_due(world) && !is_held_by_leaving(world) {
        return one_voter_of_two(world, resize).or_else(|| end_beside_roll(world, resize));
    }
    let Some(placed) = world.placed() else { return Some(look_first(world)) };
    planned(&Change { world, resize, placed })
}

/// None: a roll stops leaving brokers first.
fn planned(change: &Change) -> Option<Plan> {
    let planned = BEFORE_STOPS.iter().find_map(|part| part(change));
    if planned.is_some() || leave::is_stopping(change.world) {
        return planned;
    }
    let planned = AFTER_STOPS.iter().find_map(|part| part(change));
    // Everything is where it should be.
    planned.or_else(|| Some(change.act(Step::EndResize)))
}

/// A rebalance that was cancelled needs no broker that is down. That may be so for ever, and
/// nothing else can be asked for before it has ended. The roll goes on where this has nothing to
/// do.
fn end_beside_roll(world: &World, resize: &Resize) -> Option<Plan> {
    if !(resize.undo && resize.is_rebalance()) || world.unseen.is_some() {
        return None;
    }
    let Some(placed) = world.placed() else { return Some(look_first(world)) };
    planned(&Change { world, resize, placed }).filter(Plan::has_step)
}

/// The steps that end a rebalance which was cancelled, beside what servers lack.
pub(super) fn steps_to_end(world: &World) -> Vec<Step> {
    let cancelled = world.resize.as_ref().filter(|_| world.instance.ready());
    let plan = cancelled.and_then(|resize| end_beside_roll(world, resize));
    plan.into_iter().flat_map(|plan| plan.lanes).flat_map(|lane| lane.steps).collect()
}

/// Servers that leave are no reason: they may be gone for good.
fn is_rolling(world: &World) -> bool {
    let is_of_leaving = |id| {
        let mut views = world.servers.iter();
        views.any(|view| Some(view.server.id) == id && view.server.is_leaving())
    };
    let has_turn = world.ticket.as_ref().is_some_and(|it| !is_of_leaving(it.server_id));
    let is_busy = |view: &ServerView| match view.life() {
        Life::Serving
        | Life::Stopped
        | Life::Due(Doing::Restarting)
        | Life::Leaving(Doing::Restarting) => false,
        _ => !view.server.is_leaving(),
    };
    has_turn || world.servers.iter().any(is_busy)
}

/// A server whose agent was told to restart it, and that has no ticket, has not stopped.
fn is_roll_due(world: &World) -> bool {
    let is_due = |view: &ServerView| match view.life() {
        Life::Due(Doing::Restarting) => true,
        Life::Leaving(Doing::Restarting) => !world.may_be_gone(view),
        _ => false,
    };
    world.servers.iter().any(is_due)
}

/// The quorum would stand still while either of two restarts.
fn one_voter_of_two(world: &World, resize: &Resize) -> Option<Plan> {
    if !(resize.undo || resize.removing) || world.unseen.is_some() {
        return None;
    }
    let Some(placed) = world.placed() else { return Some(look_first(world)) };
    votes::leave_none_of_two(&Change { world, resize, placed }).filter(Plan::has_step)
}

/// Whether no broker can be restarted now, and what is missing for it may be missing for ever:
/// a server that leaves is gone, and what it held has not moved yet.
fn is_held_by_leaving(world: &World) -> bool {
    leave::is_one_gone(world) && !roll::plan(world).is_some_and(|plan| plan.has_step())
}

fn look_first(world: &World) -> Plan {
    let Some(error) = &world.unseen else {
        let wait =
            Wait { after: LOOK_AGAIN, conditions: world.instance.progress.conditions.clone() };
        return Plan::whole(vec![Step::Place], wait);
    };
    Plan::whole(vec![], Wait::new(Reason::Unseen { error: error.clone() }, LOOK_SOON))
}

fn soon(conditions: Vec<Condition>) -> Wait {
    Wait { conditions, after: LOOK_SOON }
}

fn pause(conditions: Vec<Condition>) -> Plan {
    Plan::whole(vec![], soon(conditions))
}

impl Change<'_> {
    /// One step, beside what can be told of replicas.
    fn act(&self, step: Step) -> Plan {
        Plan::whole(vec![step], soon(vec![moves::progress(self)]))
    }

    fn leaving(&self) -> impl Iterator<Item = &ServerView> {
        self.world.servers.iter().filter(|view| view.server.is_leaving())
    }

    fn place(&self, node: i32) -> Place {
        let mut views = self.world.servers.iter();
        let found = views.find(|view| view.server.node_id == node);
        found.map_or(Place::Node(node), |view| Place::Server(view.server.number))
    }
}
