//! What can go wrong with the store.

use crate::SealError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store can't be reached or is too busy; the same call may succeed later.
    #[error("the store is away: {0}")]
    Away(#[source] sqlx::Error),
    /// A row that must be unique is there already.
    #[error("the store holds such a row already: {0}")]
    Conflict(String),
    /// The lease was lost: another worker owns the instance now.
    #[error("the lease on instance {0} is held by another worker")]
    LeaseLost(model::InstanceId),
    #[error(
        "the store was written by a newer Castellan (its migration {0} is unknown here); \
         start that version or a newer one"
    )]
    Newer(i64),
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
            // SQLite: 5 busy, 10 I/O, 13 full, 14 can't open.
            sqlx::Error::Database(database)
                if matches!(
                    database.code().and_then(|code| code.parse::<i64>().ok()).map(|c| c & 0xff),
                    Some(5 | 10 | 13 | 14)
                ) =>
            {
                Error::Away(error)
            }
            sqlx::Error::Io(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Error::Away(error),
            _ => Error::Sql(error),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for Error {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::VersionMissing(version) => Error::Newer(version),
            other => Error::Migrate(other),
        }
    }
}
