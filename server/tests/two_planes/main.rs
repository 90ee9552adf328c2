//! Two control planes on one PostgreSQL and one host, with a real cluster. One
//! is stopped with SIGSTOP between its look at the lease and its effect, for
//! longer than its lease; the other takes over; the first one goes on. The step
//! has one effect.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod plane;

use host::ProcessId;
use plane::Plane;
use serde_json::json;
use sqlx::{Connection as _, PgConnection, Row as _};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use test_support::postgres;

/// The field of a log line by which programs know that a late worker was refused.
const LATE: &str = "refusal=\"outdated\"";
const EFFECT: &str = "before ensure_server";

struct Place {
    directory: tempfile::TempDir,
    database: String,
}

/// The processes and files of servers that are on the host, and the rows.
#[derive(PartialEq, Eq, Debug)]
struct There {
    agents: Vec<Option<ProcessId>>,
    brokers: Vec<Option<ProcessId>>,
    /// By the mark in their environment, on record or not.
    processes: usize,
    files: Vec<String>,
    rows: BTreeMap<&'static str, i64>,
}

impl Place {
    async fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = postgres::database().await.expose().to_owned();
        Self { directory: host::testing::tempdir(), database }
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn host(&self) -> PathBuf {
        self.root().join("host")
    }

    async fn start(&self, name: &'static str, hold_at: Option<&str>, key: &str) -> Plane {
        Plane::start(self.root(), name, &self.database, hold_at, key).await
    }

    /// What an operator does once, for the second control plane to open the
    /// same store.
    fn share_master_key(&self) {
        host::create_private_dir(&self.root().join("b")).unwrap();
        let key = |name| self.root().join(name).join("master.key");
        fs::copy(key("a"), key("b")).unwrap();
    }

    async fn there(&self) -> There {
        let servers = entries(&self.host().join("servers"));
        let pid = |file: &str| {
            let of = |server: &PathBuf| ProcessId::load(&server.join(file));
            servers.iter().map(of).map(|id| id.filter(ProcessId::is_alive)).collect()
        };
        let marked = host::with_variable("CASTELLAN_SERVER").into_iter();
        let host = fs::canonicalize(self.host()).unwrap();
        let rooms = ["servers", "disks", "networks"];
        let files = rooms.iter().flat_map(|room| entries(&self.host().join(room)));
        There {
            agents: pid("agent.pid"),
            brokers: pid("run/broker.pid"),
            processes: marked.filter(|(mark, _)| Path::new(mark).starts_with(&host)).count(),
            files: files.map(|path| path.display().to_string()).collect(),
            rows: self.rows().await,
        }
    }

    async fn rows(&self) -> BTreeMap<&'static str, i64> {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        let mut counted = BTreeMap::new();
        for (table, sql) in [
            ("instances", "SELECT COUNT(*) AS count FROM instances"),
            ("servers", "SELECT COUNT(*) AS count FROM servers"),
            ("disks", "SELECT COUNT(*) AS count FROM disks"),
            ("vpcs", "SELECT COUNT(*) AS count FROM vpcs"),
            ("leases", "SELECT COUNT(*) AS count FROM leases"),
        ] {
            let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
            counted.insert(table, row.get("count"));
        }
        connection.close().await.unwrap();
        counted
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for server in cloud_local::running(&self.host()).unwrap_or_default() {
            for process in server.agent.iter().chain(&server.brokers) {
                process.kill_for_good();
            }
        }
        let _ = cloud_local::remove_groups(&self.host());
    }
}

fn entries(room: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(room).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_was_slept_through_has_one_effect() {
    let place = Place::new().await;
    let (mut sleeper, key) = sleeps_through_a_create(&place).await;
    let awake = place.start("b", None, &key).await;
    let id = awake.get("/api/instances").await[0]["id"].as_i64().unwrap();
    awake.until_running(id).await;
    let before = place.there().await;
    assert_eq!((before.processes, before.files.len()), (2, 3), "{before:?}");
    assert!(before.agents[0].is_some() && before.brokers[0].is_some(), "{before:?}");
    assert!(before.rows.values().all(|rows| *rows == 1), "{before:?}");
    assert!(!sleeper.log().contains(LATE));

    sleeper.go_on();
    sleeper.until_it_says(LATE).await;
    // It is a control plane like any other again.
    sleeper.until_running(id).await;
    awake.until_running(id).await;
    assert_eq!(place.there().await, before, "one agent, one JVM, one set of rows");

    sleeper.end().await;
    awake.end().await;
    deleted_while_it_ran(&place, &key, id).await;
    deleted_while_it_was_made(&place, &key).await;
}

/// The first control plane takes a create, and is stopped right before it
/// starts the agent.
async fn sleeps_through_a_create(place: &Place) -> (Plane, String) {
    let mut sleeper = place.start("a", Some(EFFECT), "").await;
    let key = sleeper.create_account().await;
    create(&sleeper).await;
    sleeper.stop_where_it_is_held().await;
    assert_eq!(place.there().await.processes, 0, "it is stopped before its effect");
    place.share_master_key();
    (sleeper, key)
}

async fn create(plane: &Plane) -> i64 {
    let body = json!({"name": "late", "plan": "mouse-1", "region": "local::this-machine"});
    plane.post("/api/instances", &body).await["id"].as_i64().unwrap()
}

/// Stopped right before it makes sure of the agent of a cluster that runs.
async fn deleted_while_it_ran(place: &Place, key: &str, id: i64) {
    let mut sleeper = place.start("a", Some(EFFECT), key).await;
    sleeper.stop_where_it_is_held().await;
    let awake = place.start("b", None, key).await;
    finds_it_gone(place, &mut sleeper, &awake, id).await;
    sleeper.end().await;
    awake.end().await;
}

/// Stopped right before it makes the disk of a cluster that is just created.
async fn deleted_while_it_was_made(place: &Place, key: &str) {
    let mut sleeper = place.start("a", Some("before ensure_disk"), key).await;
    let id = create(&sleeper).await;
    sleeper.stop_where_it_is_held().await;
    let awake = place.start("b", None, key).await;
    finds_it_gone(place, &mut sleeper, &awake, id).await;
    sleeper.end().await;
    awake.purge().await;
    assert_eq!(entries(&place.host()), Vec::<PathBuf>::new());
}

/// The sleeper finds the instance gone for good when it goes on, and makes
/// nothing.
async fn finds_it_gone(place: &Place, sleeper: &mut Plane, awake: &Plane, id: i64) {
    let said_before = sleeper.log().matches(LATE).count();
    awake.delete(&format!("/api/instances/{id}")).await;
    let nothing = awake
        .until("nothing is left", async || {
            let there = place.there().await;
            let gone = there.processes == 0
                && there.files.is_empty()
                && there.rows.values().all(|rows| *rows == 0);
            if gone { Ok(there) } else { Err(there) }
        })
        .await;
    assert_eq!(entries(&place.host().join("fences")).len(), 1, "somebody may come late");

    sleeper.go_on();
    sleeper
        .until("it is refused", async || {
            let said = sleeper.log().matches(LATE).count();
            if said > said_before { Ok(()) } else { Err((said, place.there().await)) }
        })
        .await;
    assert_eq!(place.there().await, nothing);
}
