//! A cached answer is what SQLite would say, whichever connection or process writes.

use super::*;
use crate::backend::Db;
use crate::{Error, sqlite};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;

const VALUE: &str = "SELECT name, value FROM sequences WHERE name = $1";
const SET: &str = "INSERT INTO sequences (name, value) VALUES ('x', $1) \
                   ON CONFLICT (name) DO UPDATE SET value = $1";

struct Bed {
    directory: tempfile::TempDir,
    db: Db,
}

impl Bed {
    /// A database in which x is 1.
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let db = sqlite::open(&directory.path().join("test.db")).await.unwrap();
        set(&db, 1).await;
        Self { directory, db }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn misses(&self) -> u64 {
        cache(&self.db).misses.load(Ordering::Relaxed)
    }

    async fn value(&self) -> i64 {
        value(&self.db).await
    }

    /// A connection as any other program has it. It need not outlive a power
    /// cut, so that thousands of commits take no time.
    async fn other(&self) -> SqliteConnection {
        other(&self.path("test.db")).await
    }
}

async fn other(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.synchronous(SqliteSynchronous::Off).connect().await.unwrap()
}

async fn write(other: &mut SqliteConnection, value: i64) {
    sqlx::query(SET).bind(value).execute(other).await.unwrap();
}

async fn set(db: &Db, value: i64) {
    let mut work = db.begin().await.unwrap();
    work.execute(Query::new(SET).bind(value)).await.unwrap();
    work.commit().await.unwrap();
}

async fn value(db: &Db) -> i64 {
    number(&db.fetch(Query::new(VALUE).bind("x")).await.unwrap())
}

fn number(rows: &[Row]) -> i64 {
    let [row] = rows else { panic!("{} rows", rows.len()) };
    assert_eq!(row.text("name").unwrap(), "x");
    row.int("value").unwrap()
}

fn cache(db: &Db) -> &Cache {
    let Db::Sqlite { cache, .. } = db else { panic!("{db:?}") };
    cache
}

#[tokio::test]
async fn sqlite_is_asked_once_while_nothing_changes() {
    let bed = Bed::new().await;
    for _ in 0..1000 {
        assert_eq!(bed.value().await, 1);
        let absent = bed.db.fetch(Query::new(VALUE).bind("y")).await.unwrap();
        assert!(absent.is_empty());
    }
    assert_eq!(bed.misses(), 2);
    set(&bed.db, 2).await;
    assert_eq!((bed.value().await, bed.misses()), (2, 3));
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
        .arg("cache::tests::what_another_process_commits_is_read_next")
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
    assert!(bed.misses() <= expected, "each value was asked for once: {}", bed.misses());
}

#[tokio::test]
async fn what_is_rolled_back_changes_nothing() {
    let bed = Bed::new().await;
    assert_eq!(bed.value().await, 1);
    let mut work = bed.db.begin().await.unwrap();
    work.execute(Query::new(SET).bind(2_i64)).await.unwrap();
    assert_eq!(number(&work.fetch(Query::new(VALUE).bind("x")).await.unwrap()), 2);
    assert_eq!(bed.value().await, 1);
    drop(work);
    assert_eq!((bed.value().await, bed.misses()), (1, 1));
    set(&bed.db, 3).await;
    assert_eq!(bed.value().await, 3);
}

