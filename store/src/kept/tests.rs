//! A kept value is what the rows would give, whichever connection or process writes.

use super::*;
use crate::db::{Query, Run as _};
use crate::{Error, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

const VALUE: &str = "SELECT name, value FROM sequences WHERE name = $1";
const SET: &str = "INSERT INTO sequences (name, value) VALUES ('x', $1) \
                   ON CONFLICT (name) DO UPDATE SET value = $1";

struct Bed {
    directory: tempfile::TempDir,
    store: Store,
    kept: Kept<&'static str, i64>,
    /// How often a value was made.
    made: AtomicU64,
}

impl Bed {
    /// A database in which x is 1.
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory.path().join("test.db")).await;
        set(&store, 1).await;
        Self { directory, store, kept: Kept::new(100), made: AtomicU64::new(0) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    async fn try_value(&self, name: &'static str) -> Result<i64> {
        let make = async || {
            self.made.fetch_add(1, Ordering::Relaxed);
            read(&mut self.store.reader(), name).await
        };
        self.kept
            .get_or_make(&self.store, self.store.moment(), name, make)
            .await
            .map(|value| *value)
    }

    async fn value(&self) -> i64 {
        self.try_value("x").await.unwrap()
    }

    /// A connection as any other program has it. It need not outlive a power
    /// cut, so that thousands of commits take no time.
    async fn other(&self) -> SqliteConnection {
        other(&self.path("test.db")).await
    }
}

async fn open(path: &Path) -> Store {
    let text = crate::MasterKey::generate(&model::OsEntropy);
    let key = crate::MasterKey::parse(&text, Arc::new(model::OsEntropy)).unwrap();
    Store::open(path, key).await.unwrap()
}

async fn other(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.synchronous(SqliteSynchronous::Off).connect().await.unwrap()
}

async fn write(other: &mut SqliteConnection, value: i64) {
    sqlx::query(SET).bind(value).execute(other).await.unwrap();
}

async fn set(store: &Store, value: i64) {
    let mut work = store.begin().await.unwrap();
    work.execute(Query::new(SET).bind(value)).await.unwrap();
    work.commit().await.unwrap();
}

/// 0 if there is no such row.
async fn read(run: &mut impl crate::Run, name: &str) -> Result<i64> {
    let row = run.fetch_one(Query::new(VALUE).bind(name)).await?;
    row.map_or(Ok(0), |row| row.int("value"))
}

#[tokio::test]
async fn a_value_is_made_once_while_nothing_changes() {
    let bed = Bed::new().await;
    for _ in 0..1000 {
        assert_eq!(bed.value().await, 1);
        assert_eq!(bed.try_value("absent").await.unwrap(), 0);
    }
    assert_eq!(bed.made(), 2);
    set(&bed.store, 2).await;
    assert_eq!((bed.value().await, bed.made()), (2, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_another_connection_commits_is_read_next() {
    let bed = Arc::new(Bed::new().await);
    let committed = Arc::new(AtomicI64::new(1));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (bed, committed) = (Arc::clone(&bed), Arc::clone(&committed));
            tokio::spawn(async move {
                let mut last = 0;
                while last < 3000 {
                    let known = committed.load(Ordering::SeqCst).max(last);
                    last = bed.value().await;
                    assert!(last >= known, "{last} was read after {known} was known");
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let mut other = bed.other().await;
    for value in 2..=3000 {
        write(&mut other, value).await;
        committed.store(value, Ordering::SeqCst);
        assert_eq!(bed.value().await, value);
        assert_eq!(bed.value().await, value);
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

/// Run again by itself with this variable, the test is the other process.
const WRITE_TO: &str = "CASTELLAN_TEST_WRITE_TO";
const COMMITS: i64 = 500;

#[tokio::test]
async fn what_another_process_commits_is_read_next() {
    use std::io::{BufRead as _, BufReader, Write as _, stdin};
    if let Some(path) = std::env::var_os(WRITE_TO) {
        let mut other = other(Path::new(&path)).await;
        for line in stdin().lines() {
            write(&mut other, line.unwrap().parse().unwrap()).await;
            eprintln!("committed");
        }
        return;
    }
    let bed = Bed::new().await;
    #[expect(clippy::disallowed_methods, reason = "it ends with its input")]
    let mut process = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--nocapture", "--exact"])
        .arg("kept::tests::what_another_process_commits_is_read_next")
        .env(WRITE_TO, bed.path("test.db"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut orders = process.stdin.take().unwrap();
    let mut answers = BufReader::new(process.stderr.take().unwrap()).lines();
    for value in 2..COMMITS {
        writeln!(orders, "{value}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "committed");
        assert_eq!((bed.value().await, bed.value().await), (value, value));
    }
    drop(orders);
    assert!(process.wait().unwrap().success());
    let expected = u64::try_from(COMMITS).unwrap();
    assert!(bed.made() <= expected, "each value was made once: {}", bed.made());
}

#[tokio::test]
async fn what_is_rolled_back_changes_nothing() {
    let bed = Bed::new().await;
    assert_eq!(bed.value().await, 1);
    let mut work = bed.store.begin().await.unwrap();
    work.execute(Query::new(SET).bind(2_i64)).await.unwrap();
    assert_eq!(read(&mut work, "x").await.unwrap(), 2);
    assert_eq!(bed.value().await, 1);
    drop(work);
    assert_eq!((bed.value().await, bed.made()), (1, 1));
    set(&bed.store, 3).await;
    assert_eq!(bed.value().await, 3);
}

#[tokio::test]
async fn what_is_committed_while_a_value_is_made_is_not_missed() {
    let bed = Bed::new().await;
    let make = async || {
        let value = read(&mut bed.store.reader(), "x").await?;
        set(&bed.store, 2).await;
        Ok::<_, Error>(value)
    };
    let first = bed.kept.get_or_make(&bed.store, bed.store.moment(), "x", make).await;
    assert_eq!(*first.unwrap(), 1);
    assert_eq!(bed.value().await, 2);
}

#[tokio::test]
async fn a_checkpoint_does_no_harm() {
    let bed = Bed::new().await;
    let mut other = bed.other().await;
    let mut expected = 1;
    for _ in 0..50 {
        for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "TRUNCATE"] {
            assert_eq!(bed.value().await, expected);
            let checkpoint = format!("PRAGMA wal_checkpoint({mode})");
            other.execute(AssertSqlSafe(checkpoint)).await.unwrap();
            assert_eq!(bed.value().await, expected, "after {mode}");
            expected += 1;
            write(&mut other, expected).await;
            assert_eq!(bed.value().await, expected, "after {mode} and a commit");
        }
    }
}

#[tokio::test]
async fn a_closed_store_gives_nothing_old() {
    let bed = Bed::new().await;
    assert_eq!(bed.value().await, 1);
    bed.store.close().await;
    assert!(matches!(bed.try_value("x").await, Err(Error::Away(_))));
    assert!(!bed.path("test.db-wal").exists(), "the log was not brought into the file");
}

#[test]
fn so_many_are_kept_at_most() {
    let kept = Kept::new(10);
    for number in 0..35 {
        kept.insert(1, number, Arc::new(number));
        assert_eq!(kept.find(1, &number).as_deref(), Some(&number));
        assert!(kept.values.read().unwrap().by_key.len() <= 10);
    }
}

#[test]
fn a_new_data_version_forgets_everything() {
    let (old, new) = (1, 2);
    let kept = Kept::new(10);
    kept.insert(old, "a", Arc::new(1));
    assert!(kept.find(old, &"a").is_some());
    assert!(kept.find(new, &"a").is_none());
    kept.insert(new, "b", Arc::new(2));
    assert!(kept.find(new, &"a").is_none());
    assert!(kept.find(old, &"a").is_none());
    assert!(kept.find(new, &"b").is_some());
}
