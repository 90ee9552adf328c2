//! Brokers that are started in the host's warm JVMs: the servers of a new cluster, while the
//! control plane is killed and started again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use host::ProcessId;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use test_support::binary;
use test_support::installation::Installation;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_starts_in_the_hosts_warm_jvms() {
    let mut castellan = Installation::start_warm(3).await;
    // Kafka's start-up cache is made for the first broker, so this one starts cold.
    let first = create(&castellan, "first").await;
    castellan.until_running(first).await;
    let pool = full(&castellan).await;

    // They end with the control plane, also with one that is killed.
    castellan.kill_control_plane().await;
    gone(&castellan, &pool).await;
    castellan.serve().await;
    let pool = full(&castellan).await;

    let second = create(&castellan, "second").await;
    castellan.until_running(second).await;
    let brokers = brokers(&castellan);
    let warm: BTreeSet<i32> = brokers.intersection(&pids(&pool)).copied().collect();
    assert_eq!(warm.len(), 3, "{brokers:?} of {pool:?}");

    // What was given away is not the pool's any more, and the pool is filled again.
    let next = full(&castellan).await;
    assert!(pids(&next).is_disjoint(&brokers), "{next:?}");
    castellan.kill_control_plane().await;
    gone(&castellan, &next).await;
    assert!(pool.iter().all(ProcessId::is_alive), "a broker ended with the control plane");
    castellan.purge().await;
}

async fn create(castellan: &Installation, name: &str) -> i64 {
    let body = json!({ "name": name, "plan": "mouse-3", "region": "local::this-machine" });
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    created["id"].as_i64().unwrap()
}

/// The JVMs that wait, once there are as many as shall be.
async fn full(castellan: &Installation) -> Vec<ProcessId> {
    let ready = castellan
        .until("the pool is full", async || {
            let text = fs::read(castellan.data().join("pool/status.json")).unwrap_or_default();
            let status: Value = serde_json::from_slice(&text).unwrap_or_default();
            let ready: Vec<ProcessId> =
                serde_json::from_value(status["ready"].clone()).unwrap_or_default();
            let is_full = ready.len() == 3 && ready.iter().all(ProcessId::is_alive);
            if is_full { Ok(ready) } else { Err(status.to_string()) }
        })
        .await;
    let data = castellan.data();
    let arguments = ["host", "--json", "--data", data.to_str().unwrap()];
    let output = host::run_output(&binary(), &arguments, None).await.unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["warm"]["ready"], &told["warm"]["wanted"]), (&json!(3), &json!(3)), "{told}");
    ready
}

async fn gone(castellan: &Installation, pool: &[ProcessId]) {
    castellan
        .until("the pool has ended", async || {
            let left: Vec<&ProcessId> = pool.iter().filter(|process| process.is_alive()).collect();
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        })
        .await;
}

fn brokers(castellan: &Installation) -> BTreeSet<i32> {
    castellan.processes().iter().map(|processes| processes.broker.pid).collect()
}

fn pids(processes: &[ProcessId]) -> BTreeSet<i32> {
    processes.iter().map(|process| process.pid).collect()
}
