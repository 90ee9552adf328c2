//! A real PostgreSQL for tests: one server for each test process, one database
//! for each test.
//!
//! The server listens on a socket in a temporary directory alone. It ends, and
//! the directory goes, when the test process ends, however it does.

use model::Secret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// The address of a new, empty database of the server that all tests share.
pub async fn database() -> Secret {
    shared().database().await
}

/// The address of a database that may not be there, with a password that may
/// be wrong.
pub fn url(password: &str, database: &str) -> String {
    shared().url(password, database)
}

fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::run)
}

pub struct Server {
    directory: PathBuf,
    databases: AtomicU32,
    /// Its standard input stays open as long as this value lives.
    supervisor: Mutex<(Child, BufReader<ChildStdout>)>,
}

impl Server {
    pub fn run() -> Self {
        let programs = programs().expect(
            "these tests need PostgreSQL, which is not installed; `make test` installs it, \
             or run: apt-get install postgresql",
        );
        // The supervisor removes it.
        let directory = tempfile::Builder::new().prefix("castellan-pg-").tempdir().unwrap().keep();
        let script = crate::script("postgres.sh");
        #[expect(
            clippy::disallowed_methods,
            reason = "it must end with this process, by its input"
        )]
        let mut supervisor = std::process::Command::new("/bin/sh")
            .args([&script, &programs, &directory])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(supervisor.stdout.take().unwrap());
        let supervisor = Mutex::new((supervisor, output));
        let server = Self { directory, databases: AtomicU32::new(0), supervisor };
        server.hear("ready\n");
        server
    }

    pub async fn database(&self) -> Secret {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut connection = PgConnection::connect(&self.url("secret", "postgres")).await.unwrap();
        connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
        connection.close().await.unwrap();
        Secret::new(self.url("secret", &name))
    }

    fn url(&self, password: &str, database: &str) -> String {
        let socket = self.directory.to_str().unwrap().replace('/', "%2F");
        format!("postgres://castellan:{password}@{socket}/{database}")
    }

    /// Turns every client out, and is gone.
    pub fn stop(&self) {
        self.tell("stop\n");
        self.hear("stopped\n");
    }

    pub fn start(&self) {
        self.tell("start\n");
        self.hear("ready\n");
    }

    fn tell(&self, line: &str) {
        let mut supervisor = self.supervisor.lock().unwrap();
        supervisor.0.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn hear(&self, expected: &str) {
        let output = &mut self.supervisor.lock().unwrap().1;
        let mut said = String::new();
        output.read_line(&mut said).unwrap();
        if said != expected {
            output.read_to_string(&mut said).unwrap();
            panic!("PostgreSQL does not do as told: {said}");
        }
    }
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
