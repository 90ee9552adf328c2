//! Certificates of a real cluster that live for two minutes: they are renewed without a
//! restart of anything, a controller is elected after the first ones have ended, and what
//! a cluster's authorities sign is trusted where it should be and nowhere else.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod served;
mod trust;

use faults::Fault;
use kafka::Endpoint;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::{Call as _, Connection, Limits, Mechanism, sasl, tls};
use model::{Clock as _, KafkaVersion, Secret, SystemClock};
use serde_json::{Value, json};
use served::Server;
use std::fs;
use test_support::installation::Installation;
use test_support::kcat::Kcat;
use test_support::writer::Writer;

const SERVERS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_outlives_its_certificates() {
    let [oldest, .., newest] = kafka::versions::all() else { panic!("there are several") };
    outlives(newest.version).await;
    if std::env::var_os("CASTELLAN_TEST_ALL").is_some() {
        outlives(oldest.version).await;
    }
}

async fn outlives(version: KafkaVersion) {
    let castellan = Installation::start_with("[certificates]\nlifetime = \"2m\"\n").await;
    let instance = create(&castellan, version).await;
    let servers = Server::all(&castellan);
    let end = servers.iter().map(Server::end).max().unwrap();
    let before = castellan.processes();
    let (_, details) = castellan.get(&format!("/api/instances/{}/details", instance["id"])).await;
    let mut writer = Writer::start(&instance, &details, 3).await;
    let kcat = Kcat::new(&castellan, &instance).await;
    kcat.write("SCRAM-SHA-256", "first").await;
    trust::is_where_it_should_be(&castellan, &instance, &servers).await;

    castellan
        .until("the first certificates have ended", async || {
            let now = SystemClock.now();
            if now > end { Ok(()) } else { Err(format!("{now}, and they end {end}")) }
        })
        .await;
    for server in &servers {
        server.until_everything_is_served_anew(&castellan, end).await;
    }
    writer.goes_on(20).await;
    kcat.write("SCRAM-SHA-512", "renewed").await;
    assert_eq!(castellan.processes(), before, "nothing was restarted for it");

    // Nobody lives on what was opened with the first ones.
    let ours = servers.iter().flat_map(Server::listeners_of_ours).collect();
    drop(Fault::CutConnections(ours).inject().await.unwrap());
    writer.goes_on(20).await;
    let stopped = stop_active_controller(&castellan, &instance).await;
    writer.goes_on(20).await;
    kcat.write("SCRAM-SHA-256", "elected").await;
    start_again(&castellan, &instance, stopped).await;
    writer.goes_on(20).await;
    assert_eq!(kcat.read("tour", "SCRAM-SHA-256").await, ["first", "renewed", "elected"]);

    let after = castellan.processes();
    for (at, (is, was)) in after.iter().zip(&before).enumerate() {
        assert_eq!(is.agent, was.agent, "server {}", at + 1);
        let log = fs::read_to_string(castellan.server_dir(at).join("agent.log")).unwrap();
        assert_eq!(is.broker == was.broker, at != stopped, "server {}, {stopped}: {log}", at + 1);
    }
    castellan.until_heard_anew(&after).await;
    writer.stop().await;
    for server in 0..SERVERS {
        let log = fs::read_to_string(castellan.server_dir(server).join("agent.log")).unwrap();
        assert_eq!(log.matches("enrolled with the control plane").count(), 1, "{log}");
        assert!(log.contains("renewed the agent's certificate"), "{log}");
    }
    castellan.purge().await;
}

async fn create(castellan: &Installation, version: KafkaVersion) -> Value {
    let body = json!({
        "name": "renewed", "plan": format!("mouse-{SERVERS}"), "region": "local::this-machine",
        "kafka_version": version.to_string(),
    });
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    castellan.until_running(created["id"].as_i64().unwrap()).await
}

/// The server that it was, counted from 0. On return another one leads.
async fn stop_active_controller(castellan: &Installation, instance: &Value) -> usize {
    let active = castellan.until("somebody leads", async || leader(instance).await).await;
    change(castellan, instance, "stop", active).await;
    castellan
        .until("another controller leads", async || match leader(instance).await {
            Ok(leader) if leader != active => Ok(()),
            other => Err(format!("{other:?}, and {active} was stopped")),
        })
        .await;
    usize::try_from(active - 1).unwrap()
}

async fn start_again(castellan: &Installation, instance: &Value, stopped: usize) {
    change(castellan, instance, "start", i32::try_from(stopped + 1).unwrap()).await;
    castellan.until_running(instance["id"].as_i64().unwrap()).await;
}

/// Stops or starts one server and waits until that is done.
async fn change(castellan: &Installation, instance: &Value, verb: &str, node: i32) {
    let path = format!("/api/instances/{}", instance["id"]);
    let name = format!("{}-{node:02}", instance["username"].as_str().unwrap());
    let body = json!({"nodes": [name]});
    let (status, answer) = castellan.post(&format!("{path}/actions/{verb}"), &body).await;
    assert_eq!(status, 200, "{answer}");
    castellan
        .until("the server has done it", async || {
            let (_, cluster) = castellan.get(&format!("{path}/cluster/status")).await;
            let (_, now) = castellan.get(&path).await;
            if cluster["configured"] == true { Ok(()) } else { Err(now["status"].to_string()) }
        })
        .await;
}

/// The active controller by what a broker says, to a new connection of a customer.
async fn leader(instance: &Value) -> Result<i32, String> {
    let text = |field: &str| instance[field].as_str().unwrap().to_owned();
    let tls = tls::client_config(&text("ca"), None).unwrap();
    let mut last = String::new();
    for broker in text("brokers").split(',') {
        let (host, port) = broker.rsplit_once(':').unwrap();
        let broker = Endpoint::new(host, port.parse().unwrap());
        let asked = async {
            let opened = Connection::open_tcp(&broker, &tls, Limits::default()).await;
            let mut connection = opened.map_err(|error| error.to_string())?;
            let (password, mechanism) = (Secret::new(text("password")), Mechanism::ScramSha512);
            let logged_in =
                sasl::log_in(&mut connection, &text("username"), &password, mechanism).await;
            logged_in.map_err(|error| error.to_string())?;
            let quorum = DescribeQuorum.run(&mut connection).await;
            quorum.map_err(|error| error.to_string())?.leader.ok_or("nobody leads".to_owned())
        };
        match asked.await {
            Ok(leader) => return Ok(leader),
            Err(why) => last = why,
        }
    }
    Err(last)
}
