//! What an operator does to the engine from outside: holding it, and giving it
//! an older store.

use crate::world::World;
use engine::Rest;
use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey, Quotas as _};
use model::*;
use store::backup::{self, Past};
use store::{Store, disk_guards, installation, pauses, servers};
use wire::agent::{Desired, Report};

const PAUSED: &str = "paused by the operator";

async fn pause(world: &World, id: InstanceId, paused: bool) {
    let mut work = world.store.begin().await.unwrap();
    assert!(pauses::set(&mut work, id, paused, world.clock.now()).await.unwrap());
    work.commit().await.unwrap();
}

async fn pause_all(world: &World, paused: bool) {
    let mut work = world.store.begin().await.unwrap();
    pauses::set_all(&mut work, paused, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
}

async fn status(world: &World, id: InstanceId) -> String {
    world.instance(id).await.unwrap().progress.status()
}

async fn documents(world: &World, id: InstanceId) -> Vec<Desired> {
    let records = world.servers(id).await;
    let texts = records.iter().map(|record| record.desired.as_deref().unwrap());
    texts.map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[tokio::test]
async fn paused_it_makes_nothing_and_resumed_it_makes_everything() {
    let world = World::new().await;
    let (one, two) = (world.create(3).await, world.create(1).await);
    let engine = world.engine();
    pause(&world, one, true).await;
    assert!(matches!(engine.pass(one).await.unwrap(), Rest::Until(_)));
    assert_eq!(status(&world, one).await, PAUSED);
    assert_eq!(world.cloud.effects(), []);

    world.run(&engine, two).await;
    assert!(world.instance(two).await.unwrap().ready(), "the other one goes on");

    pause(&world, one, false).await;
    let now = world.clock.now();
    let due = store::instances::due(&mut world.store.reader(), now).await.unwrap();
    assert!(due.contains(&one), "a resume wakes");
    world.run(&engine, one).await;
    assert!(world.instance(one).await.unwrap().ready());
}

#[tokio::test]
async fn a_pause_of_all_holds_each_and_leaves_what_runs_as_it_is() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let server = world.servers(id).await[0].server.id;
    pause_all(&world, true).await;
    world.cloud.kill_agent(server);
    world.delete(id).await;
    let before = world.cloud.effects();

    engine.pass(id).await.unwrap();
    assert_eq!(status(&world, id).await, PAUSED);
    assert_eq!(world.cloud.effects(), before, "neither healed nor torn down");
    assert!(!world.cloud.agent_is_alive(server));
    assert!(world.instance(id).await.unwrap().ready());

    pause_all(&world, false).await;
    assert_eq!(world.run(&engine, id).await, Rest::Gone);
}

#[tokio::test]
async fn a_pause_in_the_middle_of_a_pass_holds_its_next_step() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    let mut pass = engine.begin_pass(id).await.unwrap().unwrap();
    assert_eq!(engine.turn(&mut pass).await.unwrap(), None);
    pause(&world, id, true).await;
    let before = (world.cloud.effects(), world.disks(id).await);
    assert!(engine.turn(&mut pass).await.unwrap().is_some());
    assert_eq!(before, (world.cloud.effects(), world.disks(id).await));
}

/// The name of a copy in its directory.
const COPY: &str = "copy.db";

async fn copy(world: &World) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let store = world.directory.path().join("test.db");
    backup::copy(&store, &directory.path().join(COPY)).await.unwrap();
    directory
}

/// Puts the copy in the place of the store, as `castellan restore` does.
async fn restore(world: &mut World, copy: &tempfile::TempDir) {
    let restored =
        Store::open(&copy.path().join(COPY), world.store.master_key().clone()).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    let past = Past { store_epoch: world.installation.store_epoch, ..Past::default() };
    let epoch = backup::go_beyond(&mut work, &past).await.unwrap();
    work.commit().await.unwrap();
    world.rows.installation = installation::find(&mut restored.reader()).await.unwrap().unwrap();
    assert_eq!(world.installation.store_epoch, epoch);
    world.rows.store = restored;
}

