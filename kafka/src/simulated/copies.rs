//! The copies of one partition: what is written in each, and what was promised.

use super::timing::Timing;
use model::Timestamp;
use std::collections::BTreeMap;

/// What a follower goes by.
pub(super) struct Turn {
    pub now: Timestamp,
    pub timing: Timing,
    pub leader: i32,
    /// A controller can write down who is in sync.
    pub led: bool,
}

/// Writes are numbered through, so that each can be found again.
#[derive(Default)]
pub(super) struct Copies {
    /// By broker.
    pub logs: BTreeMap<i32, Vec<u64>>,
    /// Acknowledged by every replica in sync.
    pub acknowledged: Vec<u64>,
    /// When a copy that was away will have everything.
    pub joining: BTreeMap<i32, Timestamp>,
    /// Since when a copy in sync has not fetched.
    pub lagging: BTreeMap<i32, Timestamp>,
}

impl Copies {
    /// In sync, it has what the leader has.
    pub fn goes_on(&mut self, follower: i32, turn: &Turn) -> Option<bool> {
        self.lagging.remove(&follower);
        if self.end(follower) != self.end(turn.leader) {
            self.copy(turn.leader, follower);
        }
        None
    }

    /// In sync, it does not fetch: some false once it counts no longer.
    pub fn falls_behind(&mut self, follower: i32, turn: &Turn) -> Option<bool> {
        let since = *self.lagging.entry(follower).or_insert(turn.now);
        let out = turn.led && turn.now >= since + turn.timing.lag;
        out.then(|| self.lagging.remove(&follower)).map(|_| false)
    }

    /// Not in sync, it fetches: some true once it has everything.
    pub fn catches_up(&mut self, follower: i32, turn: &Turn) -> Option<bool> {
        let due = *self.joining.entry(follower).or_insert(turn.now + turn.timing.catch_up);
        if !turn.led || turn.now < due {
            return None;
        }
        self.joining.remove(&follower);
        self.copy(turn.leader, follower);
        Some(true)
    }

    pub fn is_away(&mut self, follower: i32) -> Option<bool> {
        self.joining.remove(&follower);
        None
    }

    /// The follower has exactly what the leader has; what else it had is cut.
    fn copy(&mut self, leader: i32, follower: i32) {
        let log = self.logs.get(&leader).cloned().unwrap_or_default();
        self.logs.insert(follower, log);
    }

    pub fn append(&mut self, broker: i32, write: u64) {
        self.logs.entry(broker).or_default().push(write);
    }

    pub fn end(&self, broker: i32) -> usize {
        self.logs.get(&broker).map_or(0, Vec::len)
    }

    pub fn has(&self, broker: i32, write: u64) -> bool {
        self.logs.get(&broker).is_some_and(|log| log.binary_search(&write).is_ok())
    }

    /// Acknowledged writes that none of these has.
    pub fn missing(&self, from: &[i32]) -> Vec<u64> {
        let lost = |write: &&u64| !from.iter().any(|broker| self.has(*broker, **write));
        self.acknowledged.iter().filter(lost).copied().collect()
    }
}
