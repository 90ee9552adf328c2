//! Servers whose silence is excused: their agents were sent a start or restart that somebody
//! asked for. Each is excused from then on, however long the others took before it.

use model::{ServerId, SignedDuration};
use std::collections::HashMap;
use store::ServerRecord;

/// A server that somebody has asked to start or restart may be silent meanwhile.
/// After so long something else is wrong with it.
pub const UNDER_WAY: SignedDuration = SignedDuration::from_mins(5);

/// By server: the launch that its agent was sent, and since when by
/// [`model::Clock::elapsed`].
#[derive(Default)]
pub struct ExcusedSilence(HashMap<ServerId, (i64, SignedDuration)>);

impl ExcusedSilence {
    /// Whether its broker is to be started anew, or to start, by what its agent was sent,
    /// and that not for too long.
    pub fn excuse(&mut self, record: &ServerRecord, now: SignedDuration) -> bool {
        let launch = record.server.wanted.launch();
        let runs = record.current_report().is_some_and(|report| report.is_up_since(launch));
        let moves = record.desired_launch() >= launch && !runs;
        self.note(record.server.id, launch, moves, now)
    }

    /// A server that was back and ends once more is not excused again.
    fn note(&mut self, server: ServerId, launch: i64, moves: bool, now: SignedDuration) -> bool {
        if !moves {
            return false;
        }
        let excuse = self.0.entry(server).or_insert((launch, now));
        if excuse.0 != launch {
            *excuse = (launch, now);
        }
        now - excuse.1 < UNDER_WAY
    }

    /// Nothing is asked of it any more.
    pub fn end(&mut self, server: ServerId) {
        self.0.remove(&server);
    }

    pub fn forget(&mut self, since: SignedDuration) {
        self.0.retain(|_, (_, at)| *at > since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_counts_from_when_the_server_was_due_and_is_given_once() {
        let mut excused = ExcusedSilence::default();
        let server = ServerId(1);
        let mut note = |launch: i64, moves: bool, minutes: i64| {
            excused.note(server, launch, moves, SignedDuration::from_mins(minutes))
        };
        assert!(!note(1, false, 0), "others come first");
        assert!(note(1, true, 9));
        assert!(note(1, true, 13));
        assert!(!note(1, true, 14), "something else is wrong");
        assert!(!note(1, false, 15));
        assert!(!note(1, true, 16), "it was back, and has ended by itself");
        assert!(note(2, true, 20), "it was asked for once more");
        assert!(!note(2, true, 25));
        excused.end(server);
        assert!(excused.note(server, 2, true, SignedDuration::from_mins(25)));
    }
}