#[tokio::test]
async fn a_snapshot_keeps_its_own_moment() {
    let bed = Bed::new().await;
    let mut snapshot = bed.db.begin_reading().await.unwrap();
    assert_eq!(number(&snapshot.fetch(Query::new(VALUE).bind("x")).await.unwrap()), 1);
    set(&bed.db, 2).await;
    assert_eq!(bed.value().await, 2);
    assert_eq!(number(&snapshot.fetch(Query::new(VALUE).bind("x")).await.unwrap()), 1);
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
async fn a_closed_store_answers_nothing_and_opened_again_nothing_old() {
    let bed = Bed::new().await;
    assert_eq!(bed.value().await, 1);
    bed.db.close().await;
    let closed = bed.db.fetch(Query::new(VALUE).bind("x")).await;
    assert!(matches!(closed, Err(Error::Away(_))));
    assert!(!bed.path("test.db-wal").exists(), "the log was not brought into the file");

    write(&mut bed.other().await, 2).await;
    let again = sqlite::open(&bed.path("test.db")).await.unwrap();
    assert_eq!(value(&again).await, 2);
}

#[test]
fn the_cache_is_bounded() {
    let version = 1;
    let rows = |text: &str| Arc::new(CachedRows::with(text));
    let mut answers = Answers::default();
    let numbered = |number: i64| Query::new(VALUE).bind(number);
    for number in 0..3 * i64::try_from(MAX_ANSWERS).unwrap() {
        drop(answers.insert(version, numbered(number), &rows("x")));
        assert!(answers.find(version, &numbered(number)).is_some());
        assert!(answers.rows.len() <= MAX_ANSWERS);
    }
    let long = "x".repeat(MAX_ANSWER_BYTES / 2);
    for number in 0..200 {
        drop(answers.insert(version, numbered(number), &rows(&long)));
        drop(answers.insert(version, numbered(number), &rows(&long)));
        let held: usize = answers.rows.iter().map(|(query, rows)| query.size() + rows.size()).sum();
        assert_eq!(answers.bytes, held);
        assert!(held <= MAX_BYTES);
    }
    drop(answers.insert(version, numbered(-1), &rows(&"x".repeat(MAX_ANSWER_BYTES))));
    assert!(answers.find(version, &numbered(-1)).is_none(), "too long");
    assert!(answers.find(version, &numbered(199)).is_some(), "nothing made room for it");
}

#[test]
fn a_new_data_version_forgets_everything() {
    let (old, new) = (1, 2);
    let query = |name: &str| Query::new(VALUE).bind(name);
    let rows = Arc::new(CachedRows::with("x"));
    let mut answers = Answers::default();
    assert!(answers.insert(old, query("a"), &rows).is_some_and(|before| before.rows.is_empty()));
    assert!(answers.find(old, &query("a")).is_some());
    assert!(answers.find(new, &query("a")).is_none());
    assert!(answers.insert(new, query("b"), &rows).is_some_and(|before| before.rows.len() == 1));
    assert!(answers.find(new, &query("a")).is_none());
    assert!(answers.find(old, &query("a")).is_none());
    assert!(answers.find(new, &query("b")).is_some());
}

#[tokio::test]
async fn a_cached_row_reads_as_the_row_it_was_copied_from() {
    let bed = Bed::new().await;
    let sql = "SELECT 7 AS number, 0 AS zero, 'text' AS text, '' AS empty, NULL AS absence, \
               'first' AS twice, 'second' AS twice";
    let asked = bed.db.ask(Query::new(sql)).await.unwrap();
    bed.db.fetch(Query::new(sql)).await.unwrap();
    let cached = bed.db.fetch(Query::new(sql)).await.unwrap();
    assert!(matches!((&asked[0], &cached[0]), (Row::Sqlite(_), Row::Cached(_))));
    for column in ["number", "zero", "text", "empty", "absence", "twice", "absent"] {
        let read = |row: &Row| {
            [
                format!("{:?}", row.text(column).ok()),
                format!("{:?}", row.text_or_none(column).ok()),
                format!("{:?}", row.int(column).ok()),
                format!("{:?}", row.int_or_none(column).ok()),
                format!("{:?}", row.flag(column).ok()),
            ]
        };
        assert_eq!(read(&asked[0]), read(&cached[0]), "{column}");
    }
}

#[tokio::test]
async fn bytes_are_read_and_not_cached() {
    let bed = Bed::new().await;
    for _ in 0..2 {
        let rows = bed.db.fetch(Query::new("SELECT x'00' AS bytes, 1 AS one")).await.unwrap();
        assert_eq!(rows[0].int("one").unwrap(), 1);
    }
    assert_eq!(bed.misses(), 2);
}

/// Such a function's answer changes while no row does.
#[test]
fn no_statement_asks_for_time_or_chance() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in std::fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let text = text.to_lowercase();
        for word in ["random(", "randomblob(", "current_time", "current_date", "'now'", "unixepoch"]
        {
            assert!(!text.contains(word), "{} asks for {word}", file.display());
        }
    }
    assert!(!Query::new("PRAGMA data_version").is_pure());
}
