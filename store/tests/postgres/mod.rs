//! A real PostgreSQL for tests: one server for each test process, one database
//! for each test.
//!
//! The server listens on a socket in a temporary directory alone. It ends, and
//! the directory goes, when the test process ends, however it does.

use model::Secret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The address of a new, empty database.
pub async fn database() -> Secret {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(&url("secret", "postgres")).await.unwrap();
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    connection.close().await.unwrap();
    Secret::new(url("secret", &name))
}

/// The address of a database that may not be there, with a password that may
/// be wrong.
pub fn url(password: &str, database: &str) -> String {
    let socket = server().directory.to_str().unwrap().replace('/', "%2F");
    format!("postgres://castellan:{password}@{socket}/{database}")
}

struct Server {
    directory: PathBuf,
    /// Its standard input stays open as long as this process lives.
    _supervisor: Child,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(start)
}

fn start() -> Server {
    let programs = programs().expect(
        "these tests need PostgreSQL, which is not installed; `make test` installs it, \
         or run: apt-get install postgresql",
    );
    // The supervisor removes it.
    let directory = tempfile::Builder::new().prefix("castellan-pg-").tempdir().unwrap().keep();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/postgres/run.sh");
    #[expect(clippy::disallowed_methods, reason = "it must end with this process, by its input")]
    let mut supervisor = std::process::Command::new("/bin/sh")
        .args([&script, &programs, &directory])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(supervisor.stdout.take().unwrap());
    let mut said = String::new();
    output.read_line(&mut said).unwrap();
    if said != "ready\n" {
        output.read_to_string(&mut said).unwrap();
        panic!("PostgreSQL does not start: {said}");
    }
    Server { directory, _supervisor: supervisor }
}

/// Where the newest PostgreSQL has its programs: Debian keeps them off the PATH.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|version| has_server(&debian(*version)))
        .max();
    newest.map(debian).or_else(|| {
        std::env::split_paths(&std::env::var_os("PATH")?).find(|directory| has_server(directory))
    })
}

fn debian(version: u32) -> PathBuf {
    format!("/usr/lib/postgresql/{version}/bin").into()
}

fn has_server(directory: &Path) -> bool {
    directory.join("initdb").exists() && directory.join("postgres").exists()
}
