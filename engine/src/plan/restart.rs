//! One server at a time: brokers that shall be started anew, or that shall not
//! run, while their cluster goes on.
//!
//! A server is touched only when nobody else is away or behind: every broker
//! that shall run runs, every copy on them is in sync, and the rest can do
//! without this one. Servers that don't run anyway come first, the active
//! controller last. What was begun is accompanied to its end before the next is
//! looked at, so a broker that does not come back ends the matter there, with a
//! reason. There is no timeout.

use super::{LOOK_AGAIN, Plan, Step, Wait, waits};
use crate::world::{ServerView, World};
use kafka::safety::{Lagging, Look, Need, some_of};
use model::SignedDuration;
use std::time::Duration;

/// Kafka tells nobody that a copy has caught up.
const LOOK_SOON: Duration = Duration::from_millis(250);
/// Half a ticket's life.
const SPARE: SignedDuration = SignedDuration::from_secs(5);

/// None: every server is as it should be, and nothing waits for a last look.
pub(super) fn plan(world: &World) -> Option<Plan> {
    if let Some(moving) = world.servers.iter().find(|view| view.is_moving()) {
        return Some(accompany(world, moving));
    }
    if world.ticket.is_some() {
        // Nobody wants it any more.
        return Some(Plan::whole(vec![Step::CloseTicket], waits::of(world)));
    }
    if world.servers.iter().any(|view| !view.server.stopped && !view.is_up()) {
        return Some(Plan::whole(vec![], waits::of(world)));
    }
    let due: Vec<&ServerView> = world.servers.iter().filter(|view| view.is_due()).collect();
    if due.is_empty() && !is_unfinished(world) {
        return None;
    }
    let Some(look) = &world.look else { return Some(look_first(world)) };
    if let Some(wait) = waits_for_copies(world, look) {
        return Some(Plan::whole(vec![], wait));
    }
    if due.is_empty() {
        return Some(Plan::whole(vec![Step::Reach], waits::of(world)));
    }
    Some(next(look, due))
}

/// Customers are in, but what was last asked for has not been noted as reached.
fn is_unfinished(world: &World) -> bool {
    let progress = &world.instance.progress;
    progress.ready_at.is_some() && progress.observed_generation < world.instance.generation
}

fn look_first(world: &World) -> Plan {
    Plan::whole(vec![Step::Look], waits::of(world))
}

/// Lets the server whose turn it is stop, as soon as the others can do without.
fn next(look: &Look, mut due: Vec<&ServerView>) -> Plan {
    let active = look.active_controller();
    due.sort_by_key(|view| (Some(view.server.node_id) == active, view.server.number));
    let is_last = |view: &&ServerView| Some(view.server.node_id) == active && due.len() > 1;
    let mut reasons = Vec::new();
    for view in due.iter().filter(|view| !is_last(view)) {
        let objections = look.objections(view.server.node_id, view.need());
        if objections.is_empty() {
            let wait = Wait { reason: format!("{} is next", view.doing()), after: LOOK_SOON };
            return Plan::whole(vec![Step::OpenTicket(Some(view.server.id))], wait);
        }
        reasons.push(format!("waiting before {}: {}", view.doing(), some_of(&objections)));
    }
    Plan::whole(vec![], Wait { reason: reasons.join("; "), after: LOOK_SOON })
}

/// With a server that has been told: leave to stop for as long as the others
/// can do without it, and then all the time it takes.
fn accompany(world: &World, view: &ServerView) -> Plan {
    let ticket = world.ticket.as_ref();
    if !view.is_up() {
        let steps = ticket.map(|_| Step::CloseTicket);
        return Plan::whole(steps.into_iter().collect(), waits::of(world));
    }
    let Some(look) = &world.look else { return look_first(world) };
    let objections = look.objections(view.server.node_id, view.need());
    if !objections.is_empty() {
        let reason = format!("waiting before {}: {}", view.doing(), some_of(&objections));
        let steps = ticket.map(|_| Step::CloseTicket).into_iter().collect();
        return Plan::whole(steps, Wait { reason, after: LOOK_SOON });
    }
    let lasts = ticket.is_some_and(|ticket| {
        ticket.server_id == Some(view.server.id)
            && ticket.epoch == world.epoch
            && ticket.left > SPARE
    });
    let steps = (!lasts).then_some(Step::OpenTicket(Some(view.server.id)));
    let wait = Wait { reason: format!("waiting: {}", view.doing()), after: LOOK_AGAIN / 5 };
    Plan::whole(steps.into_iter().collect(), wait)
}

/// Copies on servers that run but have not caught up.
fn waits_for_copies(world: &World, look: &Look) -> Option<Wait> {
    let lagging = look.lagging();
    let words = |lag: &Lagging| {
        let of = world.servers.iter().find(|view| view.server.node_id == lag.node);
        let server = of.map_or_else(|| format!("node {}", lag.node), ServerView::title);
        let Lagging { partition, in_sync, replicas, .. } = lag;
        format!("{partition} has {in_sync} of {replicas} replicas in sync, {server} is behind")
    };
    let mut sentences = silent(world, look);
    sentences.extend(lagging.iter().map(words));
    let reason = format!("waiting: {}", some_of(&sentences));
    (!sentences.is_empty()).then_some(Wait { reason, after: LOOK_SOON })
}

/// Servers that run but don't answer, or lack metadata.
fn silent(world: &World, look: &Look) -> Vec<String> {
    let mut sentences = Vec::new();
    for view in world.servers.iter().filter(|view| view.is_up()) {
        let (node, title) = (view.server.node_id, view.title());
        if view.server.is_broker() && !look.views.contains_key(&node) {
            sentences.push(format!("{title} does not answer"));
        } else if !look.controllers_behind(&[node]).is_empty() {
            sentences.push(format!("the controller of {title} is behind"));
        }
    }
    sentences
}

impl ServerView {
    /// Whether its broker runs, but not for what it should, or should not.
    fn is_due(&self) -> bool {
        self.is_up() && if self.server.stopped { true } else { !self.is_current() }
    }

    /// Whether its agent has been told to stop its broker, or start it anew, and
    /// has not done so.
    fn is_moving(&self) -> bool {
        let Some(told) = &self.desired else { return false };
        if self.server.stopped {
            return told.run == wire::agent::Run::Stopped && !self.is_stopped();
        }
        told.launch == self.server.launch && !self.is_current()
    }

    fn need(&self) -> Need {
        if self.server.stopped { Need::Stays } else { Need::Returns }
    }

    /// In words that complete "waiting before …".
    fn doing(&self) -> String {
        let verb = if self.server.stopped { "stopping" } else { "restarting" };
        format!("{verb} {}", self.title())
    }
}
