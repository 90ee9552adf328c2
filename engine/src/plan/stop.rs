//! Towards no process at all: every broker is stopped in an orderly way, all at
//! once, because the last one alone would wait for a quorum that never comes
//! back; then the agents end. Disks and addresses stay.

use super::{LOOK_AGAIN, LOOK_AT_HEALTHY, Lane, Plan, Step, Wait};
use crate::desired;
use crate::world::{ServerView, World};
use wire::agent::{Phase, Run};

pub(super) fn plan(world: &World) -> Plan {
    if world.instance.progress.ready_at.is_some() {
        // Started again halfway, it is ready only after a new login.
        let wait = Wait { reason: "waiting: every server is stopping".into(), after: LOOK_AGAIN };
        return Plan::whole(vec![Step::NoteStopping], wait);
    }
    let up: Vec<&ServerView> = world.servers.iter().filter(|view| view.may_exist()).collect();
    if up.is_empty() {
        let behind = world.instance.progress.observed_generation < world.instance.generation;
        let steps = if behind { vec![Step::NoteStopped] } else { vec![] };
        return Plan::whole(steps, Wait { reason: "stopped".into(), after: LOOK_AT_HEALTHY });
    }
    let names: Vec<String> = up.iter().map(|view| view.title()).collect();
    let reason = format!("waiting: {} is stopping", names.join(", "));
    let lanes = up.iter().map(|view| lane(world, view)).collect();
    Plan { lanes, wait: Wait { reason, after: LOOK_AGAIN } }
}

fn lane(world: &World, view: &ServerView) -> Lane {
    let server = view.server.id;
    let told = view.desired.as_ref().filter(|told| told.run == Run::Stopped);
    let report = view.current_report().filter(|report| report.phase == Phase::Stopped);
    // A report that was late may be about an earlier stop.
    let stopped = told.zip(report).is_some_and(|(told, report)| told.revision == report.revision);
    let mut steps = Vec::new();
    if view.broker.is_some() && desired::differs(world, view) {
        steps.push(Step::Publish(server));
    }
    // One that was never seen made has not been told to run in this life.
    if stopped || view.desired.is_none() || !view.server.made {
        steps.push(Step::Hibernate(server));
    } else if !world.confirmed.contains(&server) {
        // Without its agent nobody stops the broker in an orderly way.
        steps.push(Step::EnsureServer(server));
    }
    Lane { server: Some(server), steps }
}
