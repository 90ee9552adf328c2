//! One server at a time: brokers that shall be started anew, or that shall not
//! run, while their cluster goes on.
//!
//! A server is touched only when no other is missing or lagging: every broker that shall
//! run runs, every replica on them is in sync, and the rest can do without this one. Servers
//! that don't run anyway come first, then those whose brokers are unresponsive
//! (`unresponsive.rs`), the active controller last. Nobody else is touched before an
//! unresponsive broker, because nothing but its restart helps whoever waits for it. What was
//! begun is accompanied to its end before the next is looked at, so a broker that does not
//! come back ends the matter there, with a reason. There is no timeout.

mod lagging;
mod unresponsive;

use super::waits::reasons_to_wait;
use super::{LOOK_AGAIN, Plan, Step, Wait};
use crate::world::{ServerView, World};
use kafka::safety::Look;
use lagging::{lagging, objections_to};
use model::condition::{Doing, FirstFew, Objection};
use model::{Action, Condition, Reason, Server};
use std::time::Duration;
use wire::agent::{Phase, Run};

/// Kafka tells nobody that a copy has caught up.
const LOOK_SOON: Duration = Duration::from_millis(250);
const LOOK_LATER: Duration = Duration::from_secs(1);

/// None: every server is as it should be, and nothing waits for a last look.
pub(super) fn plan(world: &World) -> Option<Plan> {
    if let Some(plan) = unresponsive::plan(world) {
        return Some(plan);
    }
    let mut moving: Vec<&ServerView> =
        world.servers.iter().filter(|view| view.is_moving()).collect();
    // Whoever has left is brought back before anybody else leaves.
    moving.sort_by_key(|view| view.is_up());
    if let Some(first) = moving.first() {
        return Some(accompany(world, first));
    }
    if world.ticket.is_some() {
        // Nobody wants it any more.
        return Some(Plan::whole(vec![Step::CloseTicket], reasons_to_wait(world)));
    }
    if world.servers.iter().any(ServerView::is_on_its_way) {
        return Some(Plan::whole(vec![], reasons_to_wait(world)));
    }
    let due: Vec<&ServerView> = world.servers.iter().filter(|view| view.is_due()).collect();
    if due.is_empty() && !is_unfinished(world) {
        return None;
    }
    if due.is_empty() && world.is_cancelled() {
        return Some(Plan::whole(vec![Step::Reach], reasons_to_wait(world)));
    }
    let Some(look) = &world.look else { return Some(look_first(world)) };
    let awaited = |view: &ServerView| !due.is_empty() || is_awaited(world, view);
    let reasons = lagging(world, look, awaited, None);
    if !reasons.is_empty() {
        let alone = alone(world, look, &due);
        return Some(alone.unwrap_or_else(|| catching_up(world, look, &due, reasons)));
    }
    if due.is_empty() {
        return Some(Plan::whole(vec![Step::Reach], reasons_to_wait(world)));
    }
    Some(next(world, look, due))
}

/// Customers are in, but what was last asked for has not been noted as reached.
fn is_unfinished(world: &World) -> bool {
    let progress = &world.instance.progress;
    progress.ready_at.is_some() && progress.observed_generation < world.instance.generation
}

/// Whether the end of what was asked waits for a server. It does not for one that is
/// unresponsive and has no part in it: that has to end before anybody can see to this
/// server. One that has a part and does not answer its agent either can be restarted
/// meanwhile.
fn is_awaited(world: &World, view: &ServerView) -> bool {
    let Server { number, .. } = view.server;
    let has_part = |action: &Action| action.cancelled_at.is_none() && action.is_about(number);
    let can_be_seen_to = view.unresponsive_since().is_some() && world.actions.iter().any(has_part);
    !world.is_unresponsive(view) || can_be_seen_to
}

/// Asks the brokers, once in a pass.
fn look_first(world: &World) -> Plan {
    let Some(error) = &world.unseen else {
        return Plan::whole(vec![Step::Look], reasons_to_wait(world));
    };
    Plan::whole(vec![], Wait::new(Reason::Unseen { error: error.clone() }, LOOK_LATER))
}

/// The turn of a server that waits for nothing but itself: what lags there may never
/// catch up, and nobody misses it.
fn alone(world: &World, look: &Look, due: &[&ServerView]) -> Option<Plan> {
    let may_go = |view: &&ServerView| {
        lagging(world, look, |_| true, Some(*view)).is_empty()
            && objections_to(world, view).is_empty()
    };
    due.iter().copied().find(may_go).map(turn_of)
}

