//! What an operator does to the engine from outside: holding it, and giving it
//! an older store.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "the other tests use the rest")]
mod world;

use engine::Rest;
use model::*;
use store::backup::{self, Past};
use store::{Store, installation, pauses, servers};
use wire::agent::{Desired, Report};
use world::World;

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
    world.instance(id).await.unwrap().progress.status
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

/// Puts the copy in the place of the store, as `castellan restore` does.
async fn restore(world: &mut World, copy: &std::path::Path) {
    let restored = Store::open(copy, world.store.master_key().clone()).await.unwrap();
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
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy.db");
    backup::copy(&world.directory.path().join("test.db"), &copy).await.unwrap();

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
