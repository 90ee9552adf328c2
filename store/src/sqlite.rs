//! Opening a SQLite file.

use crate::Result;
use crate::backend::Db;
use crate::data_version::DataVersion;
use crate::db::Query;
use crate::migrations::{self, migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, Sqlite, SqlitePool, Transaction};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A second writer fails at its first write unless the lock is taken first.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";
/// The first read fixes the moment; in WAL mode no writer waits for it.
pub(crate) const SNAPSHOT: &str = "BEGIN DEFERRED";

/// Opens the file, makes it if it is not there, and brings it up to date.
pub(crate) async fn open(path: &Path) -> Result<Db> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // An answered call must survive a power cut.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10));
    let write = pool()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(15))
        .connect_with(options.clone())
        .await?;
    migrator().run(&write).await?;
    let read = pool()
        .max_connections(4)
        .min_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        .connect_with(options.read_only(true))
        .await?;
    let version = Arc::new(DataVersion::open(path));
    Ok(Db::Sqlite { write, read, version })
}

/// Whether an opening would bring the file up to date. It stays as it is.
pub(crate) async fn is_behind(path: &Path) -> Result<bool> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(Duration::from_secs(10));
    let mut connection = options.connect().await?;
    let query = Query::new(migrations::LAST);
    let last: i64 = query.sqlite().fetch_one(&mut connection).await?.try_get("last")?;
    connection.close().await?;
    Ok(migrations::is_behind(last))
}

/// A connection to a file does not go stale, and asking it whether it has costs
/// as much as a query.
fn pool() -> SqlitePoolOptions {
    SqlitePoolOptions::new().test_before_acquire(false)
}

/// Begins a transaction that may write.
pub(crate) async fn begin(write: &SqlitePool) -> Result<Transaction<'static, Sqlite>> {
    match write.begin_with(BEGIN).await {
        // On a full disk SQLite ends a transaction by itself. sqlx goes on
        // counting it and never begins another on that connection, so it is
        // given up for a new one.
        Err(sqlx::Error::InvalidSavePointStatement | sqlx::Error::BeginFailed) => {
            write.acquire().await?.close().await?;
            Ok(write.begin_with(BEGIN).await?)
        }
        begun => Ok(begun?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_disk_that_was_full_for_a_moment_is_outlived() {
        let directory = tempfile::tempdir().unwrap();
        let db = open(&directory.path().join("test.db")).await.unwrap();
        let mut work = db.begin().await.unwrap();
        work.fetch(Query::new("PRAGMA max_page_count = 1")).await.unwrap();
        work.commit().await.unwrap();

        let insert = "INSERT INTO sequences (name, value) VALUES ($1, 1)";
        let mut work = db.begin().await.unwrap();
        let full = work.execute(Query::new(insert).bind("x".repeat(100_000))).await.unwrap_err();
        assert!(matches!(full, crate::Error::Away(_)), "{full}");
        drop(work);

        for name in ["a", "b"] {
            let mut work = db.begin().await.unwrap();
            work.execute(Query::new(insert).bind(name)).await.unwrap();
            work.commit().await.unwrap();
        }
    }
}
