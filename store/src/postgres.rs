//! Opening a PostgreSQL database, and how transactions are begun there.

use crate::backend::Db;
use crate::db::Query;
use crate::location::{Location, describe};
use crate::migrations::{self, migrator};
use crate::{Error, Result};
use model::Secret;
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Postgres, Row as _, Transaction};
use std::io;
use std::time::Duration;

const CONNECT: Duration = Duration::from_secs(10);
/// Longer than any statement of ours and than the wait for the write lock. A
/// database that vanished without a word must not hold a worker for ever.
const ANSWER: Duration = Duration::from_secs(30);

/// READ COMMITTED, and then the write lock: one transaction writes at a time,
/// across all control planes, as on SQLite.
///
/// What a use case reads before it writes (free subnets, taken names, limits)
/// can so not change under it, without a unique index for each such rule, and
/// neither deadlocks nor serialization failures have to be tried again. Every
/// statement after the lock sees all that was committed before it; a stricter
/// level would keep a snapshot from before the wait. A transaction lasts
/// milliseconds, since none stays open while other work runs.
///
/// A control plane that stops in the middle of one loses the transaction,
/// before those that wait for it give up.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                     SET LOCAL lock_timeout = '10s'; \
                     SET LOCAL idle_in_transaction_session_timeout = '5s'";
/// Sees what was committed before its first statement, and nothing later. One
/// that is forgotten does not keep old rows alive for long.
pub(crate) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
                                   SET LOCAL idle_in_transaction_session_timeout = '5s'";
/// Any number will do as long as it stays.
const WRITE_LOCK: i64 = 0x0063_6173_7465_6c6c;

pub(crate) struct Opened {
    pub db: Db,
    /// For connections besides the pools'.
    pub options: PgConnectOptions,
    /// Names this opening of the store among all others.
    pub origin: String,
}

/// Connects and brings the database up to date.
pub(crate) async fn open(url: &Secret) -> Result<Opened> {
    let options = Location::postgres_options(url)?;
    // One connection by itself first: a pool would hide why there is none.
    let mut first = connect(&options).await?;
    migrator().run(&mut first).await?;
    let origin = Query::new("SELECT CAST(gen_random_uuid() AS TEXT) AS origin");
    let origin = origin.postgres().fetch_one(&mut first).await?.try_get("origin")?;
    first.close().await?;

    let write = PgPoolOptions::new()
        // They take turns anyway.
        .max_connections(4)
        .acquire_timeout(Duration::from_secs(15))
        .connect_lazy_with(options.clone());
    let read = PgPoolOptions::new()
        .max_connections(8)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with(options.clone().options([("default_transaction_read_only", "on")]));
    Ok(Opened { db: Db::Postgres { write, read }, options, origin })
}

/// Whether an installation lives in the database.
pub(crate) async fn is_set_up(url: &Secret) -> Result<bool> {
    let mut connection = connect(&Location::postgres_options(url)?).await?;
    let query = Query::new("SELECT to_regclass('installation') IS NOT NULL AS there");
    let there: bool = query.postgres().fetch_one(&mut connection).await?.try_get("there")?;
    let set_up = there && {
        let query = Query::new("SELECT id FROM installation");
        query.postgres().fetch_optional(&mut connection).await?.is_some()
    };
    connection.close().await?;
    Ok(set_up)
}

/// Whether an opening would bring the database up to date. It stays as it is.
pub(crate) async fn is_behind(url: &Secret) -> Result<bool> {
    let mut connection = connect(&Location::postgres_options(url)?).await?;
    let query = Query::new(migrations::LAST);
    let last: i64 = query.postgres().fetch_one(&mut connection).await?.try_get("last")?;
    connection.close().await?;
    Ok(migrations::is_behind(last))
}

pub(crate) async fn connect(options: &PgConnectOptions) -> Result<PgConnection> {
    let connected = tokio::time::timeout(CONNECT, PgConnection::connect_with(options)).await;
    connected.unwrap_or_else(|_| Err(silence())).map_err(|error| refused(options, error))
}

/// Why there is no connection, in words that help who typed the address.
fn refused(options: &PgConnectOptions, error: sqlx::Error) -> Error {
    let at = describe(options);
    let database = error.as_database_error();
    let reason = database.map_or_else(String::new, |error| error.message().to_owned());
    match database.and_then(DatabaseError::code).as_deref() {
        Some("28P01" | "28000") => {
            Error::Refused { at, user: options.get_username().to_owned(), reason }
        }
        Some("3D000") => {
            let name = options.get_database().unwrap_or(options.get_username()).to_owned();
            Error::NoDatabase { at, name }
        }
        _ => Error::Unreachable { at, source: error },
    }
}

pub(crate) async fn begin(pool: &PgPool) -> Result<Transaction<'static, Postgres>> {
    let mut transaction = answered(pool.begin_with(BEGIN)).await?;
    let lock = Query::new("SELECT pg_advisory_xact_lock($1)").bind(WRITE_LOCK);
    answered(lock.postgres().execute(&mut *transaction)).await?;
    Ok(transaction)
}

/// The database's answer, or that there was none in time.
pub(crate) async fn answered<T>(answer: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    tokio::time::timeout(ANSWER, answer).await.unwrap_or_else(|_| Err(silence()))
}

fn silence() -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "it does not answer"))
}

/// Whether the same call may succeed later, by PostgreSQL's code of the error.
pub(crate) fn is_away(code: &str) -> bool {
    // Classes: connection, transaction rolled back, resources, operator.
    let class = ["08", "40", "53", "57"].iter().any(|class| code.starts_with(class));
    // Read-only (a standby that took over), idle for too long, lock taken.
    class || matches!(code, "25006" | "25P03" | "55P03")
}
