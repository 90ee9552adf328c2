//! Towards a running cluster: make what is missing, tell the agents, wait for
//! the brokers, then let the customer in.

use super::{Lane, Plan, Step, Wait, renewal, restart, waits};
use crate::desired;
use crate::world::{ServerView, World};
use model::{DiskState, ServerId, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

pub(super) fn plan(world: &World) -> Plan {
    let due = renewal::due(world);
    let wait = until_renewal(world, &due, waits::reasons_to_wait(world));
    // A stop of all servers that was taken back.
    if world.ticket.as_ref().is_some_and(|ticket| ticket.server_id.is_none()) {
        return Plan::whole(vec![Step::CloseTicket], wait);
    }
    if !world.instance.progress.network_made {
        return Plan::whole(vec![Step::MakeNetwork], wait);
    }
    let mut lanes: Vec<Lane> = world.servers.iter().map(|view| lane(world, view, &due)).collect();
    // A server that is stopped or unresponsive reads it in Kafka when it is back.
    let inside = is_changed_inside(world) && quorum_runs(world, &lanes);
    if lanes.iter().any(|lane| !lane.steps.is_empty()) {
        if inside {
            lanes.push(Lane { server: None, steps: vec![Step::SetCredentials] });
        }
        return Plan { lanes, wait };
    }
    if inside {
        return Plan::whole(vec![Step::SetCredentials], wait);
    }
    // Customers of a cluster that was stopped come in again without a server
    // that is held: the others can do without it, or it would not be ready.
    if world.instance.progress.credentials_set && all_run_or_are_held(world) {
        let steps = customer_steps(world);
        if !steps.is_empty() {
            return Plan::whole(steps, wait);
        }
    }
    if let Some(plan) = restart::plan(world) {
        return plan;
    }
    if world.servers.iter().all(|view| view.server.stopped || view.is_current()) {
        return Plan::whole(customer_steps(world), wait);
    }
    Plan { lanes, wait }
}

/// Whether customers are in, and something that Kafka keeps was changed since.
fn is_changed_inside(world: &World) -> bool {
    let instance = &world.instance;
    let is_behind = instance.progress.kafka_observed < instance.kafka_generation;
    instance.ready() && (is_behind || world.is_to_slow_or_let_go())
}

/// Whether as many controllers run as it takes to write anything down. Of a server that
/// lacks something nobody knows that: its report may be of a broker that is gone.
fn quorum_runs(world: &World, lanes: &[Lane]) -> bool {
    let lacks = |view: &ServerView| {
        let of_it = |lane: &&Lane| lane.server == Some(view.server.id);
        lanes.iter().filter(of_it).any(|lane| !lane.steps.is_empty())
    };
    world.quorum_has(|view| view.is_up() && !world.is_unresponsive(view) && !lacks(view))
}

fn all_run_or_are_held(world: &World) -> bool {
    let of = |is: fn(&ServerView) -> bool| world.servers.iter().filter(|view| is(view)).count();
    let running = of(ServerView::is_current);
    let held = of(|view| !view.server.stopped && view.is_held());
    let stopped = of(|view| view.server.stopped);
    running > held && running + held + stopped == world.servers.len()
}

/// The same wait, but not beyond the next renewal of a certificate.
fn until_renewal(world: &World, due: &HashMap<ServerId, Timestamp>, wait: Wait) -> Wait {
    let next = due.values().min();
    let left = next.and_then(|at| Duration::try_from(at.duration_since(world.now)).ok());
    Wait { after: left.map_or(wait.after, |left| left.min(wait.after)), ..wait }
}

/// What one server lacks, in the order it must come.
fn lane(world: &World, view: &ServerView, due: &HashMap<ServerId, Timestamp>) -> Lane {
    let server = view.server.id;
    let mut steps = Vec::new();
    match view.disk.as_ref().map(|disk| (disk.id, disk.state)) {
        Some((disk, DiskState::Planned)) => steps.push(Step::MakeDisk(disk)),
        // The row says so before any agent can format: a disk that is empty
        // later is lost, not new.
        Some((disk, DiskState::Made)) => steps.push(Step::AllowFormat(disk)),
        Some((disk, DiskState::Formatting)) if view.is_up() => steps.push(Step::SealFormat(disk)),
        _ => {}
    }
    if view.broker.is_none() {
        steps.push(Step::Render(server));
    }
    if !world.confirmed.contains(&server) {
        steps.push(Step::EnsureServer(server));
    }
    if due.get(&server).is_some_and(|at| *at <= world.now) {
        steps.push(Step::RenewCertificates(server));
    }
    if !view.unanswered().is_empty() {
        steps.push(Step::IssueCertificates(server));
    }
    if view.broker.is_some() && desired::differs(world, view) {
        steps.push(Step::Publish(server));
    }
    Lane { server: Some(server), steps }
}

/// What the customer needs once every broker runs.
fn customer_steps(world: &World) -> Vec<Step> {
    let progress = &world.instance.progress;
    let mut steps = Vec::new();
    let inside = world.instance.kafka_generation;
    if !progress.credentials_set || progress.kafka_observed < inside {
        steps.push(Step::SetCredentials);
    }
    if progress.ready_at.is_none() {
        steps.push(Step::CheckLogin);
    }
    steps
}
