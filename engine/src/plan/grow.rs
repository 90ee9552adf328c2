//! Disks that are to be larger than the cloud has made them. That needs no broker to stop, and
//! a full disk may be what everything else waits for, so it is done beside whatever is planned.

use super::{Lane, Plan, Step};
use crate::world::{ServerView, World};

/// The plan, with a step for each disk that is to grow.
pub(super) fn with_disks(world: &World, mut plan: Plan) -> Plan {
    for view in &world.servers {
        if let Some(step) = grow(view) {
            add(&mut plan, view, step);
        }
    }
    plan
}

/// A server that is stopped to be removed needs no more room. A cloud that has none would
/// keep it from being removed: after a step that failed its other steps rest.
fn grow(view: &ServerView) -> Option<Step> {
    if view.server.is_leaving() && view.server.wanted.is_stopped() {
        return None;
    }
    let disk = view.disk.as_ref().filter(|disk| disk.is_to_grow());
    disk.map(|disk| Step::GrowDisk(disk.id))
}

/// Last of what its server lacks: the other steps are of another change, or of a new server.
fn add(plan: &mut Plan, view: &ServerView, step: Step) {
    let id = Some(view.server.id);
    match plan.lanes.iter_mut().find(|lane| lane.server == id) {
        Some(lane) => lane.steps.push(step),
        None => plan.lanes.push(Lane { server: id, steps: vec![step] }),
    }
}
