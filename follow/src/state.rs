//! What is known beside the events, as it is written: how far each log was read, and how far
//! each destination has taken what was read.

use crate::mark::{Finished, Mark};
use model::LogSource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All of it at the beginning of a segment, and what changed with each frame after.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct State {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logs: BTreeMap<LogSource, Progress>,
    /// None: the destination was removed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cursors: BTreeMap<i64, Option<Cursor>>,
}

/// Of one log.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// The first byte that is in no event of the spool. None before the file was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The files beside it that need not be read. None if they are as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Vec<Finished>>,
}

/// Of one destination.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cursor {
    /// The number of the next event that it takes.
    pub at: u64,
    /// How many it never got.
    #[serde(default)]
    pub dropped: u64,
}

impl State {
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty() && self.cursors.is_empty()
    }

    /// Takes over the state in a later frame.
    pub fn apply(&mut self, change: Self) {
        for (source, now) in change.logs {
            self.logs.entry(source).or_default().apply(now);
        }
        for (id, cursor) in change.cursors {
            match cursor {
                Some(cursor) => self.cursors.insert(id, Some(cursor)),
                None => self.cursors.remove(&id),
            };
        }
    }
}

impl Progress {
    pub fn apply(&mut self, now: Self) {
        self.mark = now.mark;
        self.finished = now.finished.or_else(|| self.finished.take());
    }
}
