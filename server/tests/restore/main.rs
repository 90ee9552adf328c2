//! Back up, make another cluster, restore: what the backup knows goes on
//! untouched, what it does not know runs on as an orphan until a person decides.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod refusals;

use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _};
use std::path::Path;
use std::time::{Duration, Instant};
use test_support::binary;
use test_support::installation::{Installation, Processes};
use test_support::left_over;

/// Given to the agent after the backup, so that the restored store has to count
/// on from below it.
const ADVANCED: i64 = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restore_old_clusters_go_on_and_new_ones_are_orphans() {
    let mut castellan = Installation::start().await;
    let one = create(&castellan, "one").await;
    castellan.until_running(one).await;
    let backups = tempfile::tempdir().unwrap();
    let file = backups.path().join("castellan.backup");
    back_up(&castellan, &file).await;
    a_pause_holds_and_a_resume_goes_on(&castellan, one).await;
    advance_revision(&mut castellan).await;

    let two = create(&castellan, "two").await;
    castellan.until_running(two).await;
    let processes = castellan.processes();
    let [first, second] = &processes[..] else { panic!("{processes:?}") };
    let refused = refused(&castellan, &["restore", file.to_str().unwrap()]).await;
    assert!(refused.contains("needs the control plane stopped"), "{refused}");

    castellan.kill_control_plane().await;
    run(&castellan, &["restore", file.to_str().unwrap()]).await;
    castellan.serve().await;
    castellan.until_heard_anew(std::slice::from_ref(first)).await;
    castellan.until_running(one).await;
    until_told_from_below(&castellan).await;
    assert_eq!(castellan.processes(), processes, "all run on");
    assert!(first.broker.is_alive() && second.broker.is_alive());
    assert_eq!(listed(&castellan).await, [one]);
    let orphans = orphans(&castellan).await;
    assert_eq!(kinds(&orphans), ["server", "disk", "network"], "{orphans:?}");
    assert_eq!(orphans[0]["id"], "server/2");
    assert_eq!(orphans[0]["pids"], json!([second.agent.pid, second.broker.pid]));

    an_adopted_cluster_is_as_before(&mut castellan, [one, two], &processes).await;
    a_removed_orphan_is_gone(&mut castellan, &file, two, second).await;
    assert_eq!(castellan.processes(), std::slice::from_ref(first), "untouched to the end");
    castellan.purge().await;
}

async fn create(castellan: &Installation, name: &str) -> i64 {
    let body = json!({"name": name, "plan": "mouse-1", "region": "local::this-machine"});
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    created["id"].as_i64().unwrap()
}

async fn back_up(castellan: &Installation, file: &Path) {
    let path = file.to_str().unwrap();
    let said = run(castellan, &["backup", path]).await;
    assert!(said.contains("the master key is not in it"), "{said}");
    let refused = refused(castellan, &["backup", path]).await;
    assert!(refused.contains("--force"), "{refused}");
    run(castellan, &["backup", path, "--force"]).await;
}

async fn a_pause_holds_and_a_resume_goes_on(castellan: &Installation, id: i64) {
    run(castellan, &["engine", "pause"]).await;
    until_status(castellan, id, "paused by the operator").await;
    let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_eq!(instance["ready"], true);
    run(castellan, &["engine", "resume"]).await;
    until_status(castellan, id, "running").await;
}

async fn advance_revision(castellan: &mut Installation) {
    castellan.kill_control_plane().await;
    let url = format!("sqlite://{}", castellan.data().join("castellan.db").display());
    let mut store = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let advance = "UPDATE servers SET revision = 1000, \
                   desired = json_set(desired, '$.revision', 1000)";
    store.execute(advance).await.unwrap();
    store.close().await.unwrap();
    castellan.serve().await;
    until(async || {
        let (report, _) = left_over::reports(castellan).await.remove(0);
        if report["revision"] == ADVANCED { Ok(()) } else { Err(report.to_string()) }
    })
    .await;
}

/// The agent follows a lower revision than it had, because of its epoch.
async fn until_told_from_below(castellan: &Installation) {
    until(async || {
        let (report, _) = left_over::reports(castellan).await.remove(0);
        let number = |field: &str| report[field].as_i64().unwrap();
        let below = number("store_epoch") > 1 && number("revision") < ADVANCED;
        if below { Ok(()) } else { Err(report.to_string()) }
    })
    .await;
}

/// The store that was replaced still knows it.
async fn an_adopted_cluster_is_as_before(
    castellan: &mut Installation,
    instances: [i64; 2],
    processes: &[Processes],
) {
    let refused = refused(castellan, &["orphans", "adopt", "server/2"]).await;
    assert!(refused.contains("needs the control plane stopped"), "{refused}");
    castellan.kill_control_plane().await;
    run(castellan, &["orphans", "adopt", "server/2"]).await;
    castellan.serve().await;
    castellan.until_heard_anew(processes).await;
    castellan.until_running(instances[1]).await;
    assert_eq!(castellan.processes(), processes, "the same agent and the same JVM");
    assert_eq!(listed(castellan).await, instances);
    assert!(orphans(castellan).await.is_empty());
}

async fn a_removed_orphan_is_gone(
    castellan: &mut Installation,
    file: &Path,
    two: i64,
    removed: &Processes,
) {
    castellan.kill_control_plane().await;
    let path = file.to_str().unwrap();
    let refused = self::refused(castellan, &["restore", path]).await;
    assert!(refused.contains("from an earlier restore"), "{refused}");
    run(castellan, &["restore", path, "--force"]).await;
    for orphan in orphans(castellan).await {
        assert!(orphan["instance_id"] == two || orphan["kind"] == "network", "{orphan}");
        run(castellan, &["orphans", "remove", orphan["id"].as_str().unwrap(), "--yes"]).await;
    }
    assert!(!removed.agent.is_alive() && !removed.broker.is_alive());
    assert!(orphans(castellan).await.is_empty());
    castellan.serve().await;
}

async fn listed(castellan: &Installation) -> Vec<i64> {
    let (_, instances) = castellan.get("/api/instances").await;
    instances.as_array().unwrap().iter().map(|it| it["id"].as_i64().unwrap()).collect()
}

async fn orphans(castellan: &Installation) -> Vec<Value> {
    let output = castellan_command(castellan, &["orphans", "list", "--json"]).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn kinds(orphans: &[Value]) -> Vec<&str> {
    orphans.iter().map(|orphan| orphan["kind"].as_str().unwrap()).collect()
}

async fn castellan_command(castellan: &Installation, arguments: &[&str]) -> std::process::Output {
    let data = castellan.data();
    let arguments = [arguments, &["--data", data.to_str().unwrap()]].concat();
    host::run_output(&binary(), &arguments, None).await.unwrap()
}

/// What it says to the person.
async fn run(castellan: &Installation, arguments: &[&str]) -> String {
    let output = castellan_command(castellan, arguments).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

async fn refused(castellan: &Installation, arguments: &[&str]) -> String {
    let output = castellan_command(castellan, arguments).await;
    assert!(!output.status.success(), "{arguments:?} went through");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn until_status(castellan: &Installation, id: i64, wanted: &str) {
    until(async || {
        let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
        if instance["status"] == wanted { Ok(()) } else { Err(instance["status"].to_string()) }
    })
    .await;
}

async fn until(condition: impl AsyncFn() -> Result<(), String>) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while let Err(seen) = condition().await {
        assert!(Instant::now() < deadline, "waited too long; last seen: {seen}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
