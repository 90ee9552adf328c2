//! One server at a time: brokers that shall be restarted, or that shall not run, while
//! their cluster goes on.
//!
//! A server is touched only when no other is missing or lagging: every broker that shall
//! run runs, every replica on them is in sync, and the rest can do without this one.
//! Unresponsive brokers go first (`unresponsive.rs`), because nothing but a restart helps
//! the clients that wait for them; the active controller goes last. A server whose turn has
//! begun keeps it until it is back, so a broker that does not come back ends the roll there,
//! with a reason. There is no timeout.

mod lagging;
mod leaders;
mod unresponsive;

use super::waits::reasons_to_wait;
use super::{LOOK_AGAIN, Plan, Step, Wait};
use crate::world::{Life, ServerView, World};
use kafka::safety::Look;
use lagging::{lagging, objections_to};
use model::condition::{Doing, FirstFew, Objection};
use model::{Action, Condition, Reason};
use std::time::Duration;

/// Kafka sends no event when a replica has caught up.
const LOOK_SOON: Duration = Duration::from_millis(250);
const LOOK_LATER: Duration = Duration::from_secs(1);

/// What is left of a roll. A restart, a change of settings and a stop of single servers
/// differ in which servers have which turn, and in nothing else.
struct Roll<'a> {
    world: &'a World,
    /// Servers whose brokers do not run though they should, or have not stopped though
    /// they should: no other server is touched.
    missing: Vec<&'a ServerView>,
    /// Servers whose agents have been told.
    leaving: Vec<Turn<'a>>,
    /// Servers whose turn comes later, in this order.
    due: Vec<Turn<'a>>,
    then: Then,
}

#[derive(Clone, Copy)]
struct Turn<'a> {
    view: &'a ServerView,
    doing: Doing,
}

/// What follows the last turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Then {
    /// Everything asked for was noted as reached before.
    Nothing,
    /// The generation is noted as reached.
    Reach,
}

/// The first part that has something to do, or to wait for, is the plan.
const PARTS: [fn(&Roll) -> Option<Plan>; 10] = [
    unresponsive::let_go,
    end_cancelled,
    wait_for_missing,
    accompany,
    close_ticket,
    look,
    wait_for_lagging,
    leaders::return_leaders,
    reach,
    next_turn,
];

/// None: every server is as it should be, and that is noted.
pub(super) fn plan(world: &World) -> Option<Plan> {
    let roll = Roll::read(world);
    PARTS.iter().find_map(|part| part(&roll))
}

impl<'a> Roll<'a> {
    fn read(world: &'a World) -> Self {
        let (mut missing, mut leaving, mut due) = (Vec::new(), Vec::new(), Vec::new());
        for view in &world.servers {
            match view.life() {
                // It may be gone for good, and has no part in what the others do.
                Life::Coming | Life::Stopping if view.server.is_leaving() => {}
                Life::Coming | Life::Stopping => missing.push(view),
                Life::Leaving(doing) => leaving.push(Turn { view, doing }),
                Life::Due(doing) => due.push(Turn { view, doing }),
                Life::Serving | Life::Stopped => {}
            }
        }
        let active = world.look.as_ref().and_then(Look::active_controller);
        due.sort_by_key(|turn| (Some(turn.node_id()) == active, turn.number()));
        let progress = &world.instance.progress;
        let is_noted = progress.observed_generation >= world.instance.generation;
        // Nothing is reached before servers have joined or left.
        let is_whole = progress.ready_at.is_some() && world.resize.is_none();
        let then = if is_whole && !is_noted { Then::Reach } else { Then::Nothing };
        Self { world, missing, leaving, due, then }
    }

    fn is_over(&self) -> bool {
        self.due.is_empty() && self.then == Then::Nothing
    }

    fn wait_as_planned(&self, steps: Vec<Step>) -> Plan {
        Plan::whole(steps, reasons_to_wait(self.world))
    }

