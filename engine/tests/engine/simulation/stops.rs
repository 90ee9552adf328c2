//! Brokers stop at the moment that somebody who may say so says so, and at no
//! other.

use super::plane::Plane;
use super::sim::Sim;
use crate::rows::Rows;
use model::Clock;

const SERVERS: u32 = 3;

/// A cluster that runs, and whose agents are about to hear that it shall stop.
async fn about_to_stop(rows: &Rows) -> (Sim<'_>, Plane) {
    let mut sim = Sim::new(rows, SERVERS, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    rows.stop(sim.id(), true).await;
    plane.pass(sim.id()).await;
    (sim, plane)
}

async fn agents_stop_nothing(sim: &mut Sim<'_>) {
    let before = sim.ground.lock().unwrap().brokers.clone();
    assert_eq!(before.len(), SERVERS as usize);
    for _ in 0..3 {
        sim.agents_step().await;
        sim.check().await.unwrap();
        assert_eq!(sim.ground.lock().unwrap().brokers, before);
    }
}

#[tokio::test]
async fn all_servers_stop_at_once() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = about_to_stop(&rows).await;
    sim.agents_step().await;
    let now = rows.clock.now();
    let claimed = store::tickets::claimed(&mut rows.store.reader(), sim.id(), now).await.unwrap();
    assert_eq!(claimed, sim.servers, "each has claimed in its first round");
    sim.advance(1);
    sim.agents_step().await;
    assert_eq!(sim.ground.lock().unwrap().brokers, []);
    sim.settle(&mut plane).await.unwrap();
    let now = rows.clock.now();
    assert_eq!(store::tickets::find(&mut rows.store.reader(), sim.id(), now).await.unwrap(), None);
}

#[tokio::test]
async fn a_stop_that_was_taken_back_stops_nothing() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = about_to_stop(&rows).await;
    rows.stop(sim.id(), false).await;
    agents_stop_nothing(&mut sim).await;
    sim.settle(&mut plane).await.unwrap();
}

#[tokio::test]
async fn without_a_control_plane_nothing_stops_after_ten_seconds() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = about_to_stop(&rows).await;
    sim.advance(10);
    agents_stop_nothing(&mut sim).await;
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(sim.ground.lock().unwrap().brokers, [], "the next pass has opened it anew");
}

#[tokio::test]
async fn whoever_takes_over_decides_anew() {
    let rows = Rows::new().await;
    let (mut sim, _) = about_to_stop(&rows).await;
    let mut other = sim.other_plane();
    other.begin(sim.id()).await;
    agents_stop_nothing(&mut sim).await;
    sim.settle(&mut other).await.unwrap();
    assert_eq!(sim.ground.lock().unwrap().brokers, []);
}
