//! Answers to reads of a SQLite database, kept in memory while nobody commits.
//!
//! `PRAGMA data_version` changes on a connection whenever any other connection, of any
//! process, has committed. One connection is kept for that question alone and writes
//! nothing, so every commit is another connection's. A cached answer is given only at the
//! data version it was read at, and an answer of SQLite is cached only if the version is
//! the same before and after. The question is asked without sqlx: its worker thread would
//! cost more than the query that the cache saves. Transactions and snapshots see moments
//! of their own and never come here. The cache holds nothing that the file does not:
//! secrets are sealed in both.

use crate::Result;
use crate::cached_rows::CachedRows;
use crate::db::{Query, Row, sqlite_rows};
use rusqlite::{Connection, OpenFlags};
use sqlx::SqlitePool;
use std::collections::HashMap;
use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

const MAX_ANSWERS: usize = 20_000;
const MAX_BYTES: usize = 32 << 20;
/// A longer answer is a list that is read once, page by page.
const MAX_ANSWER_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Cache {
    /// Asks for the data version. None after the close, or if it can't be opened: then
    /// every read goes to SQLite.
    watch: Mutex<Option<Connection>>,
    answers: RwLock<Answers>,
    /// How many queries went to SQLite.
    misses: AtomicU64,
}

impl Cache {
    pub fn open(database: &Path) -> Self {
        Self {
            watch: Mutex::new(watch(database).ok()),
            answers: RwLock::default(),
            misses: AtomicU64::new(0),
        }
    }

    pub async fn fetch(&self, read: &SqlitePool, query: Query) -> Result<Vec<Row>> {
        let before = self.data_version().filter(|_| query.is_pure());
        let Some(version) = before else {
            return Ok(sqlite_rows(self.ask(read, query).await?));
        };
        if let Some(cached) = self.find(version, &query) {
            return Ok(cached.rows());
        }
        let rows = self.ask(read, query.clone()).await?;
        if self.data_version() != before {
            return Ok(sqlite_rows(rows));
        }
        let Some(cached) = CachedRows::copy(&rows) else { return Ok(sqlite_rows(rows)) };
        let cached = Arc::new(cached);
        self.insert(version, query, &cached);
        Ok(cached.rows())
    }

    /// From now on every read goes to SQLite.
    pub fn close(&self) {
        *self.watch.lock().expect("no holder of this lock panics") = None;
    }

    fn data_version(&self) -> Option<i64> {
        let watch = self.watch.lock().expect("no holder of this lock panics");
        let mut statement = watch.as_ref()?.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row((), |row| row.get(0)).ok()
    }

    async fn ask(&self, read: &SqlitePool, query: Query) -> Result<Vec<sqlx::sqlite::SqliteRow>> {
        self.misses.fetch_add(1, Ordering::Relaxed);
        Ok(query.sqlite().fetch_all(read).await?)
    }

    fn find(&self, version: i64, query: &Query) -> Option<Arc<CachedRows>> {
        self.answers.read().expect("no holder of this lock panics").find(version, query)
    }

    fn insert(&self, version: i64, query: Query, rows: &Arc<CachedRows>) {
        let mut answers = self.answers.write().expect("no holder of this lock panics");
        let evicted = answers.insert(version, query, rows);
        drop(answers);
        // Freeing thousands of rows takes time, and no reader shall wait for it.
        drop(evicted);
    }
}

fn watch(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    // It is asked on threads that serve other calls too: rather no answer than a wait.
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

/// The answers that were read at one data version.
#[derive(Default, Debug)]
struct Answers {
    version: Option<i64>,
    rows: HashMap<Query, Arc<CachedRows>>,
    bytes: usize,
}

impl Answers {
    fn find(&self, version: i64, query: &Query) -> Option<Arc<CachedRows>> {
        if self.version == Some(version) { self.rows.get(query).cloned() } else { None }
    }

    /// Returns what had to make room.
    #[must_use]
    fn insert(&mut self, version: i64, query: Query, rows: &Arc<CachedRows>) -> Option<Answers> {
        let size = query.size() + rows.size();
        if size > MAX_ANSWER_BYTES {
            return None;
        }
        let is_full = self.rows.len() == MAX_ANSWERS || self.bytes + size > MAX_BYTES;
        let is_other = self.version != Some(version);
        let evicted = (is_full || is_other).then(|| mem::take(self));
        self.version = Some(version);
        // Two readers may have asked the same at once.
        if self.rows.insert(query, Arc::clone(rows)).is_none() {
            self.bytes += size;
        }
        evicted
    }
}

#[cfg(test)]
mod tests;
