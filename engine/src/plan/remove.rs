//! Undoing everything: what runs first with its data, then the network, then
//! the rows. Each step removes its rows, so the rows left are the work left.

use super::{LOOK_AGAIN, Lane, Plan, Step, Wait};
use crate::world::World;
use model::Reason;

pub(super) fn plan(world: &World) -> Plan {
    let wait = Wait::new(Reason::Deleting, LOOK_AGAIN);
    if world.servers.is_empty() {
        return Plan::whole(vec![Step::Forget], wait);
    }
    let lane = |id| Lane { server: Some(id), steps: vec![Step::RemoveServer(id)] };
    let lanes = world.servers.iter().map(|view| lane(view.server.id)).collect();
    Plan { lanes, wait }
}
