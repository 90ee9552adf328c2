//! Servers that were added: nothing moves before the brokers of all of them serve.

use super::{Change, pause};
use crate::plan::Plan;
use crate::world::ServerView;
use model::condition::Joining;
use model::{Membership, Reason};

pub(super) fn wait_for_joining(change: &Change) -> Option<Plan> {
    let joining = change.world.servers.iter();
    let joining = joining.filter(|view| view.server.membership == Membership::Joining);
    let reasons = joining.filter_map(|view| {
        let waits_for = lacks(change, view)?;
        Some(Reason::Joining { waits_for }.of(view.server.number))
    });
    let reasons: Vec<_> = reasons.collect();
    (!reasons.is_empty()).then(|| pause(reasons))
}

fn lacks(change: &Change, view: &ServerView) -> Option<Joining> {
    let node = view.server.node_id;
    match change.placed.view.broker(node) {
        Some(broker) if broker.is_up() => None,
        Some(broker) if broker.is_registered => Some(Joining::Unfencing),
        _ => Some(Joining::Registration),
    }
}
