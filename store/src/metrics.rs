//! The history of metrics: rows of packed bytes in a database of its own.
//!
//! Beside a SQLite store it is the file `metrics.db`; on PostgreSQL it is a table
//! with connections of its own. It shares no transaction and no lock with the
//! store, is in no backup, and can be lost: whoever uses it goes on without.

use crate::backend::Begun;
use crate::db::{Query, Row};
use crate::location::Location;
use crate::postgres::answered;
use crate::{Result, sqlite};
use model::ServerId;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::time::Duration;

/// The file beside the store's.
const FILE: &str = "metrics.db";

/// All tables, each made if it is not there. A change of one is another statement
/// at the end.
const SQLITE_TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS metric_windows (\
     server_id BIGINT NOT NULL, step BIGINT NOT NULL, begins BIGINT NOT NULL, \
     version BIGINT NOT NULL, body BLOB NOT NULL, \
     PRIMARY KEY (server_id, step, begins))",
    INDEX,
];
const POSTGRES_TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS metric_windows (\
     server_id BIGINT NOT NULL, step BIGINT NOT NULL, begins BIGINT NOT NULL, \
     version BIGINT NOT NULL, body BYTEA NOT NULL, \
     PRIMARY KEY (server_id, step, begins))",
    INDEX,
];
/// Servers that one statement asks for.
const AT_ONCE: usize = 8;
/// For what is too old.
const INDEX: &str =
    "CREATE INDEX IF NOT EXISTS metric_windows_by_age ON metric_windows (step, begins)";

/// One window of one server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricWindow {
    pub server_id: ServerId,
    /// Seconds between its points.
    pub step: i64,
    /// Unix seconds.
    pub begins: i64,
    /// Raised by every write; 0 for one that was not written yet.
    pub version: i64,
    pub body: Vec<u8>,
}

/// A handle on the history; cheap to clone.
#[derive(Clone, Debug)]
pub struct MetricsHistory(Db);

#[derive(Clone, Debug)]
enum Db {
    Sqlite { write: SqlitePool, read: SqlitePool },
    Postgres(PgPool),
}

impl MetricsHistory {
    /// Opens the history that belongs to a store, and makes it if it is not there.
    pub async fn open(store: &Location) -> Result<Self> {
        Ok(Self(match store {
            Location::Sqlite(path) => {
                let options = SqliteConnectOptions::new()
                    .filename(path.with_file_name(FILE))
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    // Agents still have what a power cut takes.
                    .synchronous(SqliteSynchronous::Normal)
                    .busy_timeout(Duration::from_secs(10));
                let pool = |most| {
                    SqlitePoolOptions::new()
                        .max_connections(most)
                        .acquire_timeout(Duration::from_secs(5))
                        .test_before_acquire(false)
                };
                let write = pool(1).connect_with(options.clone()).await?;
                for table in SQLITE_TABLES {
                    Query::new(table).sqlite().execute(&write).await?;
                }
                let read = pool(2).connect_with(options.read_only(true)).await?;
                Db::Sqlite { write, read }
            }
            Location::Postgres(url) => {
                let options = Location::postgres_options(url)?;
                let pool = PgPoolOptions::new()
                    .max_connections(2)
                    .acquire_timeout(Duration::from_secs(5))
                    .connect_with(options)
                    .await?;
                // Two control planes may start at once.
                let mut begun = pool.begin().await?;
                let alone = Query::new("SELECT pg_advisory_xact_lock($1)").bind(LOCK);
                answered(alone.postgres().execute(&mut *begun)).await?;
                for table in POSTGRES_TABLES {
                    answered(Query::new(table).postgres().execute(&mut *begun)).await?;
                }
                answered(begun.commit()).await?;
                Db::Postgres(pool)
            }
        }))
    }

    /// The windows of a server that begin between two times, oldest first.
    pub async fn list(
        &self,
        server: ServerId,
        step: i64,
        from: i64,
        to: i64,
    ) -> Result<Vec<MetricWindow>> {
        let query = Query::new(
            "SELECT * FROM metric_windows \
             WHERE server_id = $1 AND step = $2 AND begins >= $3 AND begins <= $4 \
             ORDER BY begins",
        );
        let query = query.bind(server.0).bind(step).bind(from).bind(to);
        self.fetch(query).await?.iter().map(window).collect()
    }

    /// Of the windows of these servers that begin between two times, those that begin first.
    pub async fn first(
        &self,
        servers: &[ServerId],
        step: i64,
        from: i64,
        to: i64,
    ) -> Result<Vec<MetricWindow>> {
        let mut first: Vec<MetricWindow> = Vec::new();
        for some in servers.chunks(AT_ONCE) {
            let query = Query::new(
                "SELECT * FROM metric_windows \
                 WHERE server_id IN ($1, $2, $3, $4, $5, $6, $7, $8) AND step = $9 AND begins = \
                 (SELECT MIN(begins) FROM metric_windows \
                 WHERE server_id IN ($1, $2, $3, $4, $5, $6, $7, $8) AND step = $9 \
                 AND begins >= $10 AND begins <= $11)",
            );
            // The last one stands in the places that are left.
            let places = (0..AT_ONCE).filter_map(|place| some.get(place).or(some.last()));
            let query = places.fold(query, |query, server| query.bind(server.0));
            for row in self.fetch(query.bind(step).bind(from).bind(to)).await? {
                let window = window(&row)?;
                let before = first.first().map_or(i64::MAX, |known| known.begins);
                if window.begins < before {
                    first.clear();
                }
                if window.begins <= before {
                    first.push(window);
                }
            }
        }
        Ok(first)
    }

