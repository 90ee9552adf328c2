//! How fast things are tried again.

use std::time::Duration;
use wire::agent::CLAIM_SECONDS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// The pauses after the first, second … failure; the last one stays.
    pub pauses: &'static [Duration],
    /// A broker that ran that long ran well: failures before it are forgotten.
    pub well_after: Duration,
    /// One that was starting for so long and has not come to its logs was looking for a
    /// quorum.
    pub searching: Duration,
    /// The pause after the end of one that found none.
    pub quorum: Duration,
    /// Between looks at a starting broker.
    pub glance: Duration,
    /// Between questions whether the broker may stop, once the first few came
    /// quicker: a ticket may be under way.
    pub claim: Duration,
    /// Leave that took longer to come is asked for again.
    pub stale: Duration,
    /// How long a starting broker may keep other clusters from starting.
    pub start_slot: Duration,
    /// A broker that does not react to SIGTERM in any way for so long is killed.
    pub unresponsive_shutdown: Duration,
    /// A JVM that is warmed up and makes no progress for so long is ended.
    pub rehearsal: Duration,
    /// How long a restart that could go on waits for a rehearsal. Where the processors are too
    /// busy for that, a cold start costs less.
    pub turn: Duration,
    /// After one that could not be warmed up as a standby, or died as one.
    pub standby: Duration,
    /// Between looks at a disk that is lost: the operator who puts it back waits for us.
    pub disk: Duration,
}

impl Pace {
    /// For the broker.
    pub const BROKER: Self = Self {
        pauses: &[
            // Most ends are the only one.
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(2),
            Duration::from_secs(5),
            Duration::from_secs(10),
            Duration::from_secs(30),
        ],
        well_after: Duration::from_mins(1),
        // A node that finds no quorum ends after a minute of looking for it.
        searching: Duration::from_secs(45),
        quorum: Duration::from_secs(1),
        glance: Duration::from_millis(5),
        claim: Duration::from_secs(CLAIM_SECONDS),
        // A look at all brokers takes four seconds at most.
        stale: Duration::from_secs(8),
        start_slot: Duration::from_secs(30),
        unresponsive_shutdown: Duration::from_secs(20),
        rehearsal: Duration::from_mins(1),
        turn: Duration::from_secs(30),
        standby: Duration::from_mins(10),
        disk: Duration::from_secs(2),
    };

    /// How long a JVM that was warmed up may take over its order: it only has to read a line,
    /// and the broker is down meanwhile.
    pub fn order(&self) -> Duration {
        self.rehearsal / 12
    }

    /// The pause after so many questions.
    pub fn claim_pause(&self, asked: u32) -> Duration {
        backoff(self.claim / 16, self.claim, asked)
    }

    pub fn pause(&self, failures: u32) -> Duration {
        let last = self.pauses.len() - 1;
        let at = usize::try_from(failures.saturating_sub(1)).unwrap_or(last);
        self.pauses[at.min(last)]
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
    fn pauses_grow_up_to_the_longest() {
        let seconds = |failures| Pace::BROKER.pause(failures).as_secs();
        let seen: Vec<u64> = (0..=7).map(seconds).collect();
        assert_eq!(seen, [0, 0, 1, 2, 5, 10, 30, 30]);
        assert_eq!(seconds(u32::MAX), 30);
        let doubled = |failures| backoff(seconds_of(1), seconds_of(30), failures).as_secs();
        assert_eq!([1, 2, 5, 6, u32::MAX].map(doubled), [1, 2, 16, 30, 30]);
    }

    fn seconds_of(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
}
