//! Min ISR while servers join and leave: what customers and topics have set holds again at the
//! end, and nothing that is written meanwhile brings it back too early.

use super::gate::{Effect, Point};
use super::plane::Plane;
use super::sim::Sim;
use crate::rows::Rows;
use kafka::client::{
    Admin as _, Assignment, Changes, Cluster, NewTopic, SettingsOf, TopicPartition,
};
use kafka::simulated::SimPartition;
use model::Server;
use std::slice::from_ref;

const MIN_ISR: &str = "min.insync.replicas";
const ROUNDS: usize = 200;

async fn running(rows: &Rows, servers: u32) -> (Sim<'_>, Plane) {
    let mut sim = Sim::new(rows, servers, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    (sim, plane)
}

/// Rounds of a turn and of every agent.
async fn until(sim: &mut Sim<'_>, plane: &mut Plane, is_so: impl Fn(&Sim<'_>) -> bool) {
    for _ in 0..ROUNDS {
        if is_so(sim) {
            return;
        }
        plane.turn(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        sim.advance(1);
    }
    let now = sim.rows.instance(sim.id()).await.unwrap();
    panic!("it does not come to that: {}", now.progress.status());
}

fn of_cluster(sim: &Sim<'_>) -> Option<String> {
    sim.kafka.chosen_settings().remove(MIN_ISR)
}

async fn of_topic(sim: &Sim<'_>, cluster: &Cluster, name: &str) -> Option<String> {
    let of = SettingsOf::Topic(name.into());
    let settings = sim.kafka.settings();
    let own = settings.describe_settings_of(cluster, from_ref(&of)).await.unwrap();
    own[&of].iter().find(|setting| setting.name == MIN_ISR).map(|setting| setting.value.clone())
}

async fn cluster(sim: &Sim<'_>) -> Cluster {
    let records = sim.rows.servers(sim.id()).await;
    let servers: Vec<Server> = records.into_iter().map(|record| record.server).collect();
    sim.reach.cluster(sim.id(), &servers).await.unwrap()
}

/// One server can't have two replicas in sync: no write would be taken any more.
#[tokio::test]
async fn another_setting_does_not_raise_a_min_isr_that_was_lowered() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = running(&rows, 3).await;
    let id = sim.id();
    rows.set_settings(id, &[(MIN_ISR, "2")]).await;
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(of_cluster(&sim).as_deref(), Some("2"));

    assert!(rows.resize(id, 1).await);
    until(&mut sim, &mut plane, |sim| of_cluster(sim).as_deref() == Some("1")).await;
    rows.set_settings(id, &[(MIN_ISR, "2"), ("log.retention.ms", "60000")]).await;
    let is_written = |sim: &Sim<'_>| sim.kafka.chosen_settings().contains_key("log.retention.ms");
    until(&mut sim, &mut plane, |sim| {
        assert_eq!(of_cluster(sim).as_deref(), Some("1"));
        is_written(sim)
    })
    .await;
    assert_eq!(of_cluster(&sim).as_deref(), Some("1"));
    sim.settle(&mut plane).await.unwrap();
    assert!(rows.resize_of(id).await.is_none());

    // Nor afterwards, before there are enough servers again.
    rows.set_settings(id, &[(MIN_ISR, "2"), ("log.retention.ms", "70000")]).await;
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(of_cluster(&sim).as_deref(), Some("1"));
    assert!(rows.resize(id, 3).await);
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(of_cluster(&sim).as_deref(), Some("2"));
}

/// New brokers are started with the min ISR of three servers.
#[tokio::test]
async fn the_old_min_isr_holds_for_all_brokers_until_replicas_are_there() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = running(&rows, 1).await;
    let topic = NewTopic { name: "t".into(), partitions: 1, replicas: 1, settings: vec![] };
    sim.kafka.create_topic(&cluster(&sim).await, &topic).await.unwrap();
    sim.kafka.fill("t", 0, 2_000_000_000);
    assert!(rows.resize(sim.id(), 3).await);
    let moves = |sim: &Sim<'_>| sim.kafka.partitions().iter().any(|it| !it.adding.is_empty());
    until(&mut sim, &mut plane, moves).await;
    assert_eq!(of_cluster(&sim).as_deref(), Some("1"));
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(of_cluster(&sim).as_deref(), Some("2"));
}

