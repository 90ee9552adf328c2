//! Bad luck while a real cluster grows and shrinks under load.

use crate::cluster::Cluster;
use crate::{LONGEST, PATIENCE};
use checker::{Load, judge, read_back};
use faults::Fault;
use host::ProcessId;
use serde_json::{Value, json};
use std::time::Duration;

/// What is killed while servers join or leave.
#[derive(Clone, Copy, Debug)]
enum Killed {
    ControlPlane,
    Agent,
    Broker,
    /// The broker of the server that came last: it joins or leaves.
    Last,
    /// The broker beside the active controller: voters change under it.
    Active,
}

/// Each at a later moment than the one before, and the moments fall differently each time.
const ALL: [Killed; 5] =
    [Killed::ControlPlane, Killed::Last, Killed::Active, Killed::Agent, Killed::Broker];
const APART: Duration = Duration::from_secs(7);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_luck_loses_nothing() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let mut cluster = Cluster::create(newest, 1).await;
    let spec = cluster.load();
    let load = Load::start(&spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();
    for servers in [3, 1, 3, 5, 3] {
        cluster.ask_for(servers).await;
        for mishap in ALL {
            tokio::time::sleep(APART).await;
            happens(&mut cluster, mishap).await;
        }
        cluster.until_configured().await;
        cluster.is_of(servers).await;
        load.goes_on(50, PATIENCE).await.unwrap();
    }
    let history = load.stop().await.unwrap();
    let logs = read_back(&spec.access(), &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_true_to_its_word() && report.whole, "{report}");
    eprintln!("{report}");
    cluster.castellan.purge().await;
}

async fn happens(cluster: &mut Cluster, mishap: Killed) {
    let active = match mishap {
        Killed::Active => cluster.active_broker().await,
        _ => None,
    };
    let castellan = &mut cluster.castellan;
    match mishap {
        Killed::ControlPlane => {
            castellan.kill_control_plane().await;
            castellan.serve().await;
        }
        Killed::Agent => kill(castellan.agents().first()).await,
        Killed::Broker => kill(castellan.brokers().first()).await,
        Killed::Last => kill(castellan.brokers().last()).await,
        Killed::Active => kill(active.as_ref()).await,
    }
}

/// One that has ended meanwhile is left alone.
async fn kill(process: Option<&ProcessId>) {
    if let Some(process) = process {
        drop(Fault::kill(process).inject().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_cancelled_and_an_instance_deleted_in_the_middle() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let cluster = Cluster::create(newest, 1).await;
    cluster.ask_for(3).await;
    tokio::time::sleep(APART).await;
    let action = latest_action(&cluster).await;
    let cancel = format!("{}/actions/{action}/cancel", cluster.path());
    let (status, answer) = cluster.castellan.post(&cancel, &json!({})).await;
    assert_eq!(status, 200, "{answer}");
    cluster.until_configured().await;
    cluster.is_of(1).await;

    cluster.ask_for(3).await;
    tokio::time::sleep(APART).await;
    assert_eq!(cluster.castellan.delete(&cluster.path()).await, 204);
    cluster
        .castellan
        .until_within(LONGEST, "every server is removed", async || {
            let left = cluster.castellan.server_dirs();
            if left.is_empty() { Ok(()) } else { Err(left) }
        })
        .await;
    cluster.castellan.purge().await;
}

async fn latest_action(cluster: &Cluster) -> i64 {
    let (status, actions) = cluster.castellan.get(&format!("{}/actions", cluster.path())).await;
    assert_eq!(status, 200, "{actions}");
    let ids = actions.as_array().unwrap().iter().map(|action: &Value| action["id"].as_i64());
    ids.flatten().max().unwrap()
}
