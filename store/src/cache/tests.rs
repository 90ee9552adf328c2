//! What is told from memory is what SQLite would say, whoever writes.

use super::*;
use crate::backend::Db;
use crate::{Error, backup, sqlite};
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

    fn asked(&self) -> u64 {
        cache(&self.db).asked.load(Ordering::Relaxed)
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
    assert_eq!(bed.asked(), 2);
    set(&bed.db, 2).await;
    assert_eq!((bed.value().await, bed.asked()), (2, 3));
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
                    assert!(last >= known, "{last} was told after {known} was known");
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
    assert!(bed.asked() <= expected, "each value was asked for once: {}", bed.asked());
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
    assert_eq!((bed.value().await, bed.asked()), (1, 1));
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
async fn a_file_in_the_place_of_another_is_not_answered_for() {
    let bed = Bed::new().await;
    backup::copy(&bed.path("test.db"), &bed.path("copy.db")).await.unwrap();
    set(&bed.db, 2).await;
    assert_eq!((bed.value().await, bed.value().await, bed.asked()), (2, 2, 1));

    for suffix in ["-wal", "-shm"] {
        std::fs::remove_file(bed.path(&format!("test.db{suffix}"))).unwrap();
    }
    std::fs::rename(bed.path("copy.db"), bed.path("test.db")).unwrap();
    let new = sqlite::open(&bed.path("test.db")).await.unwrap();
    assert_eq!(value(&new).await, 1);
    for asked in 2..5 {
        bed.value().await;
        assert_eq!(bed.asked(), asked, "only SQLite can say what it has open");
    }
}

#[tokio::test]
async fn a_closed_store_tells_nothing_and_opened_again_nothing_old() {
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

/// The hazard of opening a file that SQLite has locked: see `wal_stamp`.
#[tokio::test]
async fn a_store_that_goes_takes_no_locks_from_another() {
    let bed = Bed::new().await;
    let index = bed.path("test.db-shm");
    let second = sqlite::open(&bed.path("test.db")).await.unwrap();
    assert_eq!(value(&second).await, 1);
    second.close().await;
    drop(second);
    assert!(is_locked(&index), "the wal-index is anybody's to empty");
    drop(std::fs::File::open(&index).unwrap());
    assert!(!is_locked(&index), "this check can't see locks");
}

fn is_locked(path: &Path) -> bool {
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
    std::fs::read_to_string("/proc/locks").unwrap().contains(&format!(":{inode} "))
}

#[test]
fn the_memory_is_bounded() {
    let stamp = stamp(1);
    let page = |text: &str| Arc::new(Page::with(text));
    let mut memory = Memory::default();
    let numbered = |number: i64| Query::new(VALUE).bind(number);
    for number in 0..3 * i64::try_from(ANSWERS).unwrap() {
        drop(memory.keep(stamp, numbered(number), &page("x")));
        assert!(memory.find(stamp, &numbered(number)).is_some());
        assert!(memory.pages.len() <= ANSWERS);
    }
    let long = "x".repeat(LONGEST / 2);
    for number in 0..200 {
        drop(memory.keep(stamp, numbered(number), &page(&long)));
        drop(memory.keep(stamp, numbered(number), &page(&long)));
        let held: usize = memory.pages.iter().map(|(query, page)| query.size() + page.size()).sum();
        assert_eq!(memory.bytes, held);
        assert!(held <= BYTES);
    }
    drop(memory.keep(stamp, numbered(-1), &page(&"x".repeat(LONGEST))));
    assert!(memory.find(stamp, &numbered(-1)).is_none(), "too long");
    assert!(memory.find(stamp, &numbered(199)).is_some(), "nothing made room for it");
}

#[test]
fn a_new_stamp_forgets_everything() {
    let (old, new) = (stamp(1), stamp(2));
    let query = |name: &str| Query::new(VALUE).bind(name);
    let page = Arc::new(Page::with("x"));
    let mut memory = Memory::default();
    assert!(memory.keep(old, query("a"), &page).is_some_and(|before| before.pages.is_empty()));
    assert!(memory.find(old, &query("a")).is_some());
    assert!(memory.find(new, &query("a")).is_none());
    assert!(memory.keep(new, query("b"), &page).is_some_and(|before| before.pages.len() == 1));
    assert!(memory.find(new, &query("a")).is_none());
    assert!(memory.find(old, &query("a")).is_none());
    assert!(memory.find(new, &query("b")).is_some());
}

fn stamp(number: u8) -> Stamp {
    Stamp::numbered(number)
}

#[tokio::test]
async fn a_kept_row_reads_as_the_row_it_was_made_of() {
    let bed = Bed::new().await;
    let sql = "SELECT 7 AS number, 0 AS zero, 'text' AS text, '' AS empty, NULL AS absence, \
               'first' AS twice, 'second' AS twice";
    let asked = bed.db.ask(Query::new(sql)).await.unwrap();
    bed.db.fetch(Query::new(sql)).await.unwrap();
    let kept = bed.db.fetch(Query::new(sql)).await.unwrap();
    assert!(matches!((&asked[0], &kept[0]), (Row::Sqlite(_), Row::Kept(_))));
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
        assert_eq!(read(&asked[0]), read(&kept[0]), "{column}");
    }
}

#[tokio::test]
async fn bytes_are_told_and_not_kept() {
    let bed = Bed::new().await;
    for _ in 0..2 {
        let rows = bed.db.fetch(Query::new("SELECT x'00' AS bytes, 1 AS one")).await.unwrap();
        assert_eq!(rows[0].int("one").unwrap(), 1);
    }
    assert_eq!(bed.asked(), 2);
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
