//! Copies of a SQLite store, and a store that goes on from such a copy.
//!
//! A copy is taken while others write, is one whole file, and holds nothing
//! that the store itself does not hold: secrets stay sealed, and the key that
//! opens them is elsewhere. Neither side of a copy is migrated by it.

use crate::db::{Query, Run as _};
use crate::{Error, Result, Work};
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// SQLite's own code for a file that is not one of its own.
const NOT_A_DATABASE: &str = "26";

/// What was given out before a restore and must never be given again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// None where no store could be read.
    pub installation: Option<String>,
    pub store_epoch: i64,
    /// The highest number by sequence, such as `servers`.
    pub sequences: BTreeMap<String, i64>,
    /// By instance: what producers had before they were slowed down, as they still are.
    pub slowed: BTreeMap<i64, String>,
}

impl Past {
    /// Notes that a thing with this number has been seen.
    pub fn note(&mut self, sequence: &str, number: i64) {
        let highest = self.sequences.entry(sequence.to_owned()).or_default();
        *highest = number.max(*highest);
    }
}

/// Writes everything committed so far of the store in `from` into `to`, which
/// is absent or empty.
pub async fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut source = open(from, true).await?;
    let copied = async {
        check(&mut source, from).await?;
        let query = sqlx::query("VACUUM INTO $1").bind(to.to_string_lossy().into_owned());
        query.execute(&mut source).await.map_err(|error| named(error, from))
    };
    let copied = copied.await.map(drop);
    source.close().await?;
    copied
}

/// Reads what a store has given out, and brings its log into its file, so that
/// the file alone is the store. The caller sees to it that nobody else uses it.
pub async fn settle(store: &Path) -> Result<Past> {
    let mut connection = open(store, false).await?;
    let past = past(&mut connection, store).await;
    if past.is_ok() {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await?;
    }
    connection.close().await?;
    past
}

/// Lets a restored store go on beyond everything before it: agents follow its
/// documents again, and no number is given a second time. Returns its epoch.
pub async fn go_beyond(work: &mut Work, past: &Past) -> Result<i64> {
    for (name, value) in &past.sequences {
        let query = Query::new(
            "INSERT INTO sequences (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = $2 WHERE sequences.value < $2",
        );
        work.execute(query.bind(name.as_str()).bind(*value)).await?;
    }
    take_over_slowed(work, past).await?;
    // No call of that time goes on. And what was not known of a user then would let one
    // that was made since be made again, with another password.
    work.execute(Query::new("DELETE FROM held_names")).await?;
    let query = Query::new(
        "UPDATE installation SET store_epoch = \
         CASE WHEN store_epoch < $1 THEN $1 ELSE store_epoch END + 1 RETURNING store_epoch",
    );
    match work.fetch_one(query.bind(past.store_epoch)).await? {
        Some(row) => row.int("store_epoch"),
        None => Err(Error::Corrupt { what: "no installation", value: String::new() }),
    }
}

/// Whether producers are slowed down is in Kafka, and the store before knows of it,
/// not this one. Where none knows, the engine is to look once for limits of ours:
/// that is what an empty list is for.
async fn take_over_slowed(work: &mut Work, past: &Past) -> Result<()> {
    if past.installation.is_some() {
        work.execute(Query::new("DELETE FROM slowed_quotas")).await?;
    }
    for (instance, quotas) in &past.slowed {
        let query = Query::new(
            "INSERT INTO slowed_quotas (instance_id, quotas) \
             SELECT id, CAST($2 AS TEXT) FROM instances WHERE id = $1",
        );
        work.execute(query.bind(*instance).bind(quotas.as_str())).await?;
    }
    let look = Query::new(
        "INSERT INTO slowed_quotas (instance_id, quotas) SELECT id, '[]' FROM instances \
         WHERE deleted_at IS NULL AND id NOT IN (SELECT instance_id FROM slowed_quotas)",
    );
    work.execute(look).await.map(drop)
}

async fn open(path: &Path, read_only: bool) -> Result<SqliteConnection> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .read_only(read_only)
        .busy_timeout(Duration::from_secs(10));
    options.connect().await.map_err(|error| named(error, path))
}

/// Whether the file is a store at all; of which release is for the opening of
/// the copy to say.
async fn check(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let query = sqlx::query(
        "SELECT name FROM sqlite_master \
         WHERE type = 'table' AND name IN ('installation', 'sequences', '_sqlx_migrations')",
    );
    let tables = query.fetch_all(connection).await.map_err(|error| named(error, path))?;
    if tables.len() == 3 { Ok(()) } else { Err(Error::NotAStore(path.to_owned())) }
}

async fn past(connection: &mut SqliteConnection, path: &Path) -> Result<Past> {
    check(connection, path).await?;
    let query = sqlx::query("SELECT id, store_epoch FROM installation");
    let row = query.fetch_optional(&mut *connection).await?;
    let mut past = Past::default();
    if let Some(row) = row {
        past.installation = Some(row.try_get("id")?);
        past.store_epoch = row.try_get("store_epoch")?;
    }
    let rows = sqlx::query("SELECT name, value FROM sequences").fetch_all(&mut *connection).await?;
    for row in rows {
        past.note(row.try_get("name")?, row.try_get("value")?);
    }
    past.slowed = slowed(connection).await?;
    Ok(past)
}

/// Nothing in a store from before there was such a table.
async fn slowed(connection: &mut SqliteConnection) -> Result<BTreeMap<i64, String>> {
    let query = sqlx::query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'slowed_quotas'",
    );
    if query.fetch_optional(&mut *connection).await?.is_none() {
        return Ok(BTreeMap::new());
    }
    let query = sqlx::query("SELECT instance_id, quotas FROM slowed_quotas");
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("instance_id")?, row.try_get("quotas")?))).collect()
}

fn named(error: sqlx::Error, path: &Path) -> Error {
    let code = error.as_database_error().and_then(DatabaseError::code);
    if code.as_deref() == Some(NOT_A_DATABASE) {
        return Error::NotAStore(path.to_owned());
    }
    error.into()
}
