//! Create, stop, start and delete, with one server and with five: they work;
//! run twice they are the same; killed after any step they are the same; and a
//! change of mind midway is followed.

use crate::world::{self, World};
use cloud::{Call, Cloud, Effect, Fault, Inventory, Outcome};
use engine::{Engine, Rest};
use model::*;
use std::collections::BTreeMap;
use store::{ServerRecord, instances, servers};
use wire::agent::{Desired, Phase, Report, Run};

/// One that has everything, and one with servers that only serve.
const SIZES: [u32; 2] = [1, 5];

async fn inventory(world: &World) -> Inventory {
    match world.cloud.inventory().await {
        Outcome::Ready(inventory) => inventory,
        other => panic!("{other:?}"),
    }
}

async fn assert_ready(world: &World, id: InstanceId) {
    let instance = world.instance(id).await.unwrap();
    assert!(instance.ready() && instance.configured(), "{:?}", instance.progress);
    assert_eq!(instance.progress.status(), "running");
    assert_eq!(world.cloud.made_twice(), []);
    assert_eq!(world.servers(id).await.len(), usize::try_from(instance.nodes).unwrap());
    for disk in world.disks(id).await {
        assert_eq!(disk.state, DiskState::Formatted);
    }
    for record in world.servers(id).await {
        let desired: Desired = serde_json::from_str(record.desired.as_deref().unwrap()).unwrap();
        assert_eq!(desired.disk.format, None, "leave to format ends with the first run");
        assert_eq!(desired.run, Run::Running);
    }
}

async fn assert_stopped(world: &World, id: InstanceId) {
    let instance = world.instance(id).await.unwrap();
    assert!(!instance.ready() && instance.configured(), "{:?}", instance.progress);
    let inventory = inventory(world).await;
    assert_eq!(inventory.servers, [], "no process runs");
    assert_eq!(inventory.disks.len(), usize::try_from(instance.nodes).unwrap(), "data stay");
}

async fn assert_gone(world: &World, id: InstanceId) {
    assert_eq!(world.instance(id).await, None);
    assert_eq!(inventory(world).await, Inventory::default());
    let taken = store::servers::taken_listeners(&mut world.store.reader()).await.unwrap();
    assert_eq!(taken, []);
}

#[tokio::test]
async fn an_instance_is_made_stopped_started_and_unmade() {
    for size in SIZES {
        let world = World::new().await;
        let id = world.create(size).await;
        let engine = world.engine();
        world.run(&engine, id).await;
        assert_ready(&world, id).await;

        world.stop(id, true).await;
        world.run(&engine, id).await;
        assert_stopped(&world, id).await;
        world.stop(id, false).await;
        world.run(&engine, id).await;
        assert_ready(&world, id).await;

        world.delete(id).await;
        assert_eq!(world.run(&engine, id).await, Rest::Gone);
        assert_gone(&world, id).await;
    }
}

