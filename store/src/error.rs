//! What can go wrong with the store.

use crate::{SealError, postgres};
use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;
use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store can't be reached or is too busy; the same call may succeed later.
    #[error("the store is away: {0}")]
    Away(#[source] sqlx::Error),
    /// A row that must be unique is there already.
    #[error("the store holds such a row already: {0}")]
    Conflict(String),
    /// A statement of this transaction failed before, so none of it counts.
    #[error("the transaction had failed and was not carried out")]
    Failed,
    /// The lease was lost: another worker owns the instance now.
    #[error("the lease on instance {0} is held by another worker")]
    LeaseLost(model::InstanceId),
    #[error(
        "the store was written by a newer Castellan (its migration {0} is unknown here); \
         start that version or a newer one"
    )]
    Newer(i64),
    #[error(
        "the database URL can't be read; give one such as \
         postgres://castellan:password@db.example.com/castellan"
    )]
    BadUrl,
    #[error("{at} can't be reached; check that it runs and that the database URL names it")]
    Unreachable { at: String, source: sqlx::Error },
    #[error(
        "{at} does not let user {user} in ({reason}); check user and password of the database URL"
    )]
    Refused { at: String, user: String, reason: String },
    #[error("{at} has no database {name}; make it with: createdb {name}")]
    NoDatabase { at: String, name: String },
    #[error("{} is no store of Castellan and no backup of one", .0.display())]
    NotAStore(PathBuf),
    #[error("the account of instance {0} is not in the store, so nobody could own it")]
    NoAccount(model::InstanceId),
    #[error("the store can't be brought up to date: {0}")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    #[error("{0}")]
    Seal(#[from] SealError),
    /// A row holds what this program never writes.
    #[error("the store holds {what} that can't be read: {value}")]
    Corrupt { what: &'static str, value: String },
    #[error("the store failed: {0}")]
    Sql(#[source] sqlx::Error),
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                Error::Conflict(database.message().to_owned())
            }
            sqlx::Error::Database(database) if may_pass(&**database) => Error::Away(error),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::BeginFailed
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Error::Away(error),
            _ => Error::Sql(error),
        }
    }
}

/// Whether it is of the database's state, not of the statement.
fn may_pass(error: &dyn DatabaseError) -> bool {
    let Some(code) = error.code() else { return false };
    if error.try_downcast_ref::<PgDatabaseError>().is_some() {
        return postgres::is_away(&code);
    }
    // SQLite: 5 busy, 10 I/O, 13 full, 14 can't open.
    matches!(code.parse::<i64>().map(|code| code & 0xff), Ok(5 | 10 | 13 | 14))
}

impl From<sqlx::migrate::MigrateError> for Error {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::VersionMissing(version) => Error::Newer(version),
            other => Error::Migrate(other),
        }
    }
}
