//! The databases behind the store, and a transaction on either.

use crate::Result;
use crate::data_version::DataVersion;
use crate::db::{Query, Row, sqlite_rows};
use crate::postgres::{self, answered};
use crate::sqlite;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};
use std::sync::Arc;

/// On both, `read` can't write, and readers never wait for writers.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    /// SQLite takes one writer, so `write` is one connection.
    Sqlite {
        write: SqlitePool,
        read: SqlitePool,
        version: Arc<DataVersion>,
    },
    Postgres {
        write: PgPool,
        read: PgPool,
    },
}

impl Db {
    /// What is committed now.
    pub async fn fetch(&self, query: Query) -> Result<Vec<Row>> {
        Ok(match self {
            Db::Sqlite { read, .. } => sqlite_rows(query.sqlite().fetch_all(read).await?),
            Db::Postgres { read, .. } => {
                postgres_rows(answered(query.postgres().fetch_all(read)).await?)
            }
        })
    }

    /// See [`DataVersion::now`]; PostgreSQL has nothing like it.
    pub fn data_version(&self) -> Option<i64> {
        match self {
            Db::Sqlite { version, .. } => version.now(),
            Db::Postgres { .. } => None,
        }
    }

    /// Fails by itself: the connections are read-only.
    pub async fn execute(&self, query: Query) -> Result<u64> {
        Ok(match self {
            Db::Sqlite { read, .. } => query.sqlite().execute(read).await?.rows_affected(),
            Db::Postgres { read, .. } => {
                answered(query.postgres().execute(read)).await?.rows_affected()
            }
        })
    }

    pub async fn begin(&self) -> Result<Begun> {
        Ok(match self {
            Db::Sqlite { write, .. } => Begun::Sqlite(Box::pin(sqlite::begin(write)).await?),
            Db::Postgres { write, .. } => Begun::Postgres(Box::pin(postgres::begin(write)).await?),
        })
    }

    /// Begins a transaction that sees one moment and can't write.
    pub async fn begin_reading(&self) -> Result<Begun> {
        Ok(match self {
            Db::Sqlite { read, .. } => {
                Begun::Sqlite(Box::pin(read.begin_with(sqlite::SNAPSHOT)).await?)
            }
            Db::Postgres { read, .. } => {
                let begun = Box::pin(answered(read.begin_with(postgres::SNAPSHOT)));
                Begun::Postgres(begun.await?)
            }
        })
    }

    pub async fn close(&self) {
        match self {
            Db::Sqlite { write, read, version } => {
                // The last to go brings the log into the file, so it must be one
                // that may write.
                version.close();
                read.close().await;
                write.close().await;
            }
            Db::Postgres { write, read } => {
                read.close().await;
                write.close().await;
            }
        }
    }
}

/// A transaction, to write or to read. Rolled back when dropped.
pub(crate) enum Begun {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Begun {
    pub async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        Ok(match self {
            Begun::Sqlite(open) => sqlite_rows(query.sqlite().fetch_all(&mut **open).await?),
            Begun::Postgres(open) => {
                postgres_rows(answered(query.postgres().fetch_all(&mut **open)).await?)
            }
        })
    }

    pub async fn execute(&mut self, query: Query) -> Result<u64> {
        Ok(match self {
            Begun::Sqlite(open) => query.sqlite().execute(&mut **open).await?.rows_affected(),
            Begun::Postgres(open) => {
                answered(query.postgres().execute(&mut **open)).await?.rows_affected()
            }
        })
    }

    pub async fn commit(self) -> Result<()> {
        match self {
            Begun::Sqlite(open) => open.commit().await?,
            Begun::Postgres(open) => answered(open.commit()).await?,
        }
        Ok(())
    }
}

fn postgres_rows(rows: Vec<sqlx::postgres::PgRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Postgres).collect()
}
