//! Whether anything was committed to a SQLite database since the last look.
//!
//! `PRAGMA data_version` changes on a connection whenever any other connection, of any
//! process, has committed. One connection is kept for that question alone and writes
//! nothing, so every commit is another connection's. The question is asked without sqlx:
//! its worker thread would cost more than what the answer saves.

use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct DataVersion {
    /// None after the close, or if it can't be opened: then nothing is known.
    watch: Mutex<Option<Connection>>,
}

impl DataVersion {
    pub fn open(database: &Path) -> Self {
        Self { watch: Mutex::new(watch(database).ok()) }
    }

    /// The same number twice: nothing was committed in between.
    pub fn now(&self) -> Option<i64> {
        let watch = self.watch.lock().expect("no holder of this lock panics");
        let mut statement = watch.as_ref()?.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row((), |row| row.get(0)).ok()
    }

    pub fn close(&self) {
        *self.watch.lock().expect("no holder of this lock panics") = None;
    }
}

fn watch(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    // It is asked on threads that serve other calls too: rather no answer than a wait.
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}