#[tokio::test]
async fn after_a_restore_every_agent_is_told_anew_under_a_higher_epoch() {
    let mut world = World::new().await;
    let id = world.create(3).await;
    world.run(&world.engine(), id).await;
    let copy = copy(&world).await;

    // Agents come to hold revisions that the copy knows nothing of.
    for stopped in [true, false] {
        world.stop(id, stopped).await;
        world.run(&world.engine(), id).await;
    }
    let held = documents(&world, id).await;
    let effects = world.cloud.effects();

    restore(&mut world, &copy).await;
    world.run(&world.engine(), id).await;
    for (told, held) in documents(&world, id).await.iter().zip(&held) {
        assert!(told.store_epoch > held.store_epoch, "an agent accepts it");
        assert!(told.revision < held.revision, "though it counts from the copy on");
        assert_eq!((told.run, &told.broker), (held.run, &held.broker));
    }
    assert_eq!(world.cloud.effects(), effects, "nothing was made, ended or made again");
    for record in servers::list(&mut world.store.reader(), id).await.unwrap() {
        let report: Report = serde_json::from_str(&record.report.unwrap()).unwrap();
        assert_eq!(report.store_epoch, world.installation.store_epoch);
    }
    assert!(world.instance(id).await.unwrap().ready());
}

#[tokio::test]
async fn after_a_restore_limits_that_only_kafka_knows_of_are_lifted() {
    let mut world = World::new().await;
    let id = world.create(3).await;
    world.run(&world.engine(), id).await;
    let copy = copy(&world).await;

    // Since then producers were slowed down for a disk that was nearly full.
    let cluster = world.cluster(id).await;
    let rate = QuotaKey::ProducerByteRate;
    let limit = |user: &str, rate_limit: f64| Quota {
        entity: QuotaEntity { user: Some(Name::from(user)), client_id: None },
        limits: [(rate, rate_limit)].into(),
    };
    let (ours, bobs) = (limit("<default>", SLOW_BYTES_PER_SECOND), limit("bob", 1e6));
    for Quota { entity, limits } in [&ours, &bobs] {
        let change = limits.iter().map(|(key, value)| (*key, Some(*value))).collect();
        world.kafka.alter_quota(&cluster, entity, &change).await.unwrap();
    }
    restore(&mut world, &copy).await;
    world.run(&world.engine(), id).await;
    assert_eq!(world.kafka.list_quotas(&cluster).await.unwrap(), [bobs]);
    let asked = disk_guards::slowed(&mut world.store.reader(), id).await.unwrap();
    assert_eq!(asked, None, "it is looked for once");
}

#[tokio::test]
async fn after_a_restore_a_full_disk_slows_producers_whatever_was_done_before() {
    let everybody = QuotaEntity { user: Some(Name::Default), client_id: None };
    let rate = QuotaKey::ProducerByteRate;
    // One that is slower by the customer's will stays so, and is not asked for again and again.
    for (before, expected) in [(None, SLOW_BYTES_PER_SECOND), (Some(10.0), 10.0)] {
        let mut world = World::new().await;
        let id = world.create(3).await;
        world.run(&world.engine(), id).await;
        let cluster = world.cluster(id).await;
        world.kafka.alter_quota(&cluster, &everybody, &[(rate, before)].into()).await.unwrap();
        let guard = DiskGuard {
            instance_id: id,
            server_id: world.servers(id).await[1].server.id,
            level: DiskLevel::Slowed,
            since: world.clock.now(),
        };
        let mut work = world.store.begin().await.unwrap();
        disk_guards::set(&mut work, &guard).await.unwrap();
        work.commit().await.unwrap();
        let copy = copy(&world).await;

        restore(&mut world, &copy).await;
        let asked = disk_guards::slowed(&mut world.store.reader(), id).await.unwrap();
        assert_eq!(asked, Some(vec![]), "nobody knows");
        let engine = world.engine();
        for _ in 0..10 {
            engine.pass(id).await.unwrap();
            world.agents(id).await;
            world.clock.advance(SignedDuration::from_secs(2));
        }
        let says = "running, but producers are slowed down: the disk of server 2 is nearly full";
        assert_eq!(status(&world, id).await, says);
        let slow = Quota { entity: everybody.clone(), limits: [(rate, expected)].into() };
        assert_eq!(world.kafka.list_quotas(&cluster).await.unwrap(), [slow]);
        let kept = SlowedQuota {
            user: "<default>".into(),
            client_id: None,
            producer_byte_rate: before,
            is_set: true,
        };
        let asked = disk_guards::slowed(&mut world.store.reader(), id).await.unwrap();
        assert_eq!(asked, Some(vec![kept]));
    }
}
