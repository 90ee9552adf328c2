//! How fast things are tried again.

use std::time::Duration;
use wire::agent::CLAIM_SECONDS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// The pause after the first failure; it doubles with each further one.
    pub first: Duration,
    pub longest: Duration,
    /// A broker that ran that long ran well.
    pub well_after: Duration,
    /// The pause after the end of one that ran well.
    pub soon: Duration,
    /// Between looks at a starting broker.
    pub glance: Duration,
    /// Between questions whether the broker may stop, once the first few came
    /// quicker: a ticket may be under way.
    pub claim: Duration,
    /// Leave that took longer to come is asked for again.
    pub stale: Duration,
    /// How long a starting broker may keep other clusters from starting.
    pub turn: Duration,
    /// Between looks at a disk that is lost: whoever puts it back waits for us.
    pub disk: Duration,
}

impl Pace {
    /// For the broker.
    pub const BROKER: Self = Self {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(30),
        // A node that finds no quorum ends after a minute of looking for it.
        well_after: Duration::from_secs(30),
        soon: Duration::from_millis(500),
        glance: Duration::from_millis(20),
        claim: Duration::from_secs(CLAIM_SECONDS),
        // A look at all brokers takes four seconds at most.
        stale: Duration::from_secs(8),
        turn: Duration::from_secs(30),
        disk: Duration::from_secs(2),
    };

    /// The pause after so many questions.
    pub fn claim_pause(&self, asked: u32) -> Duration {
        backoff(self.claim / 16, self.claim, asked)
    }

    pub fn pause(&self, failures: u32) -> Duration {
        backoff(self.first, self.longest, failures)
    }

    /// The pause after the end of a broker that `lasted`, however often it has
    /// ended: a node without a quorum ends by itself, and the others wait for it.
    pub fn after_end(&self, lasted: bool, failures: u32) -> Duration {
        if lasted { self.soon } else { self.pause(failures) }
    }
}

/// `first`, twice that, four times … never more than `longest`.
pub fn backoff(first: Duration, longest: Duration, failures: u32) -> Duration {
    let factor = 1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let seconds = |failures| Pace::BROKER.pause(failures).as_secs();
        let seen: Vec<u64> = (1..=7).map(seconds).collect();
        assert_eq!(seen, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(seconds(u32::MAX), 30);
    }

    #[test]
    fn one_that_ended_for_want_of_a_quorum_is_back_within_two_seconds() {
        let looked_for_it = Duration::from_mins(1);
        assert!(Pace::BROKER.well_after < looked_for_it);
        for time in 1..=10 {
            assert!(Pace::BROKER.after_end(true, time) < Duration::from_secs(2));
        }
        assert_eq!(Pace::BROKER.after_end(false, 4), Duration::from_secs(8));
    }
}
