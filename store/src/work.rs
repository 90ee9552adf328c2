//! The store, reads from it, and the unit of work.

use crate::db::{Query, Row, Run};
use crate::seal::MasterKey;
use crate::{Error, Result};
use model::{InstanceId, ServerId};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use std::path::Path;
use std::time::Duration;
use tokio::sync::broadcast;

/// Something that others in this process wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The engine shall look at the instance.
    Instance(InstanceId),
    /// The server has a new desired state.
    Desired(ServerId),
}

/// A handle on the store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    /// SQLite takes one writer, so there is one connection to write with.
    write: SqlitePool,
    read: SqlitePool,
    master_key: MasterKey,
    changes: broadcast::Sender<Change>,
}

impl Store {
    /// Opens the SQLite file, makes it if it is not there, and brings it up to
    /// date. A file of a newer version is refused.
    pub async fn open(path: &Path, master_key: MasterKey) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // An answered call must survive a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let write = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(Duration::from_secs(15))
            .connect_with(options.clone())
            .await?;
        sqlx::migrate!().run(&write).await?;
        let read = SqlitePoolOptions::new()
            .max_connections(4)
            .min_connections(1)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options.read_only(true))
            .await?;
        let (changes, _) = broadcast::channel(1024);
        Ok(Self { write, read, master_key, changes })
    }

    pub fn reader(&self) -> Reader {
        Reader { pool: self.read.clone(), master_key: self.master_key.clone() }
    }

    /// Begins a transaction that may write. It is rolled back unless committed.
    pub async fn begin(&self) -> Result<Work> {
        let transaction = self.write.begin_with("BEGIN IMMEDIATE").await?;
        Ok(Work {
            transaction,
            master_key: self.master_key.clone(),
            changes: self.changes.clone(),
            told: Vec::new(),
        })
    }

    /// Changes committed by this process from now on. A receiver that lags
    /// behind is told so and must look at everything.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    pub fn master_key(&self) -> &MasterKey {
        &self.master_key
    }

    /// Whether the store answers.
    pub async fn ping(&self) -> Result<()> {
        self.reader().fetch(Query::new("SELECT 1 AS one")).await.map(drop)
    }

    /// Waits until open transactions are done and closes the files.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

/// Reads outside a transaction.
#[derive(Clone, Debug)]
pub struct Reader {
    pool: SqlitePool,
    master_key: MasterKey,
}

impl Run for Reader {
    async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        let rows = query.sqlite().fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(Row).collect())
    }

    async fn execute(&mut self, query: Query) -> Result<u64> {
        // The pool's connections are read-only, so this fails by itself.
        Ok(query.sqlite().execute(&self.pool).await?.rows_affected())
    }

    fn master_key(&self) -> &MasterKey {
        &self.master_key
    }
}

/// One transaction: all of it happens or nothing.
pub struct Work {
    transaction: Transaction<'static, Sqlite>,
    master_key: MasterKey,
    changes: broadcast::Sender<Change>,
    told: Vec<Change>,
}

impl Work {
    /// Remembers a change to tell once it is true.
    pub fn tell(&mut self, change: Change) {
        if !self.told.contains(&change) {
            self.told.push(change);
        }
    }

    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await?;
        for change in self.told {
            // Nobody listening is no fault.
            let _ = self.changes.send(change);
        }
        Ok(())
    }

    /// The next number of a sequence; never given again, even after a delete.
    pub async fn next(&mut self, sequence: &'static str) -> Result<i64> {
        let query = Query::new(
            "INSERT INTO sequences (name, value) VALUES ($1, 1) \
             ON CONFLICT (name) DO UPDATE SET value = sequences.value + 1 \
             RETURNING value",
        );
        match self.fetch_one(query.bind(sequence)).await? {
            Some(row) => row.int("value"),
            None => Err(Error::Corrupt { what: "sequences", value: sequence.into() }),
        }
    }
}

impl Run for Work {
    async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        let rows = query.sqlite().fetch_all(&mut *self.transaction).await?;
        Ok(rows.into_iter().map(Row).collect())
    }

    async fn execute(&mut self, query: Query) -> Result<u64> {
        Ok(query.sqlite().execute(&mut *self.transaction).await?.rows_affected())
    }

    fn master_key(&self) -> &MasterKey {
        &self.master_key
    }
}
