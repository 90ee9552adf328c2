//! Disks that are gone, empty or another's when their server comes back: the
//! server is held and says why, nothing is formatted, the others go on taking
//! writes, and nothing acknowledged is lost.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod loss;

use faults::Fault;
use loss::{Loss, Taken};
use model::KafkaVersion;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use test_support::installation::{Installation, Processes};
use test_support::kcat::Kcat;
use test_support::writer::{self, Writer};

/// As many of five, and the first ones.
const CONTROLLERS: usize = 3;
/// A controller's disk, with data on it.
const CONTROLLER: usize = 2;
/// A broker's that is no controller, where there are five.
const BROKER: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_disk_is_held_and_never_formatted() {
    let releases = kafka::versions::all();
    let [oldest, .., newest] = releases else { panic!("there are several releases") };
    if std::env::var_os("CASTELLAN_TEST_ALL").is_none() {
        return lose(newest.version, 3, &[(CONTROLLER, Loss::Empty)]).await;
    }
    let every = [CONTROLLER, BROKER].map(|server| Loss::ALL.map(|loss| (server, loss)));
    lose(newest.version, 5, every.as_flattened()).await;
    let gone = [CONTROLLER, BROKER].map(|server| (server, Loss::Gone));
    lose(oldest.version, 5, &gone).await;
}

async fn lose(version: KafkaVersion, servers: usize, losses: &[(usize, Loss)]) {
    let mut castellan = Installation::start().await;
    let instance = create(&castellan, version, servers).await;
    let id = instance["id"].as_i64().unwrap();
    let (_, details) = castellan.get(&format!("/api/instances/{id}/details")).await;
    let kcat = Kcat::new(&castellan, &instance).await;
    // As many partitions as servers: each of these has some.
    let partitions = i32::try_from(servers).unwrap();
    let mut writer = Writer::start(&instance, &details, partitions).await;
    writer.goes_on(20).await;
    for (server, loss) in losses {
        eprintln!("Kafka {version}: server {server} of {servers}, {loss:?}");
        one_is_lost(&mut castellan, &mut writer, id, *server, *loss).await;
    }
    let acknowledged = writer.stop().await;
    nothing_is_lost(&kcat, acknowledged).await;
    if servers > 3 {
        wakes_without_one(&castellan, &kcat, id, acknowledged).await;
        the_last_one_stops_without_a_quorum(&mut castellan).await;
    }
    castellan.purge().await;
}

async fn create(castellan: &Installation, version: KafkaVersion, servers: usize) -> Value {
    let body = json!({
        "name": "lost", "plan": format!("mouse-{servers}"), "region": "local::this-machine",
        "kafka_version": version.to_string(),
    });
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    castellan.until_running(created["id"].as_i64().unwrap()).await
}

/// The server goes down, and its disk is not what it was when it comes back.
async fn one_is_lost(
    castellan: &mut Installation,
    writer: &mut Writer,
    id: i64,
    server: usize,
    loss: Loss,
) {
    let servers = castellan.processes().len();
    castellan.kill_control_plane().await;
    end(&castellan.processes()[server - 1]).await;
    let taken = Taken::take(castellan, server, loss);
    castellan.serve().await;
    castellan.until_status(id, &taken.status()).await;
    writer.goes_on(20).await;
    assert_eq!(castellan.brokers_alive(), servers - 1, "a broker runs without its disk");
    taken.give_back();
    castellan.until_running(id).await;
    writer.goes_on(20).await;
}

/// A whole cluster that was stopped comes back as far as it can.
async fn wakes_without_one(castellan: &Installation, kcat: &Kcat, id: i64, acknowledged: u64) {
    let actions = format!("/api/instances/{id}/actions");
    castellan.post(&format!("{actions}/cluster-stop"), &json!({})).await;
    castellan.until_status(id, "stopped").await;
    let taken = Taken::take(castellan, CONTROLLER, Loss::Gone);
    castellan.post(&format!("{actions}/cluster-start"), &json!({})).await;
    castellan.until_status(id, &taken.status()).await;
    // One that is held can be stopped, too.
    castellan.post(&format!("{actions}/cluster-stop"), &json!({})).await;
    castellan.until_status(id, "stopped").await;
    castellan.post(&format!("{actions}/cluster-start"), &json!({})).await;
    castellan.until_status(id, &taken.status()).await;
    taken.give_back();
    castellan.until_running(id).await;
    nothing_is_lost(kcat, acknowledged).await;
}

/// Kafka itself would wait five minutes for controllers that are gone. From 4.0 on a
/// follower takes the last leader for one that is there again and again.
async fn the_last_one_stops_without_a_quorum(castellan: &mut Installation) {
    castellan.kill_control_plane().await;
    let active = active_controller(castellan);
    let last = (0..CONTROLLERS).find(|server| server + 1 != active).unwrap();
    let processes = castellan.processes();
    for server in (0..CONTROLLERS).filter(|server| *server != last) {
        end(&processes[server]).await;
    }
    let watch = processes[last].broker.watch().unwrap();
    processes[last].agent.terminate();
    let ended = tokio::time::timeout(Duration::from_mins(1), watch.ended()).await;
    assert!(ended.is_ok(), "it did not stop within a minute: {}", last_words(castellan, last));
}

/// The number of the server that leads the quorum, as the first one has it on its disk.
fn active_controller(castellan: &Installation) -> usize {
    let path = castellan.disk(0).join("data/__cluster_metadata-0/quorum-state");
    let state: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let active = state["leaderId"].as_u64().and_then(|id| usize::try_from(id).ok());
    active.unwrap_or_else(|| panic!("nobody leads: {state}"))
}

/// The end of what a server's broker wrote.
fn last_words(castellan: &Installation, server: usize) -> String {
    let servers = fs::read_dir(castellan.data().join("servers")).unwrap();
    let mut directories: Vec<PathBuf> = servers.map(|entry| entry.unwrap().path()).collect();
    directories.sort();
    let log = fs::read_to_string(directories[server].join("logs/server.log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(200)..].join("\n")
}

/// Ends an agent and its broker at once, by the pids on record.
async fn end(Processes { agent, broker }: &Processes) {
    for process in [agent, broker] {
        // One that has ended is where it should be.
        drop(Fault::kill(process).inject().await);
    }
}

/// Every number that was acknowledged is there.
async fn nothing_is_lost(kcat: &Kcat, acknowledged: u64) {
    let read = kcat.read(writer::TOPIC, "SCRAM-SHA-256").await;
    let mut seen: Vec<u64> = read.iter().map(|number| number.parse().unwrap()).collect();
    seen.sort_unstable();
    seen.dedup();
    let expected: Vec<u64> = (1..=acknowledged).collect();
    assert_eq!(seen, expected);
}
