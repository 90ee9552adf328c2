//! Actions end once every server is as it should be: together, where one came upon another,
//! and with leaders where they belong.

use super::gate::{Effect, Point};
use super::sim::Sim;
use super::unresponsive::until;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::ActionKind;

const ROUNDS: usize = 120;

/// What is open, newest first.
async fn open(sim: &Sim<'_>) -> Vec<ActionKind> {
    let open = store::actions::open(&mut sim.rows.store.reader(), sim.id()).await.unwrap();
    open.iter().map(|action| action.kind).collect()
}

/// A stop waits for a broker that hangs, whose restart is asked for meanwhile. Both tell
/// all that goes on.
#[tokio::test]
async fn what_was_waited_for_and_what_waited_end_together() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 5, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    sim.freeze_broker(1);
    rows.stop_server(sim.id(), sim.servers[0], true).await;
    until(&mut sim, &mut plane, |status, _| status.contains("server 2 does not answer")).await;
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    for _ in 0..ROUNDS {
        if open(&sim).await != [ActionKind::Restart, ActionKind::Stop] {
            break;
        }
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        sim.advance(1);
    }
    assert!(open(&sim).await.is_empty());
    assert!(rows.instance(sim.id()).await.unwrap().configured());
    let mut reader = rows.store.reader();
    for action in store::actions::list(&mut reader, sim.id(), 2).await.unwrap() {
        let steps = store::actions::steps(&mut reader, action.id).await.unwrap();
        for words in ["server 1, because it was asked for", "server 2, to be started anew"] {
            let told = format!("may stop now: {words}");
            assert!(steps.iter().any(|step| step.text.contains(&told)), "{told}: {steps:?}");
        }
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
