//! Leaders go back to their first replicas, a few at a time.
//!
//! A broker that stops hands its leaders to others, and Kafka does not give them back for
//! minutes. Were all of them given back at once at the end of a roll, clients and followers
//! would have to find every one of them at the same moment. So a server gets its leaders back
//! as soon as its replicas are in sync, before the next server's turn, and the next few once
//! every broker knows of the last.
//!
//! What can't be given back is left: a partition whose first replica lags or is on a server
//! that shall not run, and what Kafka refuses in this pass. It never holds a roll.

use super::{LOOK_SOON, Roll, soon};
use crate::plan::{Plan, Step, Wait};
use crate::world::{ServerView, World};
use kafka::safety::Homecoming;
use model::Reason;

/// Before the next server's turn, and before the end. The leaders of a server whose own turn
/// is still to come stay where they are: they would only move twice.
pub(super) fn return_leaders(roll: &Roll) -> Option<Plan> {
    let world = roll.world;
    let look = world.look.as_ref().filter(|_| !roll.is_over())?;
    let views = world.servers.iter();
    let is_awaited = |node| {
        let mut views = views.clone();
        views.find(|view| view.server.node_id == node).is_some_and(|view| roll.is_awaited(view))
    };
    let homecomings = look.homecomings(is_awaited);
    let is_due =
        |view: &ServerView| roll.due.iter().any(|turn| turn.view.server.id == view.server.id);
    let can_lead = |view: &&ServerView| {
        !is_due(view)
            && !view.server.wanted.is_stopped()
            && !world.is_unresponsive(view)
            && !world.leaders_refused.contains(&view.server.id)
    };
    views.filter(can_lead).find_map(|view| {
        let homecoming = homecomings.get(&view.server.node_id)?;
        Some(give_back(world, view, homecoming))
    })
}

fn give_back(world: &World, view: &ServerView, homecoming: &Homecoming) -> Plan {
    let reason = Reason::LeadersReturning.of(view.server.number);
    if homecoming.moving.is_empty() {
        let steps = vec![Step::ReturnLeaders(view.server.id)];
        return Plan::whole(steps, Wait::new(reason, LOOK_SOON));
    }
    Plan::whole(vec![], soon(world, vec![reason]))
}
