//! What readers of a SQLite database were told, to tell it again while it is
//! true.
//!
//! A row is told from memory only at the very [`Stamp`] it was read at: the
//! stamp is read, then the memory is looked into, so the answer is of a moment
//! after the question. On a miss SQLite is asked, and the answer is kept only if
//! the stamp is the same before and after. A commit of any process changes the
//! stamp, and with it everything is forgotten. Transactions and snapshots have
//! moments of their own and never come here. The memory holds nothing that the
//! file does not: secrets are sealed in both.

use crate::Result;
use crate::backend::sqlite_rows;
use crate::db::{Query, Row};
use crate::kept::Page;
use crate::wal_stamp::{Stamp, WalIndex};
use sqlx::SqlitePool;
use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

const ANSWERS: usize = 20_000;
const BYTES: usize = 32 << 20;
/// A longer answer is of a list that somebody leafs through once.
const LONGEST: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Cache {
    /// None where no stamp can be told; then everything is asked.
    index: Option<WalIndex>,
    memory: RwLock<Memory>,
    /// How many queries went to SQLite.
    asked: AtomicU64,
}

impl Cache {
    pub fn new(index: Option<WalIndex>) -> Self {
        Self { index, memory: RwLock::default(), asked: AtomicU64::new(0) }
    }

    pub async fn fetch(&self, read: &SqlitePool, query: Query) -> Result<Vec<Row>> {
        let before = self.stamp().filter(|_| query.is_pure());
        let Some(stamp) = before else {
            return Ok(sqlite_rows(self.ask(read, query).await?));
        };
        if let Some(page) = self.find(stamp, &query) {
            return Ok(page.rows());
        }
        let rows = self.ask(read, query.clone()).await?;
        if self.stamp() != before {
            return Ok(sqlite_rows(rows));
        }
        let Some(page) = Page::of(&rows) else { return Ok(sqlite_rows(rows)) };
        let page = Arc::new(page);
        self.keep(stamp, query, &page);
        Ok(page.rows())
    }

    /// From now on everything is asked.
    pub async fn close(&self) {
        if let Some(index) = &self.index {
            index.close().await;
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        self.index.as_ref()?.stamp()
    }

    async fn ask(&self, read: &SqlitePool, query: Query) -> Result<Vec<sqlx::sqlite::SqliteRow>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(query.sqlite().fetch_all(read).await?)
    }

    fn find(&self, stamp: Stamp, query: &Query) -> Option<Arc<Page>> {
        self.memory.read().expect("no holder of this lock panics").find(stamp, query)
    }

    fn keep(&self, stamp: Stamp, query: Query, page: &Arc<Page>) {
        let mut memory = self.memory.write().expect("no holder of this lock panics");
        let forgotten = memory.keep(stamp, query, page);
        drop(memory);
        // Thousands of rows take their time to go, and no reader waits for it.
        drop(forgotten);
    }
}

#[derive(Default, Debug)]
struct Memory {
    stamp: Option<Stamp>,
    pages: HashMap<Query, Arc<Page>>,
    bytes: usize,
}

impl Memory {
    fn find(&self, stamp: Stamp, query: &Query) -> Option<Arc<Page>> {
        if self.stamp == Some(stamp) { self.pages.get(query).cloned() } else { None }
    }

    /// Returns what had to make room.
    #[must_use]
    fn keep(&mut self, stamp: Stamp, query: Query, page: &Arc<Page>) -> Option<Memory> {
        let size = query.size() + page.size();
        if size > LONGEST {
            return None;
        }
        let is_full = self.pages.len() == ANSWERS || self.bytes + size > BYTES;
        let is_other = self.stamp != Some(stamp);
        let forgotten = (is_full || is_other).then(|| mem::take(self));
        self.stamp = Some(stamp);
        // Two may have asked the same at once.
        if self.pages.insert(query, Arc::clone(page)).is_none() {
            self.bytes += size;
        }
        forgotten
    }
}

#[cfg(test)]
mod tests;