    fn closing(&self) -> Vec<Step> {
        self.world.ticket.iter().map(|_| Step::CloseTicket).collect()
    }

    /// Whether the roll waits for a server. Before another turn it waits for all of them; at
    /// its end for those that have a part in what was asked, because what is wrong with
    /// another one may need an action of its own. A broker that only we get no answer from
    /// can't be restarted beside an open action, so nothing waits for it either.
    fn is_awaited(&self, view: &ServerView) -> bool {
        let is_meant = |it: &Action| it.cancelled_at.is_none() && it.is_about(view.server.number);
        let actions = &self.world.actions;
        let has_part = actions.is_empty() || actions.iter().any(is_meant);
        let can_be_helped =
            !self.world.is_unresponsive(view) || view.unresponsive_since().is_some();
        !self.due.is_empty() || has_part && can_be_helped
    }
}

impl Turn<'_> {
    fn node_id(&self) -> i32 {
        self.view.server.node_id
    }

    fn number(&self) -> u32 {
        self.view.server.number
    }
}

/// What was cancelled ends once no server is to stop any more, and those that were restarted
/// have their leaders back as far as that can be. A broker that has not come
/// back, or a replica that lags, may take for ever, and nothing else can be asked for
/// before the action has ended.
fn end_cancelled(roll: &Roll) -> Option<Plan> {
    let is_over = roll.due.is_empty() && roll.leaving.is_empty() && roll.then == Then::Reach;
    if !is_over || !roll.world.is_cancelled() {
        return None;
    }
    let is_whole = roll.missing.is_empty() && roll.world.ticket.is_none();
    if is_whole && roll.world.look.is_none() && roll.world.unseen.is_none() {
        return Some(look_first(roll.world));
    }
    let steps = || roll.closing().into_iter().chain([Step::Reach]).collect();
    let returning = is_whole.then(|| leaders::return_leaders(roll)).flatten();
    returning.or_else(|| Some(roll.wait_as_planned(steps())))
}

fn wait_for_missing(roll: &Roll) -> Option<Plan> {
    (!roll.missing.is_empty()).then(|| roll.wait_as_planned(roll.closing()))
}

/// A server whose agent has been told keeps its ticket for as long as the others can do
/// without it.
fn accompany(roll: &Roll) -> Option<Plan> {
    let turn = roll.leaving.first()?;
    if roll.world.look.is_none() {
        return Some(look_first(roll.world));
    }
    let objections = objections_to(roll.world, turn.view);
    if objections.is_empty() {
        return Some(let_stop(roll.world, turn));
    }
    let wait = soon(roll.world, vec![blocked(roll.world, turn, objections)]);
    Some(Plan::whole(roll.closing(), wait))
}

/// The server that the ticket was for is back, or its restart was cancelled.
fn close_ticket(roll: &Roll) -> Option<Plan> {
    roll.world.ticket.is_some().then(|| roll.wait_as_planned(vec![Step::CloseTicket]))
}

fn look(roll: &Roll) -> Option<Plan> {
    (!roll.is_over() && roll.world.look.is_none()).then(|| look_first(roll.world))
}

/// No server is touched before what lags has caught up, except one that lags because of
/// nothing but itself: it may never catch up, and the others do without it.
fn wait_for_lagging(roll: &Roll) -> Option<Plan> {
    let look = roll.world.look.as_ref().filter(|_| !roll.is_over())?;
    let reasons = lagging(roll.world, look, |view| roll.is_awaited(view), None);
    if reasons.is_empty() {
        return None;
    }
    let may_go = |turn: &&Turn| {
        lagging(roll.world, look, |_| true, Some(turn.view)).is_empty()
            && objections_to(roll.world, turn.view).is_empty()
    };
    let alone = roll.due.iter().find(may_go).map(open_ticket);
    Some(alone.unwrap_or_else(|| catching_up(roll, look, reasons)))
}

