//! What an instance says of itself while something is not as it should be.

use crate::create_and_delete::{break_first_broker, told};
use crate::world::{self, World};
use cloud::{Call, Fault};
use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey, Quotas as _};
use kafka::simulated::Fault::{LostReply, Refused};
use model::*;
use store::{disk_guards, instances};
use wire::agent::{Loading, Phase, Report};

#[tokio::test]
async fn a_failure_is_told_with_its_reason_and_when_it_is_tried_again() {
    let world = World::new().await;
    world.cloud.fail_next(Call::EnsureNetwork, Fault::Retry, 2);
    let id = world.create(1).await;
    let engine = world.engine();
    engine.pass(id).await.unwrap();
    let status = world.instance(id).await.unwrap().progress.status();
    assert!(status.starts_with("failed to make the network: "), "{status}");
    assert!(status.ends_with("trying again in 1 s"), "{status}");
    engine.pass(id).await.unwrap();
    let status = world.instance(id).await.unwrap().progress.status();
    assert!(status.ends_with("trying again in 2 s"), "{status}");
}

#[tokio::test]
async fn a_broker_that_goes_through_its_logs_tells_how_far_it_is() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    break_first_broker(&world, &engine, id).await;
    let record = world.servers(id).await.remove(0);
    let mut report = world::report(&world, &told(&record), None);
    report.phase = Phase::Starting;
    report.log_tail = vec!["java.lang.OutOfMemoryError".into()];
    for (loading, expected) in [
        (None, "waiting: the broker of server 1 is starting (start 1); before, its log said: "),
        (
            Some(Loading { done: 2, of: 7, recovers: true }),
            "waiting: server 1: the broker is recovering its logs after a crash: 2 of 7 done",
        ),
    ] {
        report.loading = loading;
        world.say(&record.server, &report).await;
        engine.pass(id).await.unwrap();
        let status = world.instance(id).await.unwrap().progress.status();
        assert!(status.starts_with(expected), "{status}");
    }
}

#[tokio::test]
async fn a_broker_without_leave_to_stop_tells_why_unless_that_passes() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    world.stop(id, true).await;
    engine.pass(id).await.unwrap();
    let record = world.servers(id).await.remove(0);
    let mut report: Report = serde_json::from_str(record.report.as_deref().unwrap()).unwrap();
    report.waits_for_leave = Some("so it is".into());
    for (passing, expected) in [
        (false, "waiting: server 1 has no leave to stop yet: so it is"),
        (true, "waiting: server 1 is stopping"),
    ] {
        report.wait_is_passing = passing;
        world.say(&record.server, &report).await;
        engine.pass(id).await.unwrap();
        assert_eq!(world.instance(id).await.unwrap().progress.status(), expected);
    }
}

#[tokio::test]
async fn an_agent_that_is_not_heard_of_is_named() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    world.agents(id).await;
    let status = async || {
        engine.pass(id).await.unwrap();
        world.instance(id).await.unwrap().progress.status()
    };
    world.clock.advance(SignedDuration::from_secs(30));
    assert_eq!(status().await, "running");
    let since = world.clock.now() - SignedDuration::from_secs(30);
    world.clock.advance(SignedDuration::from_secs(1));
    let since = since.strftime("%Y-%m-%d %H:%M:%S UTC");
    let expected = format!("the agent of server 1 has not reported since {since}");
    assert_eq!(status().await, expected);
    world.agents(id).await;
    assert_eq!(status().await, "running");
}

/// They could not report to anybody while the control plane was away.
#[tokio::test]
async fn after_a_start_agents_have_a_moment_to_report() {
    let world = World::new().await;
    let id = world.create(1).await;
    world.run(&world.engine(), id).await;
    world.agents(id).await;
    let since = world.clock.now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    world.clock.advance(SignedDuration::from_mins(1));
    let engine = world.engine();
    let status = async || {
        engine.pass(id).await.unwrap();
        world.instance(id).await.unwrap().progress.status()
    };
    let waiting = "waiting: the agent of server 1 has not reported yet";
    assert_eq!(status().await, waiting);
    world.clock.advance(SignedDuration::from_secs(30));
    assert_eq!(status().await, waiting);
    world.clock.advance(SignedDuration::from_secs(1));
    let expected = format!("the agent of server 1 has not reported since {since}");
    assert_eq!(status().await, expected);
}

#[tokio::test]
async fn producers_are_slowed_down_while_a_disk_is_nearly_full() {
    let world = World::new().await;
    let id = world.create(3).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let server = world.servers(id).await[1].server.id;
    let cluster = world.cluster(id).await;
    let rate = QuotaKey::ProducerByteRate;
    let of = |user: Name, client: Option<&str>| QuotaEntity {
        user: Some(user),
        client_id: client.map(|client| Name::Of(client.into())),
    };
    let bob = || Name::Of("bob".into());
    // A user who has a limit for each of many client ids, and one for all others.
    for client in [None, Some("app"), Some("tool")] {
        let change = [(rate, Some(1e9))].into();
        world.kafka.alter_quota(&cluster, &of(bob(), client), &change).await.unwrap();
    }
    let before = world.kafka.list_quotas(&cluster).await.unwrap();

    let guard = DiskGuard {
        instance_id: id,
        server_id: server,
        level: DiskLevel::Slowed,
        since: world.clock.now(),
    };
    let turn = async |slowed: bool| {
        let mut work = world.store.begin().await.unwrap();
        if slowed {
            disk_guards::set(&mut work, &guard).await.unwrap();
        } else {
            disk_guards::remove(&mut work, server).await.unwrap();
        }
        instances::wake(&mut work, id, world.clock.now()).await.unwrap();
        work.commit().await.unwrap();
        // Another control plane each time: nothing is remembered but in the store.
        for _ in 0..3 {
            world.agents(id).await;
            world.engine().pass(id).await.unwrap();
            world.clock.advance(SignedDuration::from_secs(40));
        }
        // A call that was never made must not fail the looking.
        world.kafka.forget_faults();
        let instance = world.instance(id).await.unwrap();
        (instance.progress.status(), world.kafka.list_quotas(&cluster).await.unwrap())
    };
    let check_slow = |quotas: &[Quota], when: &str| {
        let slow = [Name::Default, bob()].map(|user| Quota {
            entity: of(user, None),
            limits: [(rate, SLOW_BYTES_PER_SECOND)].into(),
        });
        assert_eq!(quotas, slow, "{when}");
    };
    for _ in 0..2 {
        let (status, quotas) = turn(true).await;
        let says = "running, but producers are slowed down: the disk of server 2 is nearly full";
        assert_eq!(status, says);
        check_slow(&quotas, "at first");
    }
    for _ in 0..2 {
        assert_eq!(turn(false).await, ("running".to_owned(), before.clone()));
    }
    // Cut off before or after any of its calls, it ends the same.
    for (calls, fault) in (0..12).flat_map(|calls| [(calls, Refused), (calls, LostReply)]) {
        let when = format!("with {fault:?} after {calls}");
        world.kafka.fail_after(calls, fault);
        check_slow(&turn(true).await.1, &when);
        world.kafka.fail_after(calls, fault);
        assert_eq!(turn(false).await.1, before, "{when}");
    }
    let left = disk_guards::slowed(&mut world.store.reader(), id).await.unwrap();
    assert_eq!(left, None);
}
