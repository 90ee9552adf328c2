//! Opening a SQLite file.

use crate::Result;
use crate::backend::Db;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::path::Path;
use std::time::Duration;

/// A second writer fails at its first write unless the lock is taken first.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";

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
    Ok(Db::Sqlite { write, read })
}
