//! How fast logs are read and sent, and when what failed is tried again. Pure.

use crate::pace::backoff;
use model::Entropy;
use ship::{Verdict, retry_pause};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Between looks at the logs.
    pub look: Duration,
    /// The same while there is more to read. A look reads [`follow::PIECE`] of each log at most, so
    /// a log that grows faster than that waits in its files, and takes neither processor nor disk
    /// from a broker that is in trouble.
    pub more: Duration,
    /// After a destination has taken all there was: what is written together travels together.
    pub gather: Duration,
    /// After the first failure of a row; twice that after the second, and so on.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// After a refusal: a person has to change the settings.
    pub refused: Duration,
    /// Before what could not be begun is tried again.
    pub again: Duration,
    /// Between two changes of what is reported.
    pub report: Duration,
    /// For how long after the last one the number of events that were left out is reported.
    pub left_out: Duration,
}

impl Pace {
    pub const LOGS: Self = Self {
        look: Duration::from_millis(500),
        more: Duration::from_millis(8),
        gather: Duration::from_secs(1),
        first_pause: Duration::from_secs(1),
        longest_pause: Duration::from_mins(1),
        refused: Duration::from_mins(5),
        again: Duration::from_secs(5),
        report: Duration::from_secs(5),
        left_out: Duration::from_mins(10),
    };

    /// After so many failures in a row.
    pub fn pause(&self, verdict: Verdict, failures: u32, entropy: &dyn Entropy) -> Duration {
        let Verdict::Retry { after } = verdict else { return self.refused };
        retry_pause(backoff(self.first_pause, self.longest_pause, failures), after, entropy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededEntropy;

    #[test]
    fn of_a_log_about_8_mib_a_second_are_read_at_most() {
        let looks = 1000 / usize::try_from(Pace::LOGS.more.as_millis()).unwrap();
        let bytes = looks * follow::PIECE;
        assert!((7 << 20..=8 << 20).contains(&bytes), "{bytes}");
    }

    #[test]
    fn pauses_grow_by_chance_and_obey_the_destination() {
        let entropy = SeededEntropy::new(1);
        let check = |verdict, failures, from: u64, to: u64| {
            let range = Duration::from_millis(from)..=Duration::from_millis(to);
            for _ in 0..100 {
                let pause = Pace::LOGS.pause(verdict, failures, &entropy);
                assert!(range.contains(&pause), "{pause:?} after {failures} of {verdict:?}");
            }
        };
        let soon = Verdict::Retry { after: None };
        check(soon, 1, 750, 1000);
        check(soon, 2, 1500, 2000);
        check(soon, 6, 24_000, 32_000);
        check(soon, 7, 45_000, 60_000);
        check(soon, u32::MAX, 45_000, 60_000);
        let wanted = |seconds| Verdict::Retry { after: Some(Duration::from_secs(seconds)) };
        check(wanted(0), 1, 750, 1000);
        check(wanted(90), 1, 90_000, 90_000);
        check(wanted(90), 9, 90_000, 90_000);
        for failures in [1, 2, 99] {
            check(Verdict::Refused, failures, 300_000, 300_000);
        }
        let seen: std::collections::BTreeSet<Duration> =
            (0..100).map(|_| Pace::LOGS.pause(soon, 9, &entropy)).collect();
        assert!(seen.len() > 20, "{seen:?}");
    }
}
