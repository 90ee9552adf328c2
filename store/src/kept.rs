//! Values made from rows, kept in memory until anybody commits.
//!
//! A kept value is given only at the data version that it was made at, and a value is kept
//! only if the version is the same before and after it was made, so all of its rows are of
//! one moment. Only SQLite can tell its version ([`crate::data_version`]); elsewhere a value
//! is made anew each time. What makes a value must read committed rows and nothing else: no
//! clock, no chance, no transaction of its own.

use crate::Store;
use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::sync::{Arc, RwLock};

/// A moment in the life of a store. Two that are equal: nothing was committed in between.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Moment(pub(crate) Option<i64>);

/// Belongs to one opened store: versions of two can't be compared.
#[derive(Debug)]
pub struct Kept<K, V> {
    most: usize,
    values: RwLock<Values<K, V>>,
}

/// What was made at one data version.
#[derive(Debug)]
struct Values<K, V> {
    version: Option<i64>,
    by_key: HashMap<K, Arc<V>>,
}

impl<K, V> Default for Values<K, V> {
    fn default() -> Self {
        Self { version: None, by_key: HashMap::new() }
    }
}

impl<K: Eq + Hash, V> Kept<K, V> {
    /// Keeps so many values at most.
    pub fn new(most: usize) -> Self {
        Self { most, values: RwLock::default() }
    }

    /// The value for `key` as of `moment` or later: the one that is kept, or what `make` makes.
    /// An error is not kept.
    pub async fn get_or_make<E, F: Future<Output = Result<V, E>>>(
        &self,
        store: &Store,
        moment: Moment,
        key: K,
        make: impl FnOnce() -> F,
    ) -> Result<Arc<V>, E> {
        if let Some(found) = moment.0.and_then(|version| self.find(version, &key)) {
            return Ok(found);
        }
        let before = store.moment();
        // Queries are large futures, and most calls need none.
        let value = Arc::new(Box::pin(make()).await?);
        if let Some(version) = before.0.filter(|_| store.moment() == before) {
            self.insert(version, key, Arc::clone(&value));
        }
        Ok(value)
    }

    fn find(&self, version: i64, key: &K) -> Option<Arc<V>> {
        let values = self.values.read().expect("no holder of this lock panics");
        if values.version == Some(version) { values.by_key.get(key).cloned() } else { None }
    }

    fn insert(&self, version: i64, key: K, value: Arc<V>) {
        let mut values = self.values.write().expect("no holder of this lock panics");
        let is_other = values.version != Some(version);
        let evicted =
            (is_other || values.by_key.len() == self.most).then(|| mem::take(&mut *values));
        values.version = Some(version);
        values.by_key.insert(key, value);
        drop(values);
        // Freeing thousands of values takes time, and no reader shall wait for it.
        drop(evicted);
    }
}

#[cfg(test)]
mod tests;
