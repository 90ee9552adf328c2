//! How far integrations are in a minute of which a part was taken, so that the rest of it alone
//! is sent next. In memory: after a restart such a minute is sent from its beginning.

use crate::minutes::Batch;
use crate::under_way::{Key, key};
use ship::Point;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{Turn, TurnSettings};

/// Integrations that are remembered. Where more have a part of a minute, systems are away.
const MOST: usize = 10_000;

#[derive(Default)]
pub struct Parts(Mutex<HashMap<Key, Part>>);

struct Part {
    /// Other settings may name another account of the system, which has nothing yet.
    settings: TurnSettings,
    /// The last that was taken.
    last: Point,
}

impl Parts {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Part>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of the first points were taken in an earlier turn.
    pub fn taken(&self, turn: &Turn, batch: &Batch) -> usize {
        let parts = self.lock();
        let part = parts.get(&key(turn)).filter(|part| part.settings == turn.settings());
        part.map_or(0, |part| batch.through_point(&part.last))
    }

    /// Keeps that so many of the first points are taken by now.
    pub fn note(&self, turn: &Turn, batch: &Batch, done: usize) {
        let Some(last) = batch.last_of_part(done).cloned() else { return self.forget(turn) };
        let mut parts = self.lock();
        if parts.len() >= MOST {
            parts.clear();
        }
        parts.insert(key(turn), Part { settings: turn.settings(), last });
    }

    pub fn forget(&self, turn: &Turn) {
        self.lock().remove(&key(turn));
    }
}