/// Nobody is touched before what lags has caught up. Where that is a server that is
/// to be restarted itself, there is another way for whoever can't wait.
fn catching_up(world: &World, look: &Look, due: &[&ServerView], reasons: Vec<Objection>) -> Plan {
    let lagging = look.lagging();
    let lags = |view: &&ServerView| lagging.iter().any(|lag| lag.node == view.server.node_id);
    let mut restarts = due.iter().copied().filter(|view| !view.server.stopped);
    let or_stop = restarts.find(lags).map(|view| view.server.number);
    let objections = FirstFew::few(reasons);
    let condition = Reason::CatchingUp { objections, or_stop }.into();
    Plan::whole(vec![], soon(world, vec![condition]))
}

/// Lets the server whose turn it is stop, as soon as the others can do without.
fn next(world: &World, look: &Look, mut due: Vec<&ServerView>) -> Plan {
    let active = look.active_controller();
    due.sort_by_key(|view| (Some(view.server.node_id) == active, view.server.number));
    let is_last = |view: &&ServerView| Some(view.server.node_id) == active && due.len() > 1;
    let mut conditions = Vec::new();
    for view in due.iter().filter(|view| !is_last(view)) {
        let objections = objections_to(world, view);
        if objections.is_empty() {
            return turn_of(view);
        }
        conditions.push(blocked(world, view, objections));
    }
    Plan::whole(vec![], soon(world, conditions))
}

fn turn_of(view: &ServerView) -> Plan {
    let next = Reason::Next { doing: view.doing() }.of(view.server.number);
    let wait = Wait::new(next, LOOK_SOON);
    Plan::whole(vec![Step::OpenTicket(Some(view.server.id))], wait)
}

/// Why a server's turn has not come, with those that could be started to help.
fn blocked(world: &World, view: &ServerView, objections: Vec<Objection>) -> Condition {
    let is_other = |other: &&ServerView| other.server.id != view.server.id;
    let stopped = world.servers.iter().filter(is_other).filter(|other| other.server.stopped);
    let reason = Reason::Blocked {
        doing: view.doing(),
        stopped: stopped.map(|other| other.server.number).collect(),
        objections: FirstFew::few(objections),
    };
    reason.of(view.server.number)
}

/// With a server that has been told: leave to stop for as long as the others
/// can do without it, and then all the time it takes.
fn accompany(world: &World, view: &ServerView) -> Plan {
    let close = || -> Vec<Step> { world.ticket.iter().map(|_| Step::CloseTicket).collect() };
    if !view.is_up() {
        return Plan::whole(close(), reasons_to_wait(world));
    }
    if world.look.is_none() {
        return look_first(world);
    }
    let objections = objections_to(world, view);
    if !objections.is_empty() {
        let wait = soon(world, vec![blocked(world, view, objections)]);
        return Plan::whole(close(), wait);
    }
    let_stop(world, view)
}

/// Keeps the ticket of a server open, and tells what its agent makes of it.
fn let_stop(world: &World, view: &ServerView) -> Plan {
    let lasts = world.ticket_lasts(Some(view.server.id));
    let steps = if lasts { vec![] } else { vec![Step::OpenTicket(Some(view.server.id))] };
    let reason = Reason::Leaving {
        doing: view.doing(),
        unresponsive: world.is_unresponsive(view),
        refused: view.waits_for_leave().cloned(),
    };
    Plan::whole(steps, Wait::new(reason.of(view.server.number), LOOK_AGAIN / 5))
}

/// Soon while something moves; what stays as it is told already is looked at less often.
fn soon(world: &World, conditions: Vec<Condition>) -> Wait {
    let told = &world.instance.progress.conditions;
    let is_told = told.len() == conditions.len()
        && told.iter().zip(&conditions).all(|(told, new)| told.says_the_same(new));
    Wait { conditions, after: if is_told { LOOK_LATER } else { LOOK_SOON } }
}

impl ServerView {
    /// Whether its broker runs, but not for what it should, or should not.
    fn is_due(&self) -> bool {
        self.is_up() && (self.server.stopped || !self.is_current())
    }

    /// Whether it is about to run, or, though it shall stop, to run first: one
    /// that starts may be in recovery, and is let come up.
    fn is_on_its_way(&self) -> bool {
        if self.server.stopped {
            let phase = self.current_report().map(|report| report.phase);
            return matches!(phase, Some(Phase::Starting | Phase::Stopping));
        }
        !self.is_up()
    }

    /// Whether its agent has been told to stop its broker, or start it anew, and
    /// has not done so.
    fn is_moving(&self) -> bool {
        let Some(told) = &self.desired else { return false };
        if self.server.stopped {
            return told.run == Run::Stopped && !self.is_stopped();
        }
        told.launch == self.server.launch && !self.is_current()
    }

    fn doing(&self) -> Doing {
        if self.server.stopped { Doing::Stopping } else { Doing::Restarting }
    }
}
