//! Points that came to a receiver of Datadog's: of which instance, of which minute, and how long
//! after the minute's end.

use crate::fleet::tally::percentile;
use model::{Clock as _, SystemClock};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

pub const MINUTE: i64 = 60;
const INSTANCE: &str = "\"instance_id:";
const TIME: &str = "\"timestamp\":";

/// By the beginning of the minute and the id of the instance.
#[derive(Default)]
pub struct Points(Mutex<BTreeMap<(i64, i64), Came>>);

#[derive(Clone, Copy, Default)]
struct Came {
    /// Seconds from the end of the minute until the first of its calls.
    delay: f64,
    calls: u32,
    points: u32,
}

/// What came of some minutes.
pub struct Outcome {
    /// Minutes of instances of which nothing came.
    pub missing: usize,
    pub doubled: u32,
    pub points: u32,
    /// In seconds, of each minute of each instance: its points come together.
    pub delays: Vec<f64>,
}

impl Points {
    fn all(&self) -> MutexGuard<'_, BTreeMap<(i64, i64), Came>> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// Notes a call's points, which are all of one instance.
    pub fn look(&self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        let Some(instance) = numbers(&text, INSTANCE).next() else { return };
        let mut minutes: BTreeMap<i64, u32> = BTreeMap::new();
        for minute in numbers(&text, TIME) {
            *minutes.entry(minute).or_default() += 1;
        }
        let (now, mut all) = (SystemClock.now(), self.all());
        for (minute, points) in minutes {
            let came = all.entry((minute, instance)).or_default();
            if came.calls == 0 {
                let ended = now.as_millisecond() - (minute + MINUTE) * 1000;
                came.delay = f64::from(i32::try_from(ended).unwrap_or(i32::MAX)) / 1000.0;
                came.points = points;
            }
            came.calls += 1;
        }
    }

    /// Of the minutes that begin in that time, of so many instances.
    pub fn outcome(&self, minutes: Range<i64>, instances: usize) -> Outcome {
        let all = self.all();
        let count = minutes.clone().step_by(60).count() * instances;
        let came = || all.range((minutes.start, 0)..(minutes.end, 0)).map(|(_, came)| came);
        Outcome {
            missing: count.saturating_sub(came().count()),
            doubled: came().map(|came| came.calls - 1).sum(),
            points: came().map(|came| came.points).sum(),
            delays: came().map(|came| came.delay).collect(),
        }
    }
}

impl Outcome {
    pub fn delay(&mut self, percent: usize) -> f64 {
        percentile(&mut self.delays, percent)
    }
}

/// The numbers that stand behind a word.
fn numbers<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = i64> + 'a {
    text.split(word).skip(1).filter_map(|rest| {
        let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_known_by_their_instance_and_minute() {
        let points = Points::default();
        let body = |instance: i64, minute: i64| {
            let point = format!(
                "{{\"points\":[{{\"timestamp\":{minute},\"value\":1.5}}],\
                 \"tags\":[\"instance_id:{instance}\"]}}"
            );
            format!("{{\"series\":[{point},{point}]}}")
        };
        for (instance, minute) in [(1, 600), (1, 660), (2, 600), (2, 600), (2, 720)] {
            points.look(body(instance, minute).as_bytes());
        }
        let outcome = points.outcome(600..720, 2);
        assert_eq!((outcome.missing, outcome.doubled, outcome.points), (1, 1, 6));
        assert_eq!(outcome.delays.len(), 3);
    }
}
