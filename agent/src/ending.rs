//! The end of a broker that nobody asked for: why it was, and what follows. Pure.

use crate::disk::DiskFault;
use crate::pace::Pace;
use jiff::Timestamp;
use std::time::Duration;

/// What is known of it.
#[derive(PartialEq, Eq, Debug)]
pub struct Ending {
    /// How the process ended, in words.
    pub exit: String,
    /// What it wrote about it.
    pub tail: Vec<String>,
    pub full: Option<DiskFault>,
    /// It looked for a quorum and found none: no fault of its own, and the others
    /// may be waiting for it to make one.
    pub found_no_quorum: bool,
    /// For how long it ran once it had started; none if it never came so far.
    pub ran: Option<Duration>,
}

impl Ending {
    /// Whether what went wrong before is forgotten.
    pub fn ran_well(&self, pace: &Pace) -> bool {
        self.ran.is_some_and(|ran| ran >= pace.well_after)
    }

    /// Until the next start, after so many failures.
    pub fn pause(&self, pace: &Pace, failures: u32) -> Duration {
        if self.full.is_some() {
            // Nothing is started before there is room, and a look costs nothing.
            pace.disk
        } else if self.found_no_quorum {
            pace.quorum
        } else {
            pace.pause(failures)
        }
    }

    /// In words, with the time of the next start: the sentence stays as it is until
    /// then.
    pub fn detail(&self, pause: Duration, next: Timestamp) -> String {
        let why = if self.tail.iter().any(|line| line.contains("No space left on device")) {
            ", no space was left on its disk"
        } else if self.found_no_quorum {
            ", it found too few other controllers"
        } else {
            ""
        };
        let next = match pause {
            Duration::ZERO => "it is started again at once".to_owned(),
            _ => format!("next start at {}", next.strftime("%H:%M:%S UTC")),
        };
        format!("the broker ended: {}{why}; {next}", self.exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Room;

    fn ending() -> Ending {
        Ending {
            exit: "exit status: 1".into(),
            tail: vec![],
            full: None,
            found_no_quorum: false,
            ran: None,
        }
    }

    fn next() -> Timestamp {
        "2026-01-01T12:03:30.4Z".parse().unwrap()
    }

    #[test]
    fn a_crash_loop_waits_longer_each_time() {
        let pauses = (1..=8).map(|failures| ending().pause(&Pace::BROKER, failures).as_secs());
        assert_eq!(pauses.collect::<Vec<_>>(), [0, 1, 2, 5, 10, 30, 30, 30]);
    }

    #[test]
    fn one_that_found_no_quorum_is_back_within_two_seconds_however_often() {
        let lonely = Ending { found_no_quorum: true, ..ending() };
        for failures in [1, 2, 10, u32::MAX] {
            assert!(lonely.pause(&Pace::BROKER, failures) < Duration::from_secs(2));
        }
        let words = "the broker ended: exit status: 1, it found too few other controllers; \
                     next start at 12:03:30 UTC";
        assert_eq!(lonely.detail(lonely.pause(&Pace::BROKER, 9), next()), words);
    }

    #[test]
    fn one_that_ran_for_a_minute_ran_well() {
        let check = |ran: Option<u64>, expected| {
            let ending = Ending { ran: ran.map(Duration::from_secs), ..ending() };
            assert_eq!(ending.ran_well(&Pace::BROKER), expected, "{ran:?}");
        };
        check(None, false);
        check(Some(59), false);
        check(Some(60), true);
    }

    #[test]
    fn a_full_disk_is_looked_at_often_and_named() {
        let room = Room { free: 1 << 20, total: 128 << 20 };
        let full = DiskFault::Full { room, kept: 0 };
        let words = "the disk is full: 1 MiB of 128 MiB are free; give it more space, and it \
                     goes on by itself";
        assert_eq!(full.to_string(), words);
        let tail = vec!["java.io.IOException: No space left on device".into()];
        let ending = Ending { full: Some(full), tail, ..ending() };
        assert_eq!(ending.pause(&Pace::BROKER, 9), Pace::BROKER.disk);
        let words = "the broker ended: exit status: 1, no space was left on its disk; \
                     it is started again at once";
        assert_eq!(ending.detail(Duration::ZERO, next()), words);
    }
}
