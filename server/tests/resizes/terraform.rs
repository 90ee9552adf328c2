//! What a program does that keeps an instance as a file says, with real servers: it creates,
//! reads, sends the whole file after each change of it, waits until everything is configured, and
//! then finds nothing left to change. `api/tests/it/changes/terraform.rs` has more of it without
//! servers.

use crate::cluster::Cluster;
use serde_json::{Value, json};
use std::time::Instant;

const SAVED: &str = "Changes saved";
const BEGUN: &str = "Your cluster is being reconfigured…";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_is_followed_and_then_nothing_is_left_to_change() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let cluster = Cluster::create(newest, 1).await;
    let created = refreshed(&cluster).await;
    assert_eq!((&created["plan"], &created["nodes"]), (&json!("mouse-1"), &json!(1)));
    let mut file = json!({
        "name": "resized", "plan": "mouse-1", "nodes": 1, "tags": [],
        "kafka_version": newest.version.to_string(),
    });
    changes_nothing(&cluster, &file).await;

    // The plan's name says one; the number beside it wins.
    file["nodes"] = json!(3);
    let grown = follows(&cluster, &file).await;
    assert_eq!((&grown["plan"], &grown["nodes"]), (&json!("mouse-3"), &json!(3)));
    file["plan"] = json!("mouse-3");
    changes_nothing(&cluster, &file).await;

    let disk = created["disk"].as_i64().unwrap() + 5;
    file["disk_size"] = json!(disk);
    let larger = follows(&cluster, &file).await;
    assert_eq!((&larger["disk"], &larger["plan"]), (&json!(disk), &json!("mouse-3")));

    file["plan"] = json!("mouse-1");
    file["nodes"] = json!(1);
    file["accept_single_copy"] = json!(true);
    let shrunk = follows(&cluster, &file).await;
    assert_eq!((&shrunk["plan"], &shrunk["nodes"]), (&json!("mouse-1"), &json!(1)));
    for kept in ["name", "url", "apikey", "hostname", "vpc_id", "tags", "region"] {
        assert_eq!(shrunk[kept], created[kept], "{kept}");
    }

    assert_eq!(cluster.castellan.delete(&cluster.path()).await, 204);
    cluster.castellan.until_gone().await;
    cluster.castellan.purge().await;
}

/// The values that such a program keeps, as it reads them.
async fn refreshed(cluster: &Cluster) -> Value {
    let (_, read) = cluster.castellan.get(&cluster.path()).await;
    let (_, nodes) = cluster.castellan.get(&format!("{}/nodes", cluster.path())).await;
    json!({
        "name": read["name"], "plan": read["plan"], "nodes": read["nodes"],
        "region": read["region"], "tags": read["tags"], "url": read["url"],
        "apikey": read["apikey"], "hostname": read["hostname_external"],
        "vpc_id": read["vpc_id"], "version": read["kafka_version"],
        "disk": nodes[0]["disk_size"],
    })
}

async fn send(cluster: &Cluster, file: &Value) -> Value {
    let (status, answer) = cluster.castellan.put(&cluster.path(), file).await;
    assert_eq!(status, 200, "{file}: {answer}");
    answer["message"].clone()
}

/// The file is sent, and what it says comes true. What is read then stays.
async fn follows(cluster: &Cluster, file: &Value) -> Value {
    let began = Instant::now();
    assert_eq!(send(cluster, file).await, BEGUN);
    let (_, during) = cluster.castellan.get(&cluster.path()).await;
    assert_eq!(during["ready"], true, "customers go on: {during}");
    cluster.until_configured().await;
    cluster.is_of(u32::try_from(file["nodes"].as_i64().unwrap()).unwrap()).await;
    every_node_is_configured(cluster).await;
    eprintln!("{file}: after {:?}", began.elapsed());
    changes_nothing(cluster, file).await
}

/// A disk that grows keeps its node waiting, and not the cluster.
async fn every_node_is_configured(cluster: &Cluster) {
    let path = format!("{}/nodes", cluster.path());
    let is_done = |node: &Value| node["configured"] == true && node["running"] == true;
    let is_every = async || {
        let (_, nodes) = cluster.castellan.get(&path).await;
        let is_so = nodes.as_array().unwrap().iter().all(is_done);
        if is_so { Ok(()) } else { Err(nodes.to_string()) }
    };
    cluster.castellan.until_within(crate::LONGEST, "every node is configured", is_every).await;
}

/// The same file once more. No server is restarted for it.
async fn changes_nothing(cluster: &Cluster, file: &Value) -> Value {
    let (before, brokers) = (refreshed(cluster).await, cluster.castellan.processes());
    assert_eq!(send(cluster, file).await, SAVED);
    assert!(cluster.is_configured().await);
    assert_eq!(refreshed(cluster).await, before);
    assert_eq!(cluster.castellan.processes(), brokers);
    before
}
