//! The store does not answer: PostgreSQL stands still with all its processes,
//! or another one has the SQLite file for itself to write.

use crate::{FaultError, Undo, pause};
use host::ProcessId;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Store {
    /// By the server's data directory.
    Postgres(PathBuf),
    /// By the file. Who only reads is answered still.
    Sqlite(PathBuf),
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(data) => write!(f, "PostgreSQL at {}", data.display()),
            Self::Sqlite(file) => write!(f, "SQLite at {}", file.display()),
        }
    }
}

impl Store {
    pub(crate) async fn take_away(&self) -> Result<Undo, FaultError> {
        match self {
            Self::Postgres(data) => stand_still(data).await,
            Self::Sqlite(file) => hold(file.clone()).await,
        }
    }
}

/// The server first, so that it starts nobody while we look for the others.
async fn stand_still(data: &Path) -> Result<Undo, FaultError> {
    let server = server(data)?;
    let first = pause::inject(std::slice::from_ref(&server)).await?;
    // A client's own process that ends meanwhile is not there to be stopped.
    let mut others = Vec::new();
    for child in server.children() {
        if let Ok(stopped) = pause::inject(std::slice::from_ref(&child)).await {
            others.push(stopped);
        }
    }
    Ok(Box::new(move || {
        for go_on in others {
            go_on()?;
        }
        first()
    }))
}

/// As its own file says.
fn server(data: &Path) -> Result<ProcessId, FaultError> {
    let file = data.join("postmaster.pid");
    let text = fs::read_to_string(&file).map_err(FaultError::at(&file))?;
    let pid = text.lines().next().and_then(|line| line.trim().parse().ok()).unwrap_or_default();
    ProcessId::from_pid(pid).ok_or(FaultError::Ended(pid))
}

/// A thread has it, since undoing must be possible where nothing can be awaited.
async fn hold(file: PathBuf) -> Result<Undo, FaultError> {
    let (release, released) = channel();
    let (ready, told) = oneshot::channel();
    let path = file.clone();
    let thread = std::thread::spawn(move || keep(&path, ready, &released));
    let answer = told.await.unwrap_or_else(|_| Err("it ended at once".into()));
    answer.map_err(|reason| FaultError::unavailable("a store that is away", reason))?;
    Ok(Box::new(move || give_back(release, thread, &file)))
}

fn keep(file: &Path, ready: oneshot::Sender<Result<(), String>>, released: &Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let taken = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        let connection = runtime.block_on(take(file)).map_err(|error| error.to_string())?;
        Ok((runtime, connection))
    });
    match taken {
        Err(reason) => drop(ready.send(Err(reason))),
        Ok((runtime, mut connection)) => {
            let _ = ready.send(Ok(()));
            let _ = released.recv();
            runtime.block_on(async {
                let _ = connection.execute("ROLLBACK").await;
                let _ = connection.close().await;
            });
        }
    }
}

async fn take(file: &Path) -> sqlx::Result<SqliteConnection> {
    let url = format!("sqlite://{}", file.display());
    let mut connection = SqliteConnection::connect(&url).await?;
    connection.execute("BEGIN IMMEDIATE").await?;
    Ok(connection)
}

fn give_back(
    release: Sender<()>,
    thread: std::thread::JoinHandle<()>,
    file: &Path,
) -> Result<(), FaultError> {
    drop(release);
    let panicked = |_| FaultError::at(file)(std::io::Error::other("its holder panicked"));
    thread.join().map_err(panicked)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;
    use host::Spawn;
    use std::time::Duration;

    async fn write(file: &Path) -> Result<(), String> {
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .busy_timeout(Duration::from_millis(1));
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let made = connection.execute("CREATE TABLE IF NOT EXISTS t (x)").await;
        let done = made.map(drop).map_err(|error| error.to_string());
        connection.close().await.unwrap();
        done
    }

    #[tokio::test]
    async fn nobody_writes_to_sqlite_until_undone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("store.db");
        write(&file).await.unwrap();
        sqlx::query("PRAGMA journal_mode=WAL")
            .execute(
                &mut SqliteConnection::connect(&format!("sqlite://{}", file.display()))
                    .await
                    .unwrap(),
            )
            .await
            .unwrap();
        let away = Fault::StoreAway(Store::Sqlite(file.clone()));
        let mut injected = away.inject().await.unwrap();
        let refused = insert(&file).await.unwrap_err();
        assert!(refused.contains("locked"), "{refused}");
        injected.undo().await.unwrap();
        injected.undo().await.unwrap();
        insert(&file).await.unwrap();
        drop(away.inject().await.unwrap());
        insert(&file).await.unwrap();
        let missing = Fault::StoreAway(Store::Sqlite(directory.path().join("none.db")));
        assert!(missing.inject().await.is_err());
    }

    async fn insert(file: &Path) -> Result<(), String> {
        let options = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(file)
            .busy_timeout(Duration::from_millis(1));
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let done = connection.execute("INSERT INTO t VALUES (1)").await;
        let done = done.map(drop).map_err(|error| error.to_string());
        connection.close().await.unwrap();
        done
    }

    /// A server in all that matters here: a process that says who it is in a
    /// file, and has a child.
    #[tokio::test]
    async fn postgres_and_its_children_stand_still_until_undone() {
        let directory = tempfile::tempdir().unwrap();
        let script = "sleep 1000 & echo $$ > postmaster.pid; wait";
        let spawn = Spawn {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("output"),
        };
        let (parent, ended) = spawn.start().unwrap();
        tokio::spawn(ended);
        let pid = directory.path().join("postmaster.pid");
        while fs::read_to_string(&pid).unwrap_or_default().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let [child] = &parent.children()[..] else { panic!("it has one child") };
        let away = Fault::StoreAway(Store::Postgres(directory.path().into()));
        let mut injected = away.inject().await.unwrap();
        assert!(parent.is_stopped() && child.is_stopped());
        injected.undo().await.unwrap();
        for process in [&parent, child] {
            assert!(process.is_alive() && !process.is_stopped());
            let _gone = Fault::kill(process).inject().await;
        }
        assert!(matches!(away.inject().await, Err(FaultError::Ended(_))));
    }
}
