//! Copies of a SQLite store, and a store that goes on from a copy, on any database.
//!
//! A copy is taken while others write, is one whole file, and holds nothing
//! that the store itself does not hold: secrets stay sealed, and the key that
//! opens them is elsewhere. Neither side of a copy is migrated by it.

mod access;
mod after_restore;
mod before;
mod integrations;

pub use access::{Access, Dropped, DroppedKey, drop_access};
pub use after_restore::{go_beyond, run_on};
pub use integrations::KnownIntegration;

use crate::db::Query;
use crate::{Error, Location, Result, postgres};
use before::Before;
use model::{Secret, ServerId};
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// SQLite's own code for a file that is not one of its own.
const NOT_A_DATABASE: &str = "26";

/// What was given out before a restore and must never be given again, and what the
/// store of that time knew that Kafka and servers go by.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// None where no store could be read.
    pub installation: Option<String>,
    /// There was a store that nobody can read any more: numbers were given out that
    /// nobody knows of.
    pub is_lost: bool,
    pub store_epoch: i64,
    /// The highest number by sequence, such as `servers`.
    pub sequences: BTreeMap<String, i64>,
    /// By instance: the highest node id that a server of it was ever given.
    pub node_ids: BTreeMap<i64, i64>,
    /// By instance: the highest id that an integration of it was ever given.
    pub last_integrations: BTreeMap<i64, i64>,
    /// Where logs and metrics were sent. None where no store says so.
    pub integrations: Option<Vec<KnownIntegration>>,
    /// By instance: what producers had before they were slowed down, as they still are.
    pub slowed: BTreeMap<i64, String>,
    /// What was signed for customers, revoked or not.
    pub certificates: Vec<Signed>,
    /// Who wants no mail from this installation, and since when.
    pub mail_blocks: Vec<(String, i64)>,
    /// Who might do what. None where no store could be read.
    pub access: Option<Access>,
    /// Servers that this host has: they run on.
    pub held: Vec<ServerId>,
    /// By server: how many identities its agent has had.
    pub incarnations: BTreeMap<ServerId, i64>,
}

/// A row of `certificates`, as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed {
    instance_id: i64,
    serial: String,
    cn: String,
    issued_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
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
    check(&mut connection, store).await?;
    let mut before = Before::Sqlite(connection);
    let past = before.past().await?;
    before.fetch(Query::new("PRAGMA wal_checkpoint(TRUNCATE)")).await?;
    if let Before::Sqlite(connection) = before {
        connection.close().await?;
    }
    Ok(past)
}

/// Reads what the store in a PostgreSQL database has given out. One that holds no
/// installation has given out nothing.
pub async fn read(url: &Secret) -> Result<Past> {
    if !postgres::is_set_up(url).await? {
        return Ok(Past::default());
    }
    let connection = postgres::connect(&Location::postgres_options(url)?).await?;
    Before::Postgres(connection).past().await
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

fn named(error: sqlx::Error, path: &Path) -> Error {
    let code = error.as_database_error().and_then(DatabaseError::code);
    if code.as_deref() == Some(NOT_A_DATABASE) {
        return Error::NotAStore(path.to_owned());
    }
    error.into()
}