/// A topic of one replica asks for two, and is on a server that is taken away again.
#[tokio::test]
async fn a_topic_that_is_lowered_while_a_change_is_undone_gets_its_own_back() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = running(&rows, 3).await;
    let id = sim.id();
    assert!(rows.resize(id, 5).await);
    until(&mut sim, &mut plane, |sim| sim.kafka.registered().len() == 5).await;
    let cluster = cluster(&sim).await;
    let settings = vec![(MIN_ISR.to_owned(), "2".to_owned())];
    let topic = NewTopic { name: "narrow".into(), partitions: 1, replicas: 1, settings };
    sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    let last = *sim.nodes.last().unwrap();
    let to = [Assignment { at: TopicPartition::new("narrow", 0), replicas: vec![last] }];
    sim.kafka.placement().reassign(&cluster, &to).await.unwrap();
    sim.advance(5);
    assert!(rows.undo_resize(id).await);
    sim.settle(&mut plane).await.unwrap();
    let partitions = sim.kafka.partitions();
    let narrow = partitions.iter().find(|it| it.topic == "narrow").unwrap();
    assert!(!narrow.replicas.contains(&last), "{narrow:?}");
    assert_eq!(of_topic(&sim, &cluster, "narrow").await.as_deref(), Some("2"));
}

/// Its owner has set another since, which is not overwritten.
#[tokio::test]
async fn what_a_topic_was_given_meanwhile_is_kept_when_a_change_is_undone() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = running(&rows, 3).await;
    let id = sim.id();
    let through = cluster(&sim).await;
    for name in ["mine", "other"] {
        let settings = vec![(MIN_ISR.to_owned(), "2".to_owned())];
        let topic = NewTopic { name: name.into(), partitions: 1, replicas: 3, settings };
        sim.kafka.create_topic(&through, &topic).await.unwrap();
    }
    assert!(rows.resize(id, 1).await);
    let is_lowered = |it: &SimPartition| it.topic == "mine" && it.needed == 1;
    until(&mut sim, &mut plane, |sim| sim.kafka.partitions().iter().any(is_lowered)).await;
    assert!(rows.undo_resize(id).await);
    let value = Changes::from([(MIN_ISR.to_owned(), Some("3".to_owned()))]);
    let change = [(SettingsOf::Topic("mine".into()), value)].into();
    sim.kafka.settings().change_settings_of(&through, &change).await.unwrap();
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(of_topic(&sim, &through, "mine").await.as_deref(), Some("3"));
    assert_eq!(of_topic(&sim, &through, "other").await.as_deref(), Some("2"));
}

/// The control plane died before it could note that, and the customer cancelled then.
#[tokio::test]
async fn what_kafka_took_from_a_control_plane_that_died_is_undone() {
    for (from, to, before, after) in [(3, 1, "2", "1"), (1, 3, "1", "2")] {
        let rows = Rows::new().await;
        let (mut sim, mut plane) = running(&rows, from).await;
        let id = sim.id();
        assert!(rows.resize(id, to).await);
        if to > from {
            // It is held where it is before it rises.
            until(&mut sim, &mut plane, |sim| of_cluster(sim).as_deref() == Some(before)).await;
        }
        plane.gate.freeze_in("SetMinIsr", Point::After(Effect::ChangeSettings));
        let settled = sim.settle(&mut plane).await;
        assert!(plane.is_frozen(), "{settled:?}");
        assert_eq!(of_cluster(&sim).as_deref(), Some(after));
        drop(plane);
        assert!(rows.undo_resize(id).await);
        sim.advance(61);
        let mut plane = sim.plane();
        sim.settle(&mut plane).await.unwrap();
        assert_eq!(of_cluster(&sim).as_deref(), Some(before), "from {from} to {to}");
    }
}
