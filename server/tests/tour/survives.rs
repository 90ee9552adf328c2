//! What a cluster survives: its processes killed one at a time while a customer writes, a
//! reboot, and a stop of all of it. Nothing that was acknowledged is lost.

use crate::shared::Tour;
use crate::{SERVERS, thorough};
use serde_json::json;
use test_support::installation::{Installation, Processes};
use test_support::kcat::Kcat;
use test_support::writer::{self, Writer};

/// Each kind of process is killed so often while a customer writes.
fn rounds() -> usize {
    if thorough() { 10 } else { 1 }
}

pub async fn kills(tour: &mut Tour) {
    let mut writer = start_writing(tour).await;
    for round in 0..rounds() {
        the_control_plane(&mut tour.castellan, &mut writer, tour.id).await;
        an_agent(&tour.castellan, &mut writer, tour.id, round % SERVERS).await;
        a_broker(&tour.castellan, &mut writer, tour.id, round % SERVERS).await;
    }
    tour.acknowledged = Some(writer.stop().await);
    nothing_is_lost(tour).await;
}

/// All processes end at once, as when the power goes.
pub async fn a_reboot(tour: &mut Tour) {
    has_written(tour).await;
    let castellan = &mut tour.castellan;
    let before = castellan.processes();
    castellan.kill_control_plane().await;
    for Processes { agent, broker } in &before {
        agent.kill();
        broker.kill();
    }
    castellan.serve().await;
    let mut expected = Vec::new();
    for (server, Processes { agent, broker }) in before.iter().enumerate() {
        expected.push(Processes {
            agent: castellan.until_agent_is_not(server, agent).await,
            broker: castellan.until_broker_is_not(server, broker).await,
        });
    }
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(tour.id).await;
    nothing_is_lost(tour).await;
}

/// Stopped, no process of it runs; started, it is what it was.
pub async fn a_stop_and_a_start(tour: &mut Tour) {
    has_written(tour).await;
    let Tour { castellan, id, .. } = tour;
    let actions = format!("/api/instances/{id}/actions");
    let (status, body) = castellan.post(&format!("{actions}/cluster-stop"), &json!({})).await;
    assert_eq!(status, 200, "{body}");
    let (_, stopping) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(stopping, json!({"name": "tour", "ready": false, "configured": false}));
    castellan.until_status(*id, "stopped").await;
    assert_eq!(castellan.servers_alive(), 0, "no process runs");
    let (_, stopped) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(stopped, json!({"name": "tour", "ready": false, "configured": true}));

    castellan.post(&format!("{actions}/cluster-start"), &json!({})).await;
    castellan.until_running(*id).await;
    assert_eq!(castellan.brokers_alive(), SERVERS);
    nothing_is_lost(tour).await;
    tour.kcat.write("SCRAM-SHA-256", "three").await;
}

async fn start_writing(tour: &Tour) -> Writer {
    let (_, details) = tour.castellan.get(&format!("/api/instances/{}/details", tour.id)).await;
    Writer::start(&tour.instance, &details, 1).await
}

/// An earlier part has, or this does.
async fn has_written(tour: &mut Tour) {
    if tour.acknowledged.is_none() {
        let mut writer = start_writing(tour).await;
        writer.goes_on(25).await;
        tour.acknowledged = Some(writer.stop().await);
    }
}

async fn nothing_is_lost(tour: &Tour) {
    assert_eq!(tour.kcat.read("tour", "SCRAM-SHA-256").await, ["one", "two"]);
    every_number_is_there(&tour.kcat, tour.acknowledged.unwrap()).await;
}

/// Every number that was acknowledged is there, in order but for repeats.
async fn every_number_is_there(kcat: &Kcat, acknowledged: u64) {
    let mut seen: Vec<u64> = kcat
        .read(writer::TOPIC, "SCRAM-SHA-256")
        .await
        .iter()
        .map(|n| n.parse().unwrap())
        .collect();
    assert!(acknowledged > 20, "the writer wrote {acknowledged}");
    seen.dedup();
    let expected: Vec<u64> = (1..=acknowledged).collect();
    assert_eq!(seen, expected);
}

async fn the_control_plane(castellan: &mut Installation, writer: &mut Writer, id: i64) {
    let before = castellan.processes();
    castellan.kill_control_plane().await;
    writer.goes_on(5).await;
    castellan.serve().await;
    castellan.until_heard_anew(&before).await;
    castellan.until_running(id).await;
    assert_eq!(before, castellan.processes(), "agents and brokers are found again");
    assert_eq!(castellan.brokers_alive(), SERVERS);
}

async fn an_agent(castellan: &Installation, writer: &mut Writer, id: i64, victim: usize) {
    let before = castellan.processes();
    before[victim].agent.kill();
    writer.goes_on(5).await;
    let mut expected = before.clone();
    expected[victim].agent = castellan.until_agent_is_not(victim, &before[victim].agent).await;
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(id).await;
    assert_eq!(expected, castellan.processes(), "the new agent found the same JVM");
    assert_eq!(castellan.brokers_alive(), SERVERS);
}

async fn a_broker(castellan: &Installation, writer: &mut Writer, id: i64, victim: usize) {
    let before = castellan.processes();
    before[victim].broker.kill();
    writer.goes_on(5).await;
    let mut expected = before.clone();
    expected[victim].broker = castellan.until_broker_is_not(victim, &before[victim].broker).await;
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(id).await;
    assert_eq!(castellan.brokers_alive(), SERVERS);
    writer.goes_on(5).await;
}