#[tokio::test]
async fn another_password_and_other_settings_are_written_into_kafka() {
    let world = World::new().await;
    let id = world.create(3).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let before = world.instance(id).await.unwrap();

    let password = Secret::new("another");
    let chosen = [("log.retention.ms", "60000"), ("auto.create.topics.enable", "true")];
    let settings: BTreeMap<String, String> =
        chosen.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let mut work = world.store.begin().await.unwrap();
    instances::set_password(&mut work, id, &password).await.unwrap();
    instances::set_settings(&mut work, id, &settings).await.unwrap();
    servers::forget_brokers(&mut work, id).await.unwrap();
    instances::raise(&mut work, id, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    assert!(!world.instance(id).await.unwrap().configured());

    world.run(&engine, id).await;
    let after = world.instance(id).await.unwrap();
    assert!(after.ready() && after.configured() && after.progress.kafka_observed == 2);
    assert!(world.kafka.knows(&after.username, &password));
    assert!(!world.kafka.knows(&before.username, &before.password));
    assert_eq!(
        world.kafka.chosen_settings(),
        BTreeMap::from([("log.retention.ms".into(), "60000".into())])
    );
    for record in world.servers(id).await {
        let properties = told(&record).broker.unwrap().properties;
        assert!(properties.contains("auto.create.topics.enable=true"), "{properties}");
        assert!(!properties.contains("log.retention.ms=60000"), "that is in Kafka");
    }
    let calls = world.kafka.calls();
    world.run(&world.engine(), id).await;
    assert_eq!(calls, world.kafka.calls(), "written once");
}

#[tokio::test]
async fn plaintext_is_given_up_at_a_restart_and_not_before() {
    let world = World::new().await;
    let id = world.create(3).await;
    world.run(&world.engine(), id).await;
    let engine = world.engine_without_plaintext();
    let before = world.servers(id).await;
    world.run(&engine, id).await;
    assert_eq!(world.servers(id).await, before, "nothing is restarted for it");

    let mut work = world.store.begin().await.unwrap();
    let (later, first) = (i64::MAX, before[0].server.id);
    servers::forget_older_rendering(&mut work, first, later).await.unwrap();
    work.commit().await.unwrap();
    world.restart(id, &[first]).await;
    world.run(&engine, id).await;
    for record in world.servers(id).await {
        let opens = told(&record).broker.unwrap().properties.contains("PLAINTEXT://");
        assert_eq!(opens, record.server.id != first);
        assert_eq!(record.server.listeners.plaintext.is_some(), opens);
    }
    let taken = servers::taken_listeners(&mut world.store.reader()).await.unwrap();
    let mut expected: Vec<(String, u16)> = world
        .servers(id)
        .await
        .iter()
        .flat_map(|it| it.server.listeners.all())
        .map(|it| (it.bind_host.clone(), it.port))
        .collect();
    let mut taken = taken;
    expected.sort();
    taken.sort();
    assert_eq!(taken, expected);
}

#[tokio::test]
async fn another_password_does_not_wait_for_a_broker_that_is_away() {
    let world = World::new().await;
    let id = world.create(3).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let password = Secret::new("another");
    let mut work = world.store.begin().await.unwrap();
    instances::set_password(&mut work, id, &password).await.unwrap();
    instances::wake(&mut work, id, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();

    let records = world.servers(id).await;
    let fail = async |away: usize| {
        for record in &records[..away] {
            let report = world::report(&world, &told(record), None);
            world.say(&record.server, &Report { phase: Phase::Failed, ..report }).await;
        }
        for _ in 0..4 {
            engine.pass(id).await.unwrap();
            world.clock.advance(SignedDuration::from_secs(2));
        }
        let instance = world.instance(id).await.unwrap();
        assert!(instance.configured(), "a password reconfigures no server");
        world.kafka.knows(&instance.username, &password)
    };
    assert!(!fail(2).await, "nothing can be written without a majority");
    let back = world::report(&world, &told(&records[1]), None);
    world.say(&records[1].server, &back).await;
    assert!(fail(1).await, "it is good while one server is still away");
}

#[tokio::test]
async fn a_second_pass_over_a_ready_instance_changes_nothing() {
    for size in SIZES {
        let world = World::new().await;
        let id = world.create(size).await;
        let engine = world.engine();
        world.run(&engine, id).await;
        let before = (world.instance(id).await, world.servers(id).await, world.cloud.effects());
        let calls = world.kafka.calls();

        world.run(&engine, id).await;
        world.run(&world.engine(), id).await;
        let after = (world.instance(id).await, world.servers(id).await, world.cloud.effects());
        assert_eq!(before, after);
        assert_eq!(calls, world.kafka.calls());
    }
}

/// Every server is told of a revoked certificate, and nothing else changes: no
/// broker is to be started anew, and nobody waits for anything.
#[tokio::test]
async fn a_revoked_certificate_is_told_to_every_server() {
    let world = World::new().await;
    let id = world.create(5).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let documents = async || -> Vec<Desired> { world.servers(id).await.iter().map(told).collect() };
    let (before, effects) = (documents().await, world.cloud.effects());
    let serial = world.revoke(id).await;
    assert!(world.instance(id).await.unwrap().configured());

    world.run(&engine, id).await;
    assert_ready(&world, id).await;
    assert_eq!(world.cloud.effects(), effects);
    for (before, after) in before.into_iter().zip(documents().await) {
        let revision = before.revision + 1;
        assert_eq!(after, Desired { revision, revoked: vec![serial.clone()], ..before });
    }
}

/// Runs one engine for so many turns, with agents at work while it rests, then
/// leaves it for dead. The next one of the same host goes on at once.
async fn die_after(world: &World, id: InstanceId, turns: usize) {
    let engine = world.engine();
    let mut left = turns;
    while left > 0 {
        let Some(mut pass) = engine.begin_pass(id).await.unwrap() else { break };
        while left > 0 {
            left -= 1;
            if engine.turn(&mut pass).await.unwrap().is_some() {
                break;
            }
        }
        world.agents(id).await;
        world.clock.advance(SignedDuration::from_secs(1));
    }
}

#[tokio::test]
async fn killed_after_any_turn_it_ends_the_same() {
    for size in SIZES {
        for turns in 1..20 {
            let world = World::new().await;
            let id = world.create(size).await;
            die_after(&world, id, turns).await;
            world.run(&world.engine(), id).await;
            assert_ready(&world, id).await;

            world.stop(id, true).await;
            die_after(&world, id, turns).await;
            world.run(&world.engine(), id).await;
            assert_stopped(&world, id).await;

            world.delete(id).await;
            die_after(&world, id, 1 + turns % 2).await;
            world.run(&world.engine(), id).await;
            assert_gone(&world, id).await;
        }
    }
}

#[tokio::test]
async fn killed_after_every_single_turn_it_ends_the_same() {
    let world = World::new().await;
    let id = world.create(3).await;
    for _ in 0..40 {
        die_after(&world, id, 1).await;
    }
    world.run(&world.engine(), id).await;
    assert_ready(&world, id).await;
}

#[tokio::test]
async fn a_change_of_mind_midway_is_followed() {
    for turns in 0..15 {
        let world = World::new().await;
        let id = world.create(3).await;
        die_after(&world, id, turns).await;
        world.stop(id, true).await;
        die_after(&world, id, turns).await;
        world.stop(id, false).await;
        world.run(&world.engine(), id).await;
        assert_ready(&world, id).await;

        world.stop(id, true).await;
        die_after(&world, id, turns).await;
        world.delete(id).await;
        world.run(&world.engine(), id).await;
        assert_gone(&world, id).await;
    }
}

#[tokio::test]
async fn deleted_in_the_middle_of_its_making_nothing_is_left() {
    for turns in 0..15 {
        let world = World::new().await;
        let id = world.create(3).await;
        die_after(&world, id, turns).await;
        world.delete(id).await;
        world.run(&world.engine(), id).await;
        assert_gone(&world, id).await;
    }
}

#[tokio::test]
async fn lost_replies_late_answers_and_failures_are_outlived() {
    let calls = [Call::EnsureNetwork, Call::EnsureDisk, Call::EnsureServer];
    for call in calls {
        for fault in [Fault::LostReply, Fault::Pending, Fault::Retry] {
            let world = World::new().await;
            world.cloud.fail_next(call, fault, 3);
            world.kafka.fail_next(kafka::simulated::Fault::Refused, 3);
            let id = world.create(3).await;
            world.run(&world.engine(), id).await;
            assert_ready(&world, id).await;
        }
    }
    for call in [Call::RemoveServer, Call::RemoveDisk, Call::RemoveNetwork] {
        for fault in [Fault::LostReply, Fault::Pending, Fault::Retry] {
            let world = World::new().await;
            let id = world.create(3).await;
            world.run(&world.engine(), id).await;
            world.cloud.fail_next(call, fault, 3);
            world.delete(id).await;
            world.run(&world.engine(), id).await;
            assert_gone(&world, id).await;
        }
    }
}

#[tokio::test]
async fn a_cloud_that_fails_by_chance_is_outlived() {
    for seed in 0..40 {
        let mut world = World::new().await;
        world.cloud = std::sync::Arc::new(cloud::SimulatedCloud::seeded(seed, 40));
        let id = world.create(3).await;
        world.run(&world.engine(), id).await;
        assert_ready(&world, id).await;
        world.delete(id).await;
        world.run(&world.engine(), id).await;
        assert_eq!(world.instance(id).await, None, "seed {seed}");
        let made =
            world.cloud.effects().iter().filter(|e| matches!(e, Effect::ServerMade(..))).count();
        let removed =
            world.cloud.effects().iter().filter(|e| matches!(e, Effect::ServerRemoved(_))).count();
        assert_eq!(made, removed, "seed {seed}");
    }
}

/// Has the first server's agent say that its broker does not stay up.
pub async fn break_first_broker(world: &World, engine: &Engine, id: InstanceId) {
    engine.pass(id).await.unwrap();
    world.agents(id).await;
    let record = world.servers(id).await.remove(0);
    let desired: Desired = serde_json::from_str(record.desired.as_deref().unwrap()).unwrap();
    let mut report = world::report(world, &desired, None);
    report.phase = Phase::Failed;
    report.detail = "the JVM ended with exit status 1, start 3".into();
    report.log_tail = vec!["java.net.BindException: Address already in use".into()];
    world.say(&record.server, &report).await;
}

#[tokio::test]
async fn a_broker_that_does_not_start_is_named_with_its_log_and_can_be_deleted() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    break_first_broker(&world, &engine, id).await;
    engine.pass(id).await.unwrap();
    let instance = world.instance(id).await.unwrap();
    assert!(!instance.ready());
    let status = instance.progress.status();
    assert!(status.contains("server 1 does not stay up: the JVM ended"), "{status}");
    assert!(status.contains("BindException"), "{status}");

    world.delete(id).await;
    world.run(&engine, id).await;
    assert_gone(&world, id).await;
}

#[tokio::test]
async fn a_server_that_is_stuck_does_not_keep_the_others_waiting() {
    let world = World::new().await;
    let id = world.create(3).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let servers = world.servers(id).await;
    for record in &servers {
        world.cloud.kill_agent(record.server.id);
    }
    world.cloud.fail_next(Call::EnsureServer, Fault::GiveUp, 1);
    engine.pass(id).await.unwrap();
    let alive =
        servers.iter().filter(|record| world.cloud.agent_is_alive(record.server.id)).count();
    assert_eq!(alive, 2);
    let status = world.instance(id).await.unwrap().progress.status();
    assert!(status.contains("it needs an operator"), "{status}");
}

#[tokio::test]
async fn a_server_that_is_stuck_does_not_keep_another_password_waiting() {
    let world = World::new().await;
    let id = world.create(3).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let password = Secret::new("another");
    let mut work = world.store.begin().await.unwrap();
    instances::set_password(&mut work, id, &password).await.unwrap();
    work.commit().await.unwrap();
    world.cloud.fail_next(Call::EnsureServer, Fault::GiveUp, 1);
    engine.pass(id).await.unwrap();
    let instance = world.instance(id).await.unwrap();
    let status = &instance.progress.status();
    assert!(status.contains("it needs an operator"), "{status}");
    assert_eq!(instance.progress.kafka_observed, instance.kafka_generation, "{status}");
    assert!(world.kafka.knows(&instance.username, &password));
}

#[tokio::test]
async fn servers_without_a_controller_start_after_those_with_one() {
    let world = World::new().await;
    let id = world.create(5).await;
    let engine = world.engine();
    engine.pass(id).await.unwrap();
    for record in world.servers(id).await {
        let desired = told(&record);
        let expected = if record.server.is_controller() { Run::Running } else { Run::Stopped };
        assert_eq!(desired.run, expected, "server {}", record.server.number);
        // Kafka's tool names a disk as it likes if a stranger asks it to found.
        let founders = desired.disk.format.unwrap().initial_controllers.len();
        let expected = if record.server.is_controller() { 3 } else { 0 };
        assert_eq!(founders, expected, "server {}", record.server.number);
    }
}

pub fn told(record: &ServerRecord) -> Desired {
    serde_json::from_str(record.desired.as_deref().unwrap()).unwrap()
}

#[tokio::test]
async fn a_controller_without_its_disk_is_held_and_holds_nobody_back() {
    let world = World::new().await;
    let id = world.create(5).await;
    let engine = world.engine();
    for _ in 0..6 {
        engine.pass(id).await.unwrap();
        world.agents(id).await;
        let first = world.servers(id).await.remove(0);
        let fault = "the disk is lost: it is not there".to_owned();
        let report = world::report(&world, &told(&first), None);
        let report = Report { phase: Phase::Failed, disk_fault: Some(fault), ..report };
        world.say(&first.server, &report).await;
        world.clock.advance(SignedDuration::from_secs(2));
    }
    engine.pass(id).await.unwrap();
    for record in world.servers(id).await.iter().skip(1) {
        assert_eq!(told(record).run, Run::Running, "server {}", record.server.number);
    }
    let status = world.instance(id).await.unwrap().progress.status();
    assert_eq!(status, "server 1 is held: the disk is lost: it is not there");
}

#[tokio::test]
async fn an_agent_that_died_is_started_again() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let record = world.servers(id).await.remove(0);
    let server = record.server.id;
    world.cloud.kill_agent(server);
    assert!(!world.cloud.agent_is_alive(server));
    world.run(&engine, id).await;
    assert!(world.cloud.agent_is_alive(server));
    assert_eq!(world.servers(id).await[0].token, record.token, "it is enrolled already");
}

#[tokio::test]
async fn an_agent_that_was_away_for_long_enrols_again() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let record = world.servers(id).await.remove(0);
    world.cloud.kill_agent(record.server.id);
    world.clock.advance(SignedDuration::from_hours(24 * 40));
    world.run(&engine, id).await;
    assert_ready(&world, id).await;
    assert_ne!(world.servers(id).await[0].token, record.token, "its certificate has run out");
}

#[tokio::test]
async fn a_worker_that_slept_past_its_lease_writes_nothing() {
    let world = World::new().await;
    let id = world.create(3).await;
    let sleeper = world.engine();
    let mut pass = sleeper.begin_pass(id).await.unwrap().unwrap();
    sleeper.turn(&mut pass).await.unwrap();
    let other = world.other_engine();
    assert_eq!(other.pass(id).await.unwrap(), Rest::NotOurs);
    world.clock.advance(SignedDuration::from_secs(61));
    world.run(&other, id).await;
    let before = (world.instance(id).await, world.cloud.effects());
    let error = sleeper.turn(&mut pass).await.unwrap_err();
    assert!(matches!(error, engine::PassError::Store(store::Error::LeaseLost(_))), "{error}");
    assert_eq!(before, (world.instance(id).await, world.cloud.effects()));
}
