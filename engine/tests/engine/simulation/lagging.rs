//! Copies that lag on a server that runs: it keeps everybody else waiting with its name,
//! and is not restarted itself, but it can be stopped. Any one copy would be enough for
//! the topic, so it is the lag alone that counts.

use super::plane::Plane;
use super::sim::Sim;
use super::unresponsive::{cancel, is_reached, until};
use crate::create_and_delete::told;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use model::Clock as _;
use store::tickets;

/// One that does not fetch counts as in sync for half a minute.
const UNNOTICED: usize = 29;

/// Three servers with a copy each, of which one does not fetch since just now.
async fn with_one_that_stalls(rows: &Rows) -> (Sim<'_>, Plane, usize) {
    let mut sim = Sim::new(rows, 3, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    let servers = rows.servers(sim.id()).await.into_iter().map(|record| record.server);
    let cluster = sim.reach.cluster(sim.id(), &servers.collect::<Vec<_>>()).await.unwrap();
    let settings = vec![("min.insync.replicas".into(), "1".into())];
    let topic = NewTopic { name: "t".into(), partitions: 1, replicas: 3, settings };
    sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    let leader = sim.kafka.partitions()[0].leader;
    let stalls = sim.nodes.iter().position(|node| Some(*node) != leader).unwrap();
    sim.kafka.stall_replicas(sim.nodes[stalls], true);
    (sim, plane, stalls)
}

/// The same, once everybody knows that it lags.
async fn with_one_behind(rows: &Rows) -> (Sim<'_>, Plane, usize) {
    let (mut sim, mut plane, behind) = with_one_that_stalls(rows).await;
    pass_time(&mut sim, &mut plane, UNNOTICED + 2).await;
    assert_eq!(sim.kafka.agreed_in_sync("t", 0).len(), 2);
    (sim, plane, behind)
}

async fn pass_time(sim: &mut Sim<'_>, plane: &mut Plane, seconds: usize) {
    for _ in 0..seconds {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        sim.advance(1);
    }
}

#[tokio::test]
async fn whoever_is_behind_keeps_the_others_waiting_by_name() {
    let rows = Rows::new().await;
    let (mut sim, mut plane, behind) = with_one_behind(&rows).await;
    let before = sim.ground.lock().unwrap().brokers.clone();
    rows.restart(sim.id(), &[sim.servers[(behind + 1) % 3]]).await;
    let words =
        format!("waiting: t-0 has 2 of 3 replicas in sync, the one on server {} lags", behind + 1);
    until(&mut sim, &mut plane, |status, _| status == words).await;
    pass_time(&mut sim, &mut plane, 60).await;
    assert_eq!(rows.instance(sim.id()).await.unwrap().progress.status(), words);
    assert_eq!(sim.ground.lock().unwrap().brokers, before, "nobody is touched");
    sim.kafka.stall_replicas(sim.nodes[behind], false);
    is_reached(&mut sim, &mut plane).await;
}

/// Everything was in sync when its turn came, and is not when it would stop.
#[tokio::test]
async fn whoever_falls_behind_in_the_last_moment_is_waited_for_too() {
    let rows = Rows::new().await;
    let (mut sim, mut plane, stalls) = with_one_that_stalls(&rows).await;
    pass_time(&mut sim, &mut plane, UNNOTICED).await;
    let before = sim.ground.lock().unwrap().brokers.clone();
    let leaving = (stalls + 1) % 3;
    rows.restart(sim.id(), &[sim.servers[leaving]]).await;
    plane.pass(sim.id()).await;
    sim.advance(2);
    let ticket = tickets::find(&mut rows.store.reader(), sim.id(), rows.clock.now()).await;
    assert_eq!(ticket.unwrap().unwrap().server_id, Some(sim.servers[leaving]));
    assert_eq!(told(&rows.servers(sim.id()).await[leaving]).launch, 1, "its agent asks");
    sim.agents_step().await;
    sim.check().await.unwrap();
    pass_time(&mut sim, &mut plane, 10).await;
    assert_eq!(sim.ground.lock().unwrap().brokers, before, "it has no leave to stop");
    sim.kafka.stall_replicas(sim.nodes[stalls], false);
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn one_that_is_behind_is_stopped() {
    let rows = Rows::new().await;
    let (mut sim, mut plane, behind) = with_one_behind(&rows).await;
    rows.stop_server(sim.id(), sim.servers[behind], true).await;
    is_reached(&mut sim, &mut plane).await;
    assert_eq!(sim.ground.lock().unwrap().broker(sim.servers[behind]), None);
}

#[tokio::test]
async fn one_that_is_behind_is_not_restarted_but_can_be_stopped_and_started() {
    let rows = Rows::new().await;
    let (mut sim, mut plane, behind) = with_one_behind(&rows).await;
    let (server, before) = (sim.servers[behind], sim.ground.lock().unwrap().brokers.clone());
    rows.restart(sim.id(), &[server]).await;
    let title = format!("server {}", behind + 1);
    let words = format!("; to stop and start {title} instead, cancel this first");
    until(&mut sim, &mut plane, |status, _| status.ends_with(&words)).await;
    pass_time(&mut sim, &mut plane, 10).await;
    assert_eq!(sim.ground.lock().unwrap().brokers, before, "it is not touched");

    cancel(&rows, sim.id()).await;
    until(&mut sim, &mut plane, |_, configured| configured).await;
    assert_eq!(sim.kafka.agreed_in_sync("t", 0).len(), 2, "nobody waited for its copy");
    rows.stop_server(sim.id(), server, true).await;
    let words = format!("running, but for {title}, stopped as asked");
    until(&mut sim, &mut plane, |status, configured| configured && status == words).await;
    rows.stop_server(sim.id(), server, false).await;
    let words = format!("{title} lags");
    until(&mut sim, &mut plane, |status, _| status.ends_with(&words)).await;
    sim.kafka.stall_replicas(sim.nodes[behind], false);
    is_reached(&mut sim, &mut plane).await;
    assert_eq!(sim.ground.lock().unwrap().broker(server).unwrap().launch, 0);
}
