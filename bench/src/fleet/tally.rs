//! What the simulated agents have seen, all together.

use anyhow::Error;
use model::{Clock as _, InstanceId, SystemClock, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

#[derive(Default)]
pub struct Tally(Mutex<Seen>);

#[derive(Default)]
pub struct Seen {
    /// How long each answer took.
    pub reports: Vec<Duration>,
    pub samples: Vec<Duration>,
    pub failed: u32,
    /// When the sample was sent that ends the time of an instance's alarm.
    pub ended: BTreeMap<InstanceId, Timestamp>,
}

impl Tally {
    pub fn report(&self, took: Duration) {
        self.seen().reports.push(took);
    }

    pub fn samples(&self, took: Duration) {
        self.seen().samples.push(took);
    }

    pub fn ends(&self, instance: InstanceId) {
        self.seen().ended.insert(instance, SystemClock.now());
    }

    /// The first failure is shown, the others only counted.
    pub fn failed(&self, error: &Error) {
        let mut seen = self.seen();
        seen.failed += 1;
        if seen.failed == 1 {
            eprintln!("an agent's call failed: {error:#}");
        }
    }

    /// Everything since this was last asked.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

/// The value that so many percent are not above; of nothing, not a number.
pub fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(f64::NAN)
}
