//! Undoing everything: what runs first with its data, then the network, then
//! the rows. Each step removes its rows, so the rows left are the work left.

use super::{LOOK_AGAIN, Plan, Step, Wait};
use crate::world::World;

pub(super) fn plan(world: &World) -> Plan {
    let servers = world.servers.iter().map(|view| Step::RemoveServer(view.server.id));
    Plan {
        steps: servers.chain([Step::Forget]).collect(),
        wait: Wait { reason: "being deleted".into(), after: LOOK_AGAIN },
    }
}
