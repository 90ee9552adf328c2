//! Towards no process at all: every broker is stopped in an orderly way, all at
//! once, because the last one alone would wait for a quorum that never comes
//! back; then the agents end. Disks and addresses stay.
//!
//! An agent stops its broker only under a ticket, so one is kept open until the
//! last has stopped. It is good under the lease of one pass: every pass that
//! still wants the stop opens it anew.

use super::{LOOK_AGAIN, LOOK_AT_HEALTHY, Lane, Plan, Step, Wait};
use crate::desired;
use crate::world::{ServerView, World};
use model::{Condition, Reason, ServerState};

pub(super) fn plan(world: &World) -> Plan {
    if world.instance.progress.ready_at.is_some() {
        // Started again halfway, it is ready only after a new login.
        let wait = Wait::new(Reason::ClusterStopping { refused: None }, LOOK_AGAIN);
        return Plan::whole(vec![Step::NoteStopping], wait);
    }
    let up: Vec<&ServerView> = world.servers.iter().filter(|view| view.may_exist()).collect();
    if up.is_empty() {
        return Plan::whole(last_steps(world), Wait::new(Reason::Stopped, LOOK_AT_HEALTHY));
    }
    let conditions = up.iter().map(|view| stopping(view)).collect();
    let wait = Wait { conditions, after: LOOK_AGAIN };
    if !world.ticket_lasts(None) {
        return Plan::whole(vec![Step::OpenTicket(None)], wait);
    }
    Plan { lanes: up.iter().map(|view| lane(world, view)).collect(), wait }
}

fn last_steps(world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    if world.ticket.is_some() {
        steps.push(Step::CloseTicket);
    }
    if world.instance.progress.observed_generation < world.reachable() {
        steps.push(Step::NoteStopped);
    }
    steps
}

fn stopping(view: &ServerView) -> Condition {
    let refused = view.waits_for_leave().cloned();
    Reason::ClusterStopping { refused }.of(view.server.number)
}

fn lane(world: &World, view: &ServerView) -> Lane {
    let server = view.server.id;
    let mut steps = Vec::new();
    if view.broker.is_some() && desired::differs(world, view) {
        steps.push(Step::Publish(server));
    }
    // One that was never seen made has not been told to run in this life.
    if view.is_stopped() || view.desired.is_none() || view.server.state != ServerState::Made {
        steps.push(Step::Hibernate(server));
    } else if !world.confirmed.contains(&server) {
        // Only its agent stops the broker in an orderly way.
        steps.push(Step::EnsureServer(server));
    }
    Lane { server: Some(server), steps }
}
