//! How far a move is, and when it will be done. Time is handed in; there is no clock here.
//!
//! The rate is that of the recent past, and pauses between batches are part of it. At first it
//! is the mean since the beginning, and the longer a move takes, the longer is the past that
//! counts.

use std::time::Duration;

/// The recent past, at least.
const SHORTEST_PAST: f64 = 90.0;
/// The recent past as a part of all that has passed.
const PAST_PART: f64 = 0.25;
/// Nothing is foretold before so long.
const TOO_SOON: f64 = 10.0;

/// Observed so far. After a crash another one begins, with what is done and left.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Progress {
    pub bytes_done: u64,
    pub bytes_left: u64,
    pub elapsed: Duration,
    /// Bytes per second, and how fast all bytes become more because producers write on. Both
    /// are sums that fade; `weight` is what they are to be divided by.
    copied: f64,
    grown: f64,
    weight: f64,
}

impl Progress {
    pub fn begin(bytes_done: u64, bytes_left: u64) -> Self {
        Self { bytes_done, bytes_left, ..Self::default() }
    }

    /// The same from what [`Progress::fading`] gave, so that the estimate outlives a crash.
    pub fn resume(bytes_done: u64, bytes_left: u64, elapsed: Duration, fading: [f64; 3]) -> Self {
        let [copied, grown, weight] = fading;
        Self { bytes_done, bytes_left, elapsed, copied, grown, weight }
    }

    /// What has to be kept beside the rest to go on with it.
    pub fn fading(&self) -> [f64; 3] {
        [self.copied, self.grown, self.weight]
    }

    /// What is known after some more time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates need no more digits")]
    pub fn observe(self, passed: Duration, bytes_done: u64, bytes_left: u64) -> Self {
        let seconds = passed.as_secs_f64();
        let elapsed = self.elapsed + passed;
        let past = (elapsed.as_secs_f64() * PAST_PART).max(SHORTEST_PAST);
        let fade = (-seconds / past).exp();
        let copied = bytes_done as f64 - self.bytes_done as f64;
        let left = bytes_left as f64 - self.bytes_left as f64;
        Self {
            bytes_done,
            bytes_left,
            elapsed,
            copied: self.copied * fade + copied,
            grown: self.grown * fade + copied + left,
            weight: self.weight * fade + seconds,
        }
    }

    /// Bytes per second. None until enough was seen.
    pub fn rate(&self) -> Option<f64> {
        let is_known = self.elapsed.as_secs_f64() >= TOO_SOON && self.weight > 0.0;
        (is_known && self.copied > 0.0).then(|| self.copied / self.weight)
    }

    /// How long it will take from now on. None until enough was seen, or while producers write
    /// as fast as replicas are copied.
    #[expect(clippy::cast_precision_loss, reason = "a time to come is not that exact")]
    pub fn time_left(&self) -> Option<Duration> {
        if self.bytes_left == 0 {
            return Some(Duration::ZERO);
        }
        let net = self.rate()? - self.grown.max(0.0) / self.weight;
        let seconds = self.bytes_left as f64 / net;
        (net > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    /// Copies at a rate that depends on the second, looked at every five seconds. The worst
    /// error of the estimate after the first minute and up to the last, in percent.
    fn worst_error(total: u64, growth: u64, rate: impl Fn(u64) -> u64) -> u64 {
        let (mut done, mut left, mut at) = (0, total, 0);
        let mut progress = Progress::begin(0, total);
        let mut estimates: Vec<(u64, u64)> = Vec::new();
        while left > 0 {
            for second in at..at + 5 {
                let now = rate(second).min(left);
                (done, left) = (done + now, left - now + growth.min(left - now));
            }
            at += 5;
            progress = progress.observe(Duration::from_secs(5), done, left);
            if at >= 60 {
                let time = progress.time_left().expect("a minute has passed");
                estimates.push((at, time.as_secs()));
            }
        }
        let counts = |then: &u64| at - then >= 60;
        let of_estimates = estimates.iter().filter(|(then, _)| counts(then));
        let errors = of_estimates.map(|(then, left)| left.abs_diff(at - then) * 100 / (at - then));
        errors.max().expect("it takes two minutes at least")
    }

    #[test]
    fn the_estimate_is_within_a_quarter_from_the_first_minute_on() {
        let check = |name: &str, worst: u64| assert!(worst < 25, "{name}: {worst} %");
        check("steady", worst_error(50_000 * MB, 0, |_| 50 * MB));
        // A throttle that begins with half.
        let ramp = |at: u64| (50 * MB + at / 10 * 12 * MB).min(100 * MB);
        check("ramp", worst_error(80_000 * MB, 0, ramp));
        // Ten seconds between batches of half a minute.
        check("pauses", worst_error(60_000 * MB, 0, |at| if at % 40 < 30 { 80 * MB } else { 0 }));
        let noise = |at: u64| 20 * MB + at.wrapping_mul(2_654_435_761) % (60 * MB);
        check("noise", worst_error(60_000 * MB, 0, noise));
        check("producers", worst_error(50_000 * MB, 10 * MB, |_| 50 * MB));
        check("soon done", worst_error(9_000 * MB, 0, |_| 50 * MB));
    }

    #[test]
    fn it_says_nothing_too_soon_and_never_an_end_that_does_not_come() {
        let second = Duration::from_secs(1);
        let begun = Progress::begin(0, 100 * MB);
        assert_eq!(begun.time_left(), None);
        assert_eq!(begun.observe(second, MB, 99 * MB).time_left(), None);
        let mut slow = begun;
        for at in 1..100 {
            slow = slow.observe(second, at * MB, 100 * MB);
        }
        assert!(slow.rate().is_some());
        assert_eq!(slow.time_left(), None);
        assert_eq!(slow.observe(second, 100 * MB, 0).time_left(), Some(Duration::ZERO));
        assert_eq!(Progress::begin(5, 0).time_left(), Some(Duration::ZERO));
    }
}
