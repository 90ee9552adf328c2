//! Create and delete: they work; run twice they are the same; killed after any
//! step they are the same; and a change of mind midway is followed.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod world;

use cloud::{Call, Cloud, Fault, Inventory, Outcome};
use engine::Rest;
use model::*;
use wire::agent::{Desired, Phase};
use world::World;

async fn inventory(world: &World) -> Inventory {
    match world.cloud.inventory().await {
        Outcome::Ready(inventory) => inventory,
        other => panic!("{other:?}"),
    }
}

async fn assert_ready(world: &World, id: InstanceId) {
    let instance = world.instance(id).await.unwrap();
    assert!(instance.ready() && instance.configured(), "{:?}", instance.progress);
    assert_eq!(instance.progress.status, "running");
    assert_eq!(world.disk(id).await.state, DiskState::Formatted);
    assert_eq!(world.cloud.made_twice(), []);
    let desired: Desired =
        serde_json::from_str(world.server(id).await.desired.as_deref().unwrap()).unwrap();
    assert_eq!(desired.disk.format, None, "leave to format ends with the first run");
}

async fn assert_gone(world: &World, id: InstanceId) {
    assert_eq!(world.instance(id).await, None);
    assert_eq!(inventory(world).await, Inventory::default());
    let taken = store::servers::taken_listeners(&mut world.store.reader()).await.unwrap();
    assert_eq!(taken, []);
}

#[tokio::test]
async fn an_instance_is_made_ready_and_unmade() {
    let world = World::new().await;
    let id = world.create().await;
    world.run(&world.engine(), id).await;
    assert_ready(&world, id).await;
    assert_eq!(inventory(&world).await.servers.len(), 1);

    world.delete(id).await;
    assert_eq!(world.run(&world.engine(), id).await, Rest::Gone);
    assert_gone(&world, id).await;
}

#[tokio::test]
async fn a_second_pass_over_a_ready_instance_changes_nothing() {
    let world = World::new().await;
    let id = world.create().await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let before = (world.instance(id).await, world.server(id).await, world.cloud.effects());
    let calls = world.kafka.calls.lock().unwrap().len();

    world.run(&engine, id).await;
    world.run(&world.engine(), id).await;
    assert_eq!(before, (world.instance(id).await, world.server(id).await, world.cloud.effects()));
    assert_eq!(calls, world.kafka.calls.lock().unwrap().len());
}

/// Runs one engine for `steps` steps, with agents at work while it rests, then
/// leaves it for dead.
async fn die_after(world: &World, id: InstanceId, steps: usize) {
    let engine = world.engine();
    let mut left = steps;
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
    world.clock.advance(SignedDuration::from_secs(61));
}

#[tokio::test]
async fn killed_after_any_step_it_ends_the_same() {
    for steps in 1..20 {
        let world = World::new().await;
        let id = world.create().await;
        die_after(&world, id, steps).await;
        world.run(&world.engine(), id).await;
        assert_ready(&world, id).await;

        world.delete(id).await;
        die_after(&world, id, 1 + steps % 2).await;
        world.run(&world.engine(), id).await;
        assert_gone(&world, id).await;
    }
}

#[tokio::test]
async fn killed_after_every_single_step_it_ends_the_same() {
    let world = World::new().await;
    let id = world.create().await;
    for _ in 0..40 {
        die_after(&world, id, 1).await;
    }
    world.run(&world.engine(), id).await;
    assert_ready(&world, id).await;
}

#[tokio::test]
async fn deleted_in_the_middle_of_its_making_nothing_is_left() {
    for steps in 0..15 {
        let world = World::new().await;
        let id = world.create().await;
        die_after(&world, id, steps).await;
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
            *world.kafka.refuse.lock().unwrap() = 3;
            let id = world.create().await;
            world.run(&world.engine(), id).await;
            assert_ready(&world, id).await;
        }
    }
    for call in [Call::RemoveServer, Call::RemoveDisk, Call::RemoveNetwork] {
        for fault in [Fault::LostReply, Fault::Pending, Fault::Retry] {
            let world = World::new().await;
            let id = world.create().await;
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
        let id = world.create().await;
        world.run(&world.engine(), id).await;
        assert_ready(&world, id).await;
        world.delete(id).await;
        world.run(&world.engine(), id).await;
        assert_eq!(world.instance(id).await, None, "seed {seed}");
    }
}

#[tokio::test]
async fn a_failure_is_told_with_its_reason_and_when_it_is_tried_again() {
    let world = World::new().await;
    world.cloud.fail_next(Call::EnsureNetwork, Fault::Retry, 2);
    let id = world.create().await;
    let engine = world.engine();
    engine.pass(id).await.unwrap();
    let status = world.instance(id).await.unwrap().progress.status;
    assert!(status.starts_with("failed to make the network: "), "{status}");
    assert!(status.ends_with("trying again in 1 s"), "{status}");
    engine.pass(id).await.unwrap();
    let status = world.instance(id).await.unwrap().progress.status;
    assert!(status.ends_with("trying again in 2 s"), "{status}");
}

#[tokio::test]
async fn a_broker_that_does_not_start_is_named_with_its_log_and_can_be_deleted() {
    let world = World::new().await;
    let id = world.create().await;
    let engine = world.engine();
    engine.pass(id).await.unwrap();
    let record = world.server(id).await;
    let desired: Desired = serde_json::from_str(record.desired.as_deref().unwrap()).unwrap();
    let mut report = world::report(&desired, None);
    report.phase = Phase::Failed;
    report.detail = "the JVM ended with exit status 1, start 3".into();
    report.log_tail = vec!["java.net.BindException: Address already in use".into()];
    world.say(&record.server, &report).await;

    engine.pass(id).await.unwrap();
    let instance = world.instance(id).await.unwrap();
    assert!(!instance.ready());
    let status = instance.progress.status;
    assert!(status.contains("server 1 does not stay up: the JVM ended"), "{status}");
    assert!(status.contains("BindException"), "{status}");

    world.delete(id).await;
    world.run(&engine, id).await;
    assert_gone(&world, id).await;
}

#[tokio::test]
async fn an_agent_that_died_is_started_again() {
    let world = World::new().await;
    let id = world.create().await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let server = world.server(id).await.server.id;
    world.cloud.kill_agent(server);
    assert!(!world.cloud.agent_is_alive(server));
    world.run(&engine, id).await;
    assert!(world.cloud.agent_is_alive(server));
    assert_eq!(world.cloud.server(server).unwrap().token, None, "it is enrolled already");
}

#[tokio::test]
async fn a_worker_that_slept_past_its_lease_writes_nothing() {
    let world = World::new().await;
    let id = world.create().await;
    let sleeper = world.engine();
    let mut pass = sleeper.begin_pass(id).await.unwrap().unwrap();
    sleeper.turn(&mut pass).await.unwrap();
    let other = world.engine();
    assert_eq!(other.pass(id).await.unwrap(), Rest::NotOurs);
    world.clock.advance(SignedDuration::from_secs(61));
    world.run(&other, id).await;
    let before = world.instance(id).await;
    let error = sleeper.turn(&mut pass).await.unwrap_err();
    assert!(matches!(error, engine::PassError::Store(store::Error::LeaseLost(_))), "{error}");
    assert_eq!(before, world.instance(id).await);
}
