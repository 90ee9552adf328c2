//! The store, reads from it, and the unit of work.

use crate::backend::{Begun, Db};
use crate::db::{Query, Row, Run};
use crate::kept::Moment;
use crate::listen::{Listening, notifications};
use crate::seal::MasterKey;
use crate::{Error, Location, Result, postgres, sqlite};
use model::{InstanceId, ServerId, Timestamp};
use std::sync::Arc;
use tokio::sync::broadcast;

/// The next number of a sequence.
pub(crate) const NEXT: &str = "INSERT INTO sequences (name, value) VALUES ($1, 1) \
                               ON CONFLICT (name) DO UPDATE SET value = sequences.value + 1 \
                               RETURNING value";

/// Something that others wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The engine shall look at the instance.
    Instance(InstanceId),
    /// The server has a new desired state.
    Desired(ServerId),
    /// A message waits to be sent.
    Outbox,
    /// Logs or metrics of the instance go elsewhere.
    Integrations(InstanceId),
}

/// A handle on the store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
    master_key: MasterKey,
    changes: broadcast::Sender<Change>,
    /// See [`Store::with_audit_budget`].
    audit_budget: Option<i64>,
    /// Present where other processes share the database.
    others: Option<Arc<Others>>,
}

/// Other control planes on the same PostgreSQL.
#[derive(Debug)]
struct Others {
    /// By which they know that a change is ours.
    origin: String,
    listening: Listening,
}

impl Store {
    /// Opens the store and brings it up to date; a SQLite file is made if it is
    /// not there. A store of a newer version is refused.
    pub async fn open(at: impl Into<Location>, master_key: MasterKey) -> Result<Self> {
        let (changes, _) = broadcast::channel(1024);
        let (db, others) = match at.into() {
            Location::Sqlite(path) => (sqlite::open(&path).await?, None),
            Location::Postgres(url) => {
                let postgres::Opened { db, options, origin } = postgres::open(&url).await?;
                let listening = Listening::start(options, origin.clone(), changes.clone()).await?;
                (db, Some(Arc::new(Others { origin, listening })))
            }
        };
        Ok(Self { db, master_key, changes, audit_budget: None, others })
    }

    /// With a bound on the bytes of audit lines that an account may write a day.
    #[must_use]
    pub fn with_audit_budget(self, bytes: i64) -> Self {
        Self { audit_budget: Some(bytes), ..self }
    }

    /// Whether an installation lives there already, and with it a master key.
    pub async fn is_set_up(at: &Location) -> Result<bool> {
        match at {
            Location::Sqlite(path) => Ok(path.exists()),
            Location::Postgres(url) => postgres::is_set_up(url).await,
        }
    }

    /// Whether an opening would change its tables, after which no earlier release can open
    /// it any more. Nothing is changed by the question.
    pub async fn is_behind(at: &Location) -> Result<bool> {
        match at {
            Location::Sqlite(path) => sqlite::is_behind(path).await,
            Location::Postgres(url) => postgres::is_behind(url).await,
        }
    }

    pub fn reader(&self) -> Reader {
        Reader { db: self.db.clone(), master_key: self.master_key.clone() }
    }

    /// Reads of one moment, however much is written meanwhile.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let begun = self.db.begin_reading().await?;
        Ok(Snapshot { begun, master_key: self.master_key.clone() })
    }

    /// Begins a transaction that may write, when no other does. It is rolled
    /// back unless committed.
    pub async fn begin(&self) -> Result<Work> {
        Ok(Work {
            begun: self.db.begin().await?,
            failed: false,
            master_key: self.master_key.clone(),
            changes: self.changes.clone(),
            audit_budget: self.audit_budget,
            others: self.others.clone(),
            announced: Vec::new(),
        })
    }

    /// Changes committed from now on, on PostgreSQL also those of other
    /// processes. A receiver that lags behind is told so and must look at
    /// everything.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    pub fn master_key(&self) -> &MasterKey {
        &self.master_key
    }

    /// What [`crate::Kept`] values are told apart by.
    pub fn moment(&self) -> Moment {
        Moment(self.db.data_version())
    }

    /// Whether the store answers.
    pub async fn ping(&self) -> Result<()> {
        self.db.fetch(Query::new("SELECT 1 AS one")).await.map(drop)
    }

    /// Waits until open transactions are done and closes all connections.
    pub async fn close(&self) {
        if let Some(others) = &self.others {
            others.listening.stop();
        }
        self.db.close().await;
    }
}

