//! What the task remembers of its chores between two looks. None of it is needed: without it,
//! everything is tried at once.

use super::chore::Subject;
use crate::backoff;
use model::ServerId;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use store::FirewallTurn;

/// Of what fails again and again.
const LONGEST_REST: Duration = Duration::from_secs(10);
/// What somebody else took away from a server is put back within a minute.
const CONFIRM: Duration = Duration::from_secs(20);

#[derive(Default)]
pub(super) struct Memory {
    /// When servers were last seen to have their rules.
    confirmed: HashMap<ServerId, Instant>,
    failed: HashMap<Subject, Failed>,
}

struct Failed {
    /// In a row.
    times: u32,
    until: Instant,
}

impl Memory {
    /// Forgets what is no longer there.
    pub fn retain(&mut self, there: &HashSet<Subject>) {
        self.confirmed.retain(|id, _| there.contains(&Subject::Server(*id)));
        self.failed.retain(|subject, _| there.contains(subject));
    }

    pub fn note(&mut self, subject: Subject, is_done: bool, now: Instant) {
        if is_done {
            self.failed.remove(&subject);
            if let Subject::Server(id) = subject {
                self.confirmed.insert(id, now);
            }
            return;
        }
        let times = self.failed.get(&subject).map_or(1, |failed| failed.times.saturating_add(1));
        let until = now + backoff::after(times).min(LONGEST_REST);
        self.failed.insert(subject, Failed { times, until });
    }

    /// Whether a chore failed a moment ago.
    pub fn rests(&self, subject: Subject, now: Instant) -> bool {
        self.failed.get(&subject).is_some_and(|failed| now < failed.until)
    }

    /// Whether the last chore of this subject failed.
    pub fn has_failed(&self, subject: Subject) -> bool {
        self.failed.contains_key(&subject)
    }

    /// Whether a server has its rules as far as can be known without asking the cloud. One on
    /// which nothing is enforced is asked for once.
    pub fn has_rules(&self, turn: &FirewallTurn, now: Instant) -> bool {
        let Some(at) = self.confirmed.get(&turn.server_id) else { return false };
        let is_recent = now.saturating_duration_since(*at) < CONFIRM;
        turn.revision == turn.applied && (is_recent || !turn.enforced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{InstanceId, RegionName};

    const SECOND: Duration = Duration::from_secs(1);

    fn turn(revision: i64, applied: i64, enforced: bool) -> FirewallTurn {
        FirewallTurn {
            server_id: ServerId(7),
            instance_id: InstanceId(1),
            region: RegionName("local::this-machine".into()),
            subnet: "10.56.72.0/24".parse().unwrap(),
            revision,
            applied,
            enforced,
        }
    }

    #[test]
    fn rules_are_confirmed_where_they_are_enforced() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        let server = Subject::Server(ServerId(7));
        assert!(!memory.has_rules(&turn(2, 2, true), start), "nobody has looked yet");
        memory.note(server, true, start);
        let check = |turn: FirewallTurn, after: u32, expected| {
            assert_eq!(memory.has_rules(&turn, start + SECOND * after), expected, "{turn:?}");
        };
        check(turn(2, 2, true), 19, true);
        check(turn(2, 2, true), 20, false);
        check(turn(2, 2, false), 1000, true);
        check(turn(3, 2, true), 1, false);
        check(turn(3, 2, false), 1, false);
        memory.retain(&HashSet::new());
        assert!(!memory.has_rules(&turn(2, 2, true), start));
    }

    #[test]
    fn what_fails_rests_longer_each_time_until_it_is_done() {
        let (mut memory, start) = (Memory::default(), Instant::now());
        let (one, other) = (Subject::Network(model::VpcId(1)), Subject::Server(ServerId(1)));
        assert!(!memory.rests(one, start));
        for _ in 0..3 {
            memory.note(one, false, start);
        }
        assert!(memory.rests(one, start + SECOND * 3) && !memory.rests(one, start + SECOND * 4));
        assert!(!memory.rests(other, start));
        memory.note(one, true, start);
        assert!(!memory.rests(one, start));
        memory.note(one, false, start);
        assert!(!memory.rests(one, start + SECOND), "it begins anew");
    }
}
