//! Restarts of the servers that stay, one at a time, by a roll.
//!
//! What a broker starts with says how many replicas new topics get, Kafka's own above all,
//! and names the controllers to ask for the quorum. A voter knows the quorum by its own log,
//! so the list alone is no reason for a restart: it is of use to a controller that loses its
//! vote, and controllers that stay keep theirs. So a broker is restarted only where new topics
//! get another number of replicas or other servers become controllers; otherwise its next
//! start, whenever that is, renders the list.
//!
//! Before a cluster shrinks, while others lead what a restarted broker led, and so that no
//! topic is made with replicas that would have to go again; after it has grown, so that no
//! topic is made with more replicas than there are brokers. Last of all where a server that
//! leaves is gone: until its replicas have moved, their partitions have too few in sync for
//! another broker to stop.

use super::{Change, leave};
use crate::plan::{Plan, Step, sizing};

pub(super) fn before_shrinking(change: &Change) -> Option<Plan> {
    if change.resize.removing || leave::is_one_gone(change.world) {
        return None;
    }
    let is_due = change.resize.shrinks() && is_due(change);
    (is_due || is_promoting(change)).then(|| change.act(Step::RestartStaying))
}

/// Servers that become controllers have to before others lose their votes.
pub(super) fn once_moved(change: &Change) -> Option<Plan> {
    is_promoting(change).then(|| change.act(Step::RestartStaying))
}

fn is_promoting(change: &Change) -> bool {
    !sizing::promoted(change.world).is_empty()
}

pub(super) fn after_removing(change: &Change) -> Option<Plan> {
    is_due(change).then(|| change.act(Step::RestartStaying))
}

fn is_due(change: &Change) -> bool {
    let resize = change.resize;
    let rendered_for = resize.memory.rendered_for.unwrap_or(resize.from);
    // Servers that were to leave, and stay after all, had no part in an earlier restart.
    let has_others = resize.undo && resize.to < resize.from && rendered_for != resize.from;
    has_others || !sizing::is_rendered_alike(rendered_for, resize.aim())
}