/// Reads outside a transaction.
#[derive(Clone, Debug)]
pub struct Reader {
    db: Db,
    master_key: MasterKey,
}

impl Run for Reader {
    async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        self.db.fetch(query).await
    }

    async fn execute(&mut self, query: Query) -> Result<u64> {
        self.db.execute(query).await
    }

    fn master_key(&self) -> &MasterKey {
        &self.master_key
    }

    async fn now(&mut self, given: Timestamp) -> Result<Timestamp> {
        match self.db {
            Db::Sqlite { .. } => Ok(given),
            Db::Postgres { .. } => database_time(self).await,
        }
    }
}

/// Reads of one moment, that of the first. It ends when dropped.
pub struct Snapshot {
    begun: Begun,
    master_key: MasterKey,
}

impl Run for Snapshot {
    async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        self.begun.fetch(query).await
    }

    /// Fails by itself: the connection is read-only.
    async fn execute(&mut self, query: Query) -> Result<u64> {
        self.begun.execute(query).await
    }

    fn master_key(&self) -> &MasterKey {
        &self.master_key
    }

    async fn now(&mut self, given: Timestamp) -> Result<Timestamp> {
        match self.begun {
            Begun::Sqlite(_) => Ok(given),
            Begun::Postgres(_) => database_time(self).await,
        }
    }
}

/// One transaction: all of it happens or nothing.
pub struct Work {
    begun: Begun,
    /// A statement failed. PostgreSQL then forgets the transaction, and would
    /// say nothing of that at the commit; so it is for every database.
    failed: bool,
    master_key: MasterKey,
    changes: broadcast::Sender<Change>,
    audit_budget: Option<i64>,
    others: Option<Arc<Others>>,
    announced: Vec<Change>,
}

impl Work {
    /// Has the change announced once this work is committed.
    pub fn announce(&mut self, change: Change) {
        if !self.announced.contains(&change) {
            self.announced.push(change);
        }
    }

    /// Fails if any statement did.
    pub async fn commit(mut self) -> Result<()> {
        if let Some(others) = self.others.clone() {
            for query in notifications(&others.origin, &self.announced) {
                self.fetch(query).await?;
            }
        }
        self.check()?;
        self.begun.commit().await?;
        for change in self.announced {
            // Nobody listening is no fault.
            let _ = self.changes.send(change);
        }
        Ok(())
    }

    /// The next number of a sequence; never given again, even after a delete.
    pub async fn next(&mut self, sequence: &'static str) -> Result<i64> {
        match self.fetch_one(Query::new(NEXT).bind(sequence)).await? {
            Some(row) => row.int("value"),
            None => Err(Error::Corrupt { what: "sequences", value: sequence.into() }),
        }
    }

    /// The bytes of audit lines that an account may write a day; none: any number.
    pub fn audit_budget(&self) -> Option<i64> {
        self.audit_budget
    }

    fn check(&self) -> Result<()> {
        if self.failed { Err(Error::Failed) } else { Ok(()) }
    }
}

impl Run for Work {
    async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        self.check()?;
        let rows = self.begun.fetch(query).await;
        self.failed = rows.is_err();
        rows
    }

    async fn execute(&mut self, query: Query) -> Result<u64> {
        self.check()?;
        let touched = self.begun.execute(query).await;
        self.failed = touched.is_err();
        touched
    }

    fn master_key(&self) -> &MasterKey {
        &self.master_key
    }

    async fn now(&mut self, given: Timestamp) -> Result<Timestamp> {
        match self.begun {
            Begun::Sqlite(_) => Ok(given),
            Begun::Postgres(_) => database_time(self).await,
        }
    }
}

async fn database_time(run: &mut impl Run) -> Result<Timestamp> {
    // The clock at this statement, not at the beginning of the transaction.
    let query =
        Query::new("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS now");
    match run.fetch_one(query).await? {
        Some(row) => row.time("now"),
        None => Err(Error::Corrupt { what: "the database's clock", value: String::new() }),
    }
}