/// A server that lags and is to be restarted can be stopped and started instead, once this
/// is cancelled.
fn catching_up(roll: &Roll, look: &Look, reasons: Vec<Objection>) -> Plan {
    let lagging = look.lagging();
    let lags = |turn: &&Turn| lagging.iter().any(|lag| lag.node == turn.node_id());
    let mut restarts = roll.due.iter().filter(|turn| turn.doing == Doing::Restarting);
    let or_stop = restarts.find(lags).map(Turn::number);
    let condition = Reason::CatchingUp { objections: FirstFew::few(reasons), or_stop }.into();
    Plan::whole(vec![], soon(roll.world, vec![condition]))
}

fn reach(roll: &Roll) -> Option<Plan> {
    let is_last = roll.due.is_empty() && roll.then == Then::Reach;
    is_last.then(|| roll.wait_as_planned(vec![Step::Reach]))
}

/// Opens the ticket of the first server that the others can do without. The active
/// controller is not touched while another server is due.
fn next_turn(roll: &Roll) -> Option<Plan> {
    let active = roll.world.look.as_ref()?.active_controller();
    let is_last = |turn: &&Turn| Some(turn.node_id()) == active && roll.due.len() > 1;
    let mut conditions = Vec::new();
    for turn in roll.due.iter().filter(|turn| !is_last(turn)) {
        let objections = objections_to(roll.world, turn.view);
        if objections.is_empty() {
            return Some(open_ticket(turn));
        }
        conditions.push(blocked(roll.world, turn, objections));
    }
    (!conditions.is_empty()).then(|| Plan::whole(vec![], soon(roll.world, conditions)))
}

fn open_ticket(turn: &Turn) -> Plan {
    let next = Reason::Next { doing: turn.doing }.of(turn.number());
    let wait = Wait::new(next, LOOK_SOON);
    Plan::whole(vec![Step::OpenTicket(Some(turn.view.server.id))], wait)
}

/// Keeps the ticket of a server open, and says what its agent makes of it.
fn let_stop(world: &World, turn: &Turn) -> Plan {
    let server = turn.view.server.id;
    let lasts = world.ticket_lasts(Some(server));
    let steps = if lasts { vec![] } else { vec![Step::OpenTicket(Some(server))] };
    let reason = Reason::Leaving {
        doing: turn.doing,
        unresponsive: world.is_unresponsive(turn.view),
        refused: turn.view.waits_for_leave().cloned(),
    };
    Plan::whole(steps, Wait::new(reason.of(turn.number()), LOOK_AGAIN / 5))
}

/// Asks the brokers, once in a pass.
fn look_first(world: &World) -> Plan {
    let Some(error) = &world.unseen else {
        return Plan::whole(vec![Step::Look], reasons_to_wait(world));
    };
    Plan::whole(vec![], Wait::new(Reason::Unseen { error: error.clone() }, LOOK_LATER))
}

/// Why a server's turn has not come, with those that could be started to help.
fn blocked(world: &World, turn: &Turn, objections: Vec<Objection>) -> Condition {
    let is_other = |other: &&ServerView| other.server.id != turn.view.server.id;
    let stopped =
        world.servers.iter().filter(is_other).filter(|other| other.server.wanted.is_stopped());
    let reason = Reason::Blocked {
        doing: turn.doing,
        stopped: stopped.map(|other| other.server.number).collect(),
        objections: FirstFew::few(objections),
    };
    reason.of(turn.number())
}

/// Soon while conditions change; what stays as it is noted is looked at less often.
fn soon(world: &World, conditions: Vec<Condition>) -> Wait {
    let noted = &world.instance.progress.conditions;
    let is_noted = noted.len() == conditions.len()
        && noted.iter().zip(&conditions).all(|(noted, new)| noted.says_the_same(new));
    Wait { conditions, after: if is_noted { LOOK_LATER } else { LOOK_SOON } }
}
