//! The copies of one partition: what is written in each, and what was promised.

use super::timing::Timing;
use model::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// What a follower goes by.
pub(super) struct Turn {
    pub now: Timestamp,
    pub timing: Timing,
    pub leader: i32,
    /// A controller can write down who is in sync.
    pub led: bool,
    /// Bytes per second that the follower copies.
    pub speed: u64,
}

/// Writes are numbered through, so that each can be found again.
#[derive(Default)]
pub(super) struct Copies {
    /// By broker.
    pub logs: BTreeMap<i32, Vec<u64>>,
    /// Acknowledged by every replica in sync.
    pub acknowledged: Vec<u64>,
    /// Copies that were away.
    pub joining: BTreeMap<i32, Joining>,
    /// Since when a copy in sync has not fetched.
    pub lagging: BTreeMap<i32, Timestamp>,
    /// Bytes beside the writes, by broker: they take time to copy.
    pub bulk: BTreeMap<i32, u64>,
    /// As many of them are acknowledged.
    pub acknowledged_bulk: u64,
}

/// How far a copy is that was away.
#[derive(Clone, Copy)]
pub(super) struct Joining {
    /// Not before.
    due: Timestamp,
    /// Its bulk is as it was then.
    seen: Timestamp,
    /// When something happens to it, as far as can be foreseen; none if it stands still.
    pub next: Option<Timestamp>,
}

impl Joining {
    fn new(turn: &Turn) -> Self {
        let due = turn.now + turn.timing.catch_up;
        Self { due, seen: turn.now, next: Some(due) }
    }
}

impl Copies {
    /// In sync, it has what the leader has.
    pub fn goes_on(&mut self, follower: i32, turn: &Turn) -> Option<bool> {
        self.lagging.remove(&follower);
        let is_equal = self.end(follower) == self.end(turn.leader);
        if !is_equal || self.bulk(follower) != self.bulk(turn.leader) {
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
        let mut joining = *self.joining.entry(follower).or_insert_with(|| Joining::new(turn));
        let whole = self.bulk(turn.leader);
        let gained = copied(turn.now.duration_since(joining.seen), turn.speed);
        if gained > 0 {
            joining.seen = turn.now;
        }
        let has = self.bulk(follower).saturating_add(gained).min(whole);
        self.bulk.insert(follower, has);
        let ready =
            if has < whole { after(turn.now, whole - has, turn.speed) } else { Some(turn.now) };
        joining.next = ready.map(|ready| ready.max(joining.due));
        self.joining.insert(follower, joining);
        if !turn.led || turn.now < joining.due || has < whole {
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
        self.bulk.insert(follower, self.bulk(leader));
    }

    /// What is on that broker is deleted.
    pub fn delete(&mut self, broker: i32) {
        self.logs.remove(&broker);
        self.bulk.remove(&broker);
        self.joining.remove(&broker);
        self.lagging.remove(&broker);
    }

    pub fn append(&mut self, broker: i32, write: u64) {
        self.logs.entry(broker).or_default().push(write);
    }

    pub fn end(&self, broker: i32) -> usize {
        self.logs.get(&broker).map_or(0, Vec::len)
    }

    pub fn bulk(&self, broker: i32) -> u64 {
        self.bulk.get(&broker).copied().unwrap_or(0)
    }

    /// Size of the log there, if there is one: a write is a byte.
    pub fn bytes(&self, broker: i32) -> Option<u64> {
        let is_there = self.logs.contains_key(&broker) || self.bulk.contains_key(&broker);
        is_there.then(|| self.bulk(broker) + self.end(broker) as u64)
    }

    pub fn has(&self, broker: i32, write: u64) -> bool {
        self.logs.get(&broker).is_some_and(|log| log.binary_search(&write).is_ok())
    }

    /// Acknowledged writes that none of these has.
    pub fn missing(&self, from: &[i32]) -> Vec<u64> {
        let lost = |write: &&u64| !from.iter().any(|broker| self.has(*broker, **write));
        self.acknowledged.iter().filter(lost).copied().collect()
    }

    /// Acknowledged bytes beside the writes that none of these has.
    pub fn missing_bulk(&self, from: &[i32]) -> u64 {
        let most = from.iter().map(|broker| self.bulk(*broker)).max().unwrap_or(0);
        self.acknowledged_bulk.saturating_sub(most)
    }
}

/// Bytes that are copied in that time.
fn copied(time: SignedDuration, speed: u64) -> u64 {
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(0);
    u64::try_from(u128::from(speed) * u128::from(milliseconds) / 1000).unwrap_or(u64::MAX)
}

/// When so many bytes more are copied; none if that is never.
fn after(now: Timestamp, bytes: u64, speed: u64) -> Option<Timestamp> {
    let milliseconds = (u128::from(bytes) * 1000).div_ceil(u128::from(speed.max(1))).max(1);
    let milliseconds = i64::try_from(milliseconds).ok().filter(|_| speed > 0)?;
    now.checked_add(SignedDuration::from_millis(milliseconds)).ok()
}
