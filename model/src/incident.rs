//! What an alarm has seen, from the first sign until it is over.

use crate::{AlarmId, Expiring, IncidentId, InstanceId, Timestamp};

/// It waits for its time, is triggered, and is resolved; or goes before its time
/// and was nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Incident {
    pub id: IncidentId,
    pub instance_id: InstanceId,
    pub alarm_id: AlarmId,
    /// The name of a server, of a group or of [`Expiring`] certificates; empty: the cluster
    /// as a whole.
    pub about: String,
    /// When the level was crossed.
    pub since: Timestamp,
    /// Until when it is known to have held, while it waits for its time.
    pub seen_at: Option<Timestamp>,
    /// When it had held for its whole time, and people were told.
    pub triggered_at: Option<Timestamp>,
    pub reminded_at: Option<Timestamp>,
    /// Since when the level is well on the good side again.
    pub clear_since: Option<Timestamp>,
    pub resolved_at: Option<Timestamp>,
    /// As it was at the last move.
    pub value: Option<f64>,
    /// What people were told.
    pub message: String,
}

impl Incident {
    /// Which certificates it is about, if it is about any.
    pub fn expiring(&self) -> Option<Expiring> {
        self.about.parse().ok()
    }

    /// What was measured up to then has been judged.
    pub fn judged_at(&self) -> Timestamp {
        let moved = self.seen_at.max(self.triggered_at).max(self.reminded_at).max(self.clear_since);
        moved.map_or(self.since, |moved| moved.max(self.since))
    }
}
