//! Actions on single servers end with their own servers, whatever other actions go on
//! and wait for, and with leaders where they belong.

use super::gate::{Effect, Point};
use super::plane::Plane;
use super::sim::Sim;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::ActionKind;
use wire::agent::{Phase, Report};

const ROUNDS: usize = 120;

/// What goes on, newest first.
async fn open(sim: &Sim<'_>) -> Vec<ActionKind> {
    let open = store::actions::open(&mut sim.rows.store.reader(), sim.id()).await.unwrap();
    open.iter().map(|action| action.kind).collect()
}

/// What goes on once one of two actions has ended, or after long enough.
async fn left(sim: &mut Sim<'_>, plane: &mut Plane) -> Vec<ActionKind> {
    for _ in 0..ROUNDS {
        if open(sim).await.len() < 2 {
            break;
        }
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.advance(1);
    }
    open(sim).await
}

/// Goes on until its broker is not running, and lets nobody hear of it from then on.
async fn stays_away(sim: &mut Sim<'_>, plane: &mut Plane, at: usize) {
    for _ in 0..ROUNDS {
        sim.agents_step().await;
        let record = sim.rows.servers(sim.id()).await.swap_remove(at);
        let report: Report = serde_json::from_str(record.report.as_deref().unwrap()).unwrap();
        if report.phase != Phase::Running {
            sim.agents[at].slow = u32::MAX;
            return;
        }
        plane.pass(sim.id()).await;
        sim.advance(1);
    }
    panic!("server {} runs on", at + 1);
}

#[tokio::test]
async fn an_action_ends_with_its_own_servers() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 3, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    rows.stop_server(sim.id(), sim.servers[1], true).await;
    sim.settle(&mut plane).await.unwrap();
    rows.stop_server(sim.id(), sim.servers[1], false).await;
    rows.restart(sim.id(), &[sim.servers[0]]).await;
    let left = left(&mut sim, &mut plane).await;
    assert_eq!(left, [ActionKind::Restart], "the start has ended, and the restart goes on");
    sim.settle(&mut plane).await.unwrap();
    assert!(open(&sim).await.is_empty());
}

/// The restart of server 4 goes on for ever: that server does not come back, or server 6
/// does not, which ended by itself before.
#[tokio::test]
async fn a_start_ends_though_another_server_does_not_come_back() {
    let rows = Rows::new().await;
    for away in [3, 5] {
        let mut sim = Sim::new(&rows, 7, 1).await;
        let mut plane = sim.plane();
        sim.settle(&mut plane).await.unwrap();
        rows.stop_server(sim.id(), sim.servers[4], true).await;
        sim.settle(&mut plane).await.unwrap();
        if away == 5 {
            sim.kill_broker(away);
        }
        rows.restart(sim.id(), &[sim.servers[3]]).await;
        stays_away(&mut sim, &mut plane, away).await;
        rows.stop_server(sim.id(), sim.servers[4], false).await;
        let left = left(&mut sim, &mut plane).await;
        assert_eq!(left, [ActionKind::Restart], "while server {} is away", away + 1);
        sim.settle(&mut plane).await.unwrap();
        assert!(open(&sim).await.is_empty());
    }
}

/// Partitions whose first replica is stopped are no reason to leave the others as they
/// are when Kafka fails once.
#[tokio::test]
async fn leaders_go_back_though_a_server_is_stopped_and_the_first_attempt_fails() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 5, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    let servers = rows.servers(sim.id()).await.into_iter().map(|record| record.server);
    let cluster = sim.reach.cluster(sim.id(), &servers.collect::<Vec<_>>()).await.unwrap();
    let settings = vec![("min.insync.replicas".into(), "1".into())];
    let topic = NewTopic { name: "t".into(), partitions: 5, replicas: 3, settings };
    sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    rows.stop_server(sim.id(), sim.servers[4], true).await;
    sim.settle(&mut plane).await.unwrap();

    rows.restart(sim.id(), &[sim.servers[3]]).await;
    plane.gate.freeze_at(Point::Before(Effect::ElectLeaders));
    for _ in 0..ROUNDS {
        plane.pass(sim.id()).await;
        if plane.is_frozen() {
            break;
        }
        sim.agents_step().await;
        sim.advance(1);
    }
    assert!(plane.is_frozen(), "leaders were about to go back");
    sim.kafka.fail_next(Fault::Refused, 1);
    plane.wake().await;
    sim.settle(&mut plane).await.unwrap();
    for partition in sim.kafka.partitions() {
        let first = partition.replicas[0];
        assert!(partition.leader == Some(first) || first == sim.nodes[4], "{partition:?}");
    }
}
