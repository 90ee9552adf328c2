//! Servers that may not know of a change yet.

use kafka::Endpoint;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Being asked last costs nothing, and a server may take minutes until it is back and has
/// read what happened meanwhile.
const BEHIND: Duration = Duration::from_mins(10);

/// Who did not show a change that was made. Such a server was being restarted, and when
/// it listens again it still reads what it missed: asked first, it would deny what the
/// caller was just told. Known to the control plane that made the change, and to no other.
#[derive(Default)]
pub(crate) struct Behind(Mutex<HashMap<Endpoint, Instant>>);

impl Behind {
    fn inside(&self) -> MutexGuard<'_, HashMap<Endpoint, Instant>> {
        self.0.lock().expect("no holder of this lock panics")
    }

    pub fn note(&self, broker: &Endpoint, now: Instant) {
        let mut inside = self.inside();
        inside.retain(|_, at| now - *at < BEHIND);
        inside.insert(broker.clone(), now);
    }

    /// It has shown the change since.
    pub fn forget(&self, broker: &Endpoint) {
        self.inside().remove(broker);
    }

    /// Whether one of them may still show what was before a change.
    pub fn has_any_of(&self, brokers: &[Endpoint], now: Instant) -> bool {
        let inside = self.inside();
        brokers.iter().any(|broker| inside.get(broker).is_some_and(|at| now - *at < BEHIND))
    }

    /// Those that know all there is first, as they are, then whoever had most time to
    /// hear of it.
    pub fn last(&self, brokers: &mut [Endpoint], now: Instant) {
        let inside = self.inside();
        brokers.sort_by_key(|broker| inside.get(broker).filter(|at| now - **at < BEHIND));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_missed_a_change_is_asked_last_for_a_while() {
        let (behind, begin) = (Behind::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        let note = |host, seconds| behind.note(&Endpoint::new(host, 9094), at(seconds));
        let check = |seconds, expected: [&str; 3]| {
            let mut brokers = ["a", "b", "c"].map(|host| Endpoint::new(host, 9094));
            behind.last(&mut brokers, at(seconds));
            assert_eq!(brokers.map(|broker| broker.host), expected);
        };
        check(0, ["a", "b", "c"]);
        note("a", 0);
        check(0, ["b", "c", "a"]);
        note("b", 1);
        check(1, ["c", "a", "b"]);
        note("a", 2);
        check(2, ["c", "b", "a"]);
        check(601, ["b", "c", "a"]);
        check(602, ["a", "b", "c"]);
        note("a", 602);
        check(602, ["b", "c", "a"]);
        behind.forget(&Endpoint::new("a", 9094));
        check(602, ["a", "b", "c"]);
    }
}
