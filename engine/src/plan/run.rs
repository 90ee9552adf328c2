//! Towards a running cluster: make what is missing, tell the agents, wait for
//! the brokers, then let the customer in.

use super::{LOOK_AGAIN, LOOK_AT_HEALTHY, Plan, Step, Wait};
use crate::desired;
use crate::world::{ServerView, World};
use model::DiskState;
use wire::agent::{Phase, Report};

pub(super) fn plan(world: &World) -> Plan {
    let mut steps = Vec::new();
    if !world.instance.progress.network_made {
        steps.push(Step::MakeNetwork);
    }
    for view in &world.servers {
        steps.extend(server_steps(world, view));
    }
    if steps.is_empty() && world.servers.iter().all(ServerView::runs) {
        steps.extend(customer_steps(world));
    }
    Plan { steps, wait: wait(world) }
}

/// What one server lacks, in the order it must come.
fn server_steps(world: &World, view: &ServerView) -> Vec<Step> {
    let server = view.server.id;
    let mut steps = Vec::new();
    if let Some(disk) = &view.disk {
        match disk.state {
            DiskState::Planned => steps.push(Step::MakeDisk(disk.id)),
            // The row says so before any agent can format: a disk that is
            // empty later is lost, not new.
            DiskState::Made => steps.push(Step::AllowFormat(disk.id)),
            DiskState::Formatting if view.runs() => steps.push(Step::SealFormat(disk.id)),
            DiskState::Formatting | DiskState::Formatted => {}
        }
    }
    if view.broker.is_none() {
        steps.push(Step::Render(server));
    }
    if !view.unanswered().is_empty() {
        steps.push(Step::IssueCertificates(server));
    }
    if view.broker.is_some() && desired::differs(world, view) {
        steps.push(Step::Publish(server));
    }
    if !world.confirmed.contains(&server) {
        steps.push(Step::EnsureServer(server));
    }
    steps
}

/// What the customer needs once every broker runs.
fn customer_steps(world: &World) -> Vec<Step> {
    let progress = &world.instance.progress;
    let mut steps = Vec::new();
    if !progress.credentials_set {
        steps.push(Step::SetCredentials);
    }
    if progress.ready_at.is_none() {
        steps.push(Step::CheckLogin);
    }
    if progress.observed_generation < world.instance.generation {
        steps.push(Step::Reach);
    }
    steps
}

fn wait(world: &World) -> Wait {
    let waits: Vec<String> = world.servers.iter().filter_map(server_wait).collect();
    if waits.is_empty() {
        return Wait { reason: "running".into(), after: LOOK_AT_HEALTHY };
    }
    Wait { reason: waits.join("; "), after: LOOK_AGAIN }
}

/// Why a server does not run yet, in words.
fn server_wait(view: &ServerView) -> Option<String> {
    let title = view.title();
    let Some(report) = view.current_report() else {
        return Some(format!("waiting: the agent of {title} has not reported yet"));
    };
    if view.runs() {
        return None;
    }
    let wait = match report.phase {
        Phase::Failed => failure(&title, report),
        Phase::Running => format!("{title} runs with an older configuration"),
        Phase::Starting => format!("waiting: the broker of {title} is starting"),
        Phase::Stopping => format!("waiting: the broker of {title} is stopping"),
        Phase::Stopped => format!("the broker of {title} is stopped"),
        Phase::Preparing if report.detail.is_empty() => format!("waiting: {title} is preparing"),
        Phase::Preparing => format!("waiting: {title}: {}", report.detail),
    };
    Some(wait)
}

fn failure(title: &str, report: &Report) -> String {
    if let Some(fault) = &report.disk_fault {
        return format!("{title} is held: {fault}");
    }
    let mut text = format!("{title} does not stay up: {}", report.detail);
    if !report.log_tail.is_empty() {
        text.push_str("; its log ends with: ");
        text.push_str(&report.log_tail.join(" | "));
    }
    text
}