    pub async fn find(
        &self,
        server: ServerId,
        step: i64,
        begins: i64,
    ) -> Result<Option<MetricWindow>> {
        Ok(self.list(server, step, begins, begins).await?.pop())
    }

    /// The last window of a server.
    pub async fn last(&self, server: ServerId, step: i64) -> Result<Option<MetricWindow>> {
        let query = Query::new(
            "SELECT * FROM metric_windows WHERE server_id = $1 AND step = $2 \
             ORDER BY begins DESC LIMIT 1",
        );
        let rows = self.fetch(query.bind(server.0).bind(step)).await?;
        rows.first().map(window).transpose()
    }

    /// Writes all or none of them, in one transaction. False if one of them has
    /// another version by now: its writer has points that these don't.
    pub async fn write(&self, windows: &[MetricWindow]) -> Result<bool> {
        let mut begun = self.begin().await?;
        for window in windows {
            let MetricWindow { server_id, step, begins, version, body } = window;
            let query = if *version == 0 {
                Query::new(
                    "INSERT INTO metric_windows (server_id, step, begins, version, body) \
                     VALUES ($1, $2, $3, $4 + 1, $5) ON CONFLICT DO NOTHING",
                )
            } else {
                Query::new(
                    "UPDATE metric_windows SET version = version + 1, body = $5 \
                     WHERE server_id = $1 AND step = $2 AND begins = $3 AND version = $4",
                )
            };
            let query = query.bind(server_id.0).bind(*step).bind(*begins).bind(*version);
            if begun.execute(query.bind(body.clone())).await? == 0 {
                return Ok(false);
            }
        }
        begun.commit().await?;
        Ok(true)
    }

    /// Forgets the windows of a step that began before a time.
    pub async fn forget(&self, step: i64, before: i64) -> Result<u64> {
        let query = Query::new("DELETE FROM metric_windows WHERE step = $1 AND begins < $2");
        let mut begun = self.begin().await?;
        let gone = begun.execute(query.bind(step).bind(before)).await?;
        begun.commit().await?;
        Ok(gone)
    }

    /// The bytes of all windows of a step, and when the oldest began.
    pub async fn size(&self, step: i64) -> Result<(i64, Option<i64>)> {
        let query = Query::new(
            "SELECT CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) AS bytes, \
             MIN(begins) AS oldest FROM metric_windows WHERE step = $1",
        );
        match self.fetch(query.bind(step)).await?.first() {
            Some(row) => Ok((row.int("bytes")?, row.int_or_none("oldest")?)),
            None => Ok((0, None)),
        }
    }

    /// The bytes that all of it takes. Of a file it is the pages in use, since rows and
    /// indexes take more than their bodies; what was forgotten is written over by what comes.
    /// A PostgreSQL gives room back when it likes, so there the bodies alone are counted.
    pub async fn taken(&self) -> Result<i64> {
        let query = match &self.0 {
            Db::Sqlite { .. } => Query::new(
                "SELECT (page_count - freelist_count) * page_size AS bytes \
                 FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()",
            ),
            Db::Postgres(_) => Query::new(
                "SELECT CAST(COALESCE(SUM(LENGTH(body)), 0) AS BIGINT) AS bytes \
                 FROM metric_windows",
            ),
        };
        self.fetch(query).await?.first().map_or(Ok(0), |row| row.int("bytes"))
    }

    pub async fn close(&self) {
        match &self.0 {
            Db::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Db::Postgres(pool) => pool.close().await,
        }
    }

    async fn begin(&self) -> Result<Begun> {
        Ok(match &self.0 {
            Db::Sqlite { write, .. } => Begun::Sqlite(sqlite::begin(write).await?),
            Db::Postgres(pool) => Begun::Postgres(answered(pool.begin()).await?),
        })
    }

    async fn fetch(&self, query: Query) -> Result<Vec<Row>> {
        Ok(match &self.0 {
            Db::Sqlite { read, .. } => {
                let rows = query.sqlite().fetch_all(read).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Db::Postgres(pool) => {
                let rows = answered(query.postgres().fetch_all(pool)).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }
}

/// Any number will do that nothing else takes.
const LOCK: i64 = 0x006d_6574_7269_6373;

fn window(row: &Row) -> Result<MetricWindow> {
    Ok(MetricWindow {
        server_id: ServerId(row.int("server_id")?),
        step: row.int("step")?,
        begins: row.int("begins")?,
        version: row.int("version")?,
        body: row.bytes("body")?,
    })
}
