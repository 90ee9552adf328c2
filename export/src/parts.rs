//! How far integrations are in a minute of which a part was taken, so that the rest of it alone
//! is sent next. In memory: after a restart such a minute is sent from its beginning.

use crate::minutes::Batch;
use crate::under_way::{Key, key};
use ship::Point;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use store::{Turn, TurnSettings};

/// Integrations that are remembered. Where more have a part of a minute, systems are away.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Parts(Mutex<HashMap<Key, Part>>);

struct Part {
    /// With others it may be another account over there, which has nothing yet.
    settings: TurnSettings,
    /// The last that was taken.
    last: Point,
}

impl Parts {
    /// How many of the first points were taken in an earlier turn.
    pub fn taken(&self, turn: &Turn, batch: &Batch) -> usize {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.get(&key(turn)).filter(|part| part.settings == turn.settings());
        part.map_or(0, |part| batch.through_point(&part.last))
    }

    /// Keeps that so many of the first points are taken by now.
    pub fn note(&self, turn: &Turn, batch: &Batch, done: usize) {
        let last = batch.last_of_part(done).cloned();
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = last else {
            parts.remove(&key(turn));
            return;
        };
        if parts.len() >= MOST {
            parts.clear();
        }
        parts.insert(key(turn), Part { settings: turn.settings(), last });
    }

    pub fn forget(&self, turn: &Turn) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.remove(&key(turn));
    }
}
