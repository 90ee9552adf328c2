//! Tables of plans: a cluster in some situation, and what the engine does next. Each row
//! reads as "given this cluster, the plan is that".

mod changed;
mod cluster;
mod created;
mod disks;
mod grown;
mod renewed;
mod rolled;
mod shrunk;
mod stopped;
mod waiting;

use super::{Lane, Plan, Step, plan};
use cluster::Cluster;
use model::condition::{FirstFew, Objection};
use model::{Condition, Reason};
use serde_json::{Value, to_value};

/// `expected` is what [`said`] makes of the plan.
#[track_caller]
fn check(cluster: Cluster, expected: &str) {
    assert_eq!(said(&plan(&cluster.world())), expected);
}

/// The steps of every lane, such as `1: render, publish | 2: publish`; `each:` where all
/// servers have the same, and no number for the instance as a whole. Without a step, what
/// it waits for, with the number of the server that is meant.
fn said(plan: &Plan) -> String {
    let lanes: Vec<&Lane> = plan.lanes.iter().filter(|lane| !lane.steps.is_empty()).collect();
    if lanes.is_empty() {
        let conditions: Vec<String> = plan.wait.conditions.iter().map(condition).collect();
        return format!("wait: {}", conditions.join(", "));
    }
    let steps = |lane: &Lane| lane.steps.iter().map(step).collect::<Vec<_>>().join(", ");
    let first = steps(lanes[0]);
    let is_same = |lane: &&Lane| lane.server.is_some() && steps(lane) == first;
    if lanes.len() > 1 && lanes.len() == plan.lanes.len() && lanes.iter().all(is_same) {
        return format!("each: {first}");
    }
    let lane = |lane: &&Lane| match lane.server {
        Some(server) => format!("{server}: {}", steps(lane)),
        None => steps(lane),
    };
    lanes.iter().map(lane).collect::<Vec<_>>().join(" | ")
}

/// Its name as words; with the server that a ticket is for.
fn step(step: &Step) -> String {
    let name = format!("{step:?}");
    let name = name.split('(').next().unwrap_or_default();
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    match step {
        Step::OpenTicket(Some(server))
        | Step::ReturnLeaders(server)
        | Step::AddVoter(server)
        | Step::StartLeaving(server)
        | Step::RemoveVoter(server) => {
            format!("{words} of {server}")
        }
        Step::SetMinIsr(to) => format!("{words} to {to}"),
        _ => words,
    }
}

fn condition(condition: &Condition) -> String {
    let name = kind(to_value(&condition.reason), "kind");
    let server = condition.server.map(|number| format!(" {number}")).unwrap_or_default();
    let objections = match &condition.reason {
        Reason::Blocked { objections, .. } | Reason::CatchingUp { objections, .. } => {
            rules(objections)
        }
        Reason::MoveBlocked { obstacles } => {
            let all = obstacles.first.iter().map(|it| kind(to_value(it), "obstacle"));
            format!(" ({})", all.collect::<Vec<_>>().join(", "))
        }
        Reason::Joining { waits_for } => format!(" ({waits_for:?})").to_lowercase(),
        Reason::VotesPending { waits_for } => format!(" ({})", kind(to_value(waits_for), "for")),
        _ => String::new(),
    };
    format!("{name}{server}{objections}")
}

fn rules(objections: &FirstFew<Objection>) -> String {
    let rules: Vec<String> = objections.first.iter().map(|it| kind(to_value(it), "rule")).collect();
    format!(" ({})", rules.join(", "))
}

/// The name of a variant, which stands beside its fields.
fn kind(value: serde_json::Result<Value>, tag: &str) -> String {
    value.unwrap()[tag].as_str().unwrap().replace('_', " ")
}
