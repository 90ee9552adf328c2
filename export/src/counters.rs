//! What `/metrics` tells of this: points and failures by system, how long after its end a
//! minute arrived, and how many integrations are behind.

use crate::schedule;
use model::{InstanceId, IntegrationId, IntegrationSystem, SignedDuration};
use ship::Verdict;
use std::collections::HashMap;

/// An integration of which nothing was heard for so long is gone, or another control
/// plane's.
const FORGOTTEN: SignedDuration = SignedDuration::from_hours(2);
/// Seconds of metrics that wait; a turn and a minute that is not settled make up as much.
const BEHIND: i64 = 3 * schedule::MINUTE;

/// Points of one call that were taken, and those that were refused for ever.
pub fn count_points(system: IntegrationSystem, taken: usize, refused: usize) {
    for (outcome, points) in [("taken", taken), ("refused", refused)] {
        let labels = [("system", system.as_str()), ("outcome", outcome)];
        let points = u64::try_from(points).unwrap_or(u64::MAX);
        metrics::counter!("castellan_export_points_total", &labels).increment(points);
    }
}

pub fn count_failure(system: IntegrationSystem, verdict: Verdict) {
    let kind = match verdict {
        Verdict::Retry { .. } => "retry",
        Verdict::Refused => "refused",
    };
    let labels = [("system", system.as_str()), ("kind", kind)];
    metrics::counter!("castellan_export_failures_total", &labels).increment(1);
}

/// Minutes that a system does not take any more.
pub fn count_dropped(system: IntegrationSystem, minutes: i64) {
    let minutes = u64::try_from(minutes).unwrap_or_default();
    metrics::counter!("castellan_export_dropped_minutes_total", "system" => system.as_str())
        .increment(minutes);
}

/// Seconds from the end of a minute until its points were taken.
pub fn note_delay(seconds: i64) {
    let seconds = u32::try_from(seconds).unwrap_or_default();
    metrics::histogram!("castellan_export_delay_seconds").record(f64::from(seconds));
}

/// The integrations whose metrics wait.
#[derive(Default)]
pub struct Behind(HashMap<(InstanceId, IntegrationId), SignedDuration>);

impl Behind {
    /// What waits of one after a turn, in seconds; `elapsed` is as [`model::Clock`] says.
    pub fn note(
        &mut self,
        integration: (InstanceId, IntegrationId),
        waiting: i64,
        elapsed: SignedDuration,
    ) {
        if waiting >= BEHIND {
            self.0.insert(integration, elapsed);
        } else {
            self.0.remove(&integration);
        }
    }

    pub fn forget(&mut self, integration: (InstanceId, IntegrationId)) {
        self.0.remove(&integration);
    }

    pub fn publish(&mut self, elapsed: SignedDuration) {
        self.0.retain(|_, noted| elapsed - *noted < FORGOTTEN);
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        metrics::gauge!("castellan_export_behind").set(f64::from(count));
    }
}
