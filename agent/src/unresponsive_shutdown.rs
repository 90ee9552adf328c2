//! Whether a broker that was told to end can still react. Pure.
//!
//! One that answered has all the time it takes, unless a signal has stopped it or it has
//! written nothing for very long. One that did not is given up once it has shown no sign
//! of life for long; every line that it writes is one, because a shutdown that goes on
//! tells of itself, and the page that it did not answer on may be all that was wrong.

use crate::log_tail::Marks;
use std::time::Duration;
use tokio::time::Instant;

/// A shutdown that goes on writes a line more often than that by far, also one that waits
/// for a controller.
const QUIET: Duration = Duration::from_mins(10);

pub struct UnresponsiveShutdown {
    /// It did not answer when it was told to end.
    was_silent: bool,
    marks: Marks,
    /// When it last wrote something.
    wrote: Instant,
    /// The last sign of life.
    since: Instant,
}

impl UnresponsiveShutdown {
    pub fn new(was_silent: bool, marks: Marks, now: Instant) -> Self {
        Self { was_silent, marks, wrote: now, since: now }
    }

    /// Notes a look, and says for how long it has shown no sign of life. That one could
    /// react is such a sign until it has been [`QUIET`].
    pub fn look(&mut self, is_paused: bool, marks: Marks, now: Instant) -> Duration {
        let can_react = !self.was_silent && !is_paused;
        if marks != self.marks {
            (self.marks, self.wrote) = (marks, now);
        }
        if can_react || self.wrote == now {
            self.since = now;
        }
        let quiet = now.duration_since(self.wrote).saturating_sub(QUIET);
        now.duration_since(self.since).max(quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;
    use std::fs;

    /// Looks a second apart, each whether a signal has stopped it and whether it has
    /// written something; for how long it had shown no sign of life by then.
    fn check(was_silent: bool, looks: &[(bool, bool)], expected: &[u64]) {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let began = Instant::now();
        let mut shutdown = UnresponsiveShutdown::new(was_silent, Marks::now(&place), began);
        let (mut text, mut now, mut seen) = (String::new(), began, vec![]);
        for (is_paused, writes) in looks {
            now += Duration::from_secs(1);
            if *writes {
                text.push_str("shutting down\n");
                fs::write(place.server_log(), &text).unwrap();
            }
            seen.push(shutdown.look(*is_paused, Marks::now(&place), now).as_secs());
        }
        assert_eq!(seen, expected, "{was_silent} {looks:?}");
    }

    #[test]
    fn one_that_answered_has_all_the_time_it_takes() {
        check(false, &[(false, false); 4], &[0, 0, 0, 0]);
    }

    #[test]
    fn one_that_answered_and_then_writes_nothing_for_very_long_is_stuck_too() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let began = Instant::now();
        let mut shutdown = UnresponsiveShutdown::new(false, Marks::now(&place), began);
        let mut look = |seconds: u64| {
            let now = began + QUIET + Duration::from_secs(seconds);
            shutdown.look(false, Marks::now(&place), now).as_secs()
        };
        assert_eq!([0, 20].map(&mut look), [0, 20]);
        fs::write(place.server_log(), "shutting down\n").unwrap();
        assert_eq!([21, 600, 621, 641].map(&mut look), [0, 0, 0, 20]);
    }

    #[test]
    fn one_that_did_not_answer_is_stuck_while_it_writes_nothing() {
        check(true, &[(false, false); 3], &[1, 2, 3]);
        check(true, &[(false, true); 3], &[0, 0, 0]);
        check(true, &[(false, false), (false, true), (false, false)], &[1, 0, 1]);
    }

    #[test]
    fn one_that_a_signal_has_stopped_is_stuck_until_it_goes_on() {
        check(false, &[(true, false), (true, false), (false, false)], &[1, 2, 0]);
        check(true, &[(true, false), (false, false)], &[1, 2]);
    }
}
