//! How fast replicas are copied. Producers and disks come first: the throttle is cut at once
//! when either suffers, and raised step by step while neither does.

use std::time::Duration;

/// What was seen since the last throttle was set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observed {
    /// How long the slowest of a hundred produce requests takes. None while there are none.
    pub p99: Option<Duration>,
    /// The same before anything was moved.
    pub baseline: Option<Duration>,
    /// The busiest disk, from 0 to 1.
    pub disk: f64,
}

/// Bytes per second and broker within which a throttle stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttle {
    /// Must be more than what producers write to the partitions that are moved: slower copies
    /// never catch up.
    pub least: u64,
    pub most: u64,
}

/// A p99 this many times the baseline is too much.
const SLOWER: f64 = 1.5;
/// A p99 may always be this long: below it, a factor says nothing.
const UNNOTICED: Duration = Duration::from_millis(10);
/// A disk that is busier is too busy.
const BUSY_DISK: f64 = 0.85;
/// From this part of what is too much on, the throttle stays as it is.
const NEAR: f64 = 0.8;

impl Throttle {
    /// To begin with, until something was observed.
    pub fn first(self) -> u64 {
        (self.most / 2).clamp(self.least.min(self.most), self.most)
    }

    /// The same, but never slower than this.
    #[must_use]
    pub fn but_no_less_than(self, least: u64) -> Self {
        Self { least: self.least.max(least), ..self }
    }

    /// The throttle that follows the last one.
    pub fn next(self, last: u64, observed: &Observed) -> u64 {
        let strain = strain(observed);
        let next = if strain > 2.0 {
            last / 4
        } else if strain > 1.0 {
            last / 2
        } else if strain > NEAR {
            last
        } else {
            last.saturating_add(last / 4).saturating_add(1)
        };
        next.clamp(self.least.min(self.most), self.most)
    }
}

/// What is closest to its limit, as a part of it.
fn strain(observed: &Observed) -> f64 {
    let slow = match (observed.p99, observed.baseline) {
        (Some(p99), baseline) => {
            let normal = baseline.unwrap_or_default().mul_f64(SLOWER).max(UNNOTICED);
            p99.as_secs_f64() / normal.as_secs_f64()
        }
        (None, _) => 0.0,
    };
    // A disk that tells nothing sensible is taken for busy.
    let disk = if observed.disk.is_finite() { observed.disk / BUSY_DISK } else { 1.0 };
    slow.max(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;
    const THROTTLE: Throttle = Throttle { least: 5 * MB, most: 200 * MB };

    fn observed(p99: u64, baseline: u64, disk: f64) -> Observed {
        let time = |ms| Some(Duration::from_millis(ms));
        Observed { p99: time(p99), baseline: time(baseline), disk }
    }

    #[test]
    fn producers_and_disks_come_first() {
        let check = |observed: Observed, expected: u64| {
            let next = THROTTLE.next(100 * MB, &observed);
            assert_eq!(next / MB, expected, "{observed:?}");
        };
        check(observed(20, 20, 0.3), 125);
        check(observed(26, 20, 0.3), 100);
        check(observed(31, 20, 0.3), 50);
        check(observed(80, 20, 0.3), 25);
        check(observed(20, 20, 0.8), 100);
        check(observed(20, 20, 0.9), 50);
        check(observed(20, 20, f64::NAN), 100);
        // Three times next to nothing is still next to nothing.
        check(observed(6, 2, 0.3), 125);
        check(observed(12, 2, 0.3), 50);
        check(Observed { p99: None, baseline: None, disk: 0.1 }, 125);
        check(Observed { p99: None, baseline: None, disk: 0.99 }, 50);
    }

    #[test]
    fn it_stays_within_its_bounds() {
        assert_eq!(THROTTLE.first(), 100 * MB);
        assert_eq!(THROTTLE.next(190 * MB, &observed(1, 1, 0.0)), 200 * MB);
        assert_eq!(THROTTLE.next(6 * MB, &observed(900, 1, 1.0)), 5 * MB);
        assert_eq!(THROTTLE.next(0, &observed(1, 1, 0.0)), 5 * MB);
        // Copies that producers outrun are made faster, whatever producers feel.
        let raised = THROTTLE.but_no_less_than(10 * MB);
        assert_eq!(raised.next(5 * MB, &observed(900, 1, 1.0)), 10 * MB);
        assert_eq!(THROTTLE.but_no_less_than(MB), THROTTLE);
        assert_eq!(
            THROTTLE.but_no_less_than(300 * MB).next(5 * MB, &observed(1, 1, 1.0)),
            200 * MB
        );
        let odd = Throttle { least: 10, most: 3 };
        assert_eq!((odd.first(), odd.next(7, &observed(1, 1, 0.0))), (3, 3));
    }

    /// Copying at x makes requests slower in proportion, from 60 MB/s on.
    #[test]
    fn it_finds_what_producers_can_bear_and_stays_near() {
        let mut throttle = THROTTLE.first();
        let mut seen = Vec::new();
        for _ in 0..50 {
            let p99 = 20 + 10 * throttle.saturating_sub(60 * MB) / (30 * MB);
            seen.push(p99);
            throttle = THROTTLE.next(throttle, &observed(p99, 20, 0.2));
        }
        assert!(seen[3..].iter().all(|p99| *p99 <= 30), "{seen:?}");
        assert!(throttle > 50 * MB, "{throttle}");
    }
}
