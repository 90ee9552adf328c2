//! Changes of servers that are taken back.

use super::{call, change, cluster, finish, members, prices, read, resize, topic};
use crate::call::{Answer, Call};
use crate::documents;
use crate::world::World;
use model::{ActionState, Catalogue, Instance, Membership, MoveProgress, SignedDuration};
use serde_json::{Value, json};

async fn cancel(world: &World, instance: &Instance) -> Answer {
    let action = world.last_action(instance.id).await.id;
    call(world, instance, "POST", &format!("/actions/{action}/cancel")).await
}

#[tokio::test]
async fn a_growth_is_undone_from_that_moment_on() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let large = change(&world, &before, &json!({"nodes": 3})).await;
    let answer = cancel(&world, &large).await;
    let message = "Cancelled: the servers that were added are emptied and removed, and the price \
                   is that of before from now on. Replicas that were added to topics go with \
                   them; which of the other servers holds what is not put back";
    assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({"message": message})));
    let after = world.load(large.id.0).await;
    assert_eq!((after.plan.0.as_str(), after.nodes), ("mouse-1", 1));
    assert!(!after.configured(), "until they are gone");
    let leaving = Membership::Leaving;
    let expected = [(1, 1, Membership::Member), (2, 2, leaving), (3, 3, leaving)];
    assert_eq!(members(&world, &after).await, expected);
    assert!(resize(&world, &after).await.unwrap().undo);
    let expected = [("mouse-1", 9900), ("mouse-3", 29_700), ("mouse-1", 9900)];
    let expected = expected.map(|(plan, price)| (plan.to_owned(), price));
    assert_eq!(prices(&world, &after).await, expected);
    let lines = world.audit().await.len();
    assert_eq!(cancel(&world, &after).await.json(), json!({"message": message}), "twice is once");
    assert_eq!(world.audit().await.len(), lines);
    finish(&world, &after).await;
    let action = world.last_action(after.id).await;
    assert_eq!(action.state(), ActionState::Cancelled);
    let status = read(&world, &after, &format!("/actions/{}", action.id)).await["status"].clone();
    assert_eq!(status, "cancelled; there are as many servers as before");
    assert_eq!(read(&world, &after, "/nodes").await.as_array().unwrap().len(), 1);
}

/// Prices have risen since it was agreed, and disks have grown since it was begun.
#[tokio::test]
async fn what_was_agreed_before_is_paid_again() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let dearer = Catalogue::BUILT_IN.replacen("node_price = 99", "node_price = 120", 1);
    let customer = world.customer_with(Catalogue::parse(&dearer, None).unwrap());
    let send = async |method: &str, rest: &str, body: &Value| {
        let path = format!("/api/instances/{}{rest}", before.id);
        let call = Call::new(method, &path).key(&world.key).json(body);
        let answer = call.send(&customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    };
    send("PUT", "", &json!({"nodes": 3})).await;
    let action = world.last_action(before.id).await.id;
    send("PUT", "/disk", &json!({"extra_disk_size": 10})).await;
    send("POST", &format!("/actions/{action}/cancel"), &json!({})).await;
    let expected = [
        ("mouse-1", 9900),
        ("mouse-3", 36_000),
        ("mouse-3", 36_000 + 3 * 10 * 20),
        ("mouse-1", 9900 + 10 * 20),
    ];
    let expected = expected.map(|(plan, price)| (plan.to_owned(), price));
    assert_eq!(prices(&world, &before).await, expected);
}

#[tokio::test]
async fn a_shrink_is_undone_until_a_server_begins_to_go() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[topic("orders", 3)]).await;
    let small = change(&world, &before, &json!({"nodes": 3})).await;
    let answer = cancel(&world, &small).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.contains("Cancelled: every server stays"), "{}", answer.text);
    let stay = members(&world, &small).await;
    assert!(stay.iter().all(|(.., it)| *it == Membership::Member), "{stay:?}");
    assert_eq!(world.load(small.id.0).await.nodes, 5);
    finish(&world, &small).await;

    let small = change(&world, &before, &json!({"nodes": 3})).await;
    let mut work = world.app.store().begin().await.unwrap();
    assert!(store::resizes::set_removing(&mut work, small.id, false).await.unwrap());
    work.commit().await.unwrap();
    cancel(&world, &small).await.expect_error(
        400,
        "Servers are being removed already, so this goes on to its end; once it is done, nodes: 5 \
         adds servers again",
    );
    assert_eq!(world.load(small.id.0).await, small);
    assert_eq!(world.last_action(small.id).await.state(), ActionState::Running);
}

/// It would be a server of the cluster again that may never run.
#[tokio::test]
async fn a_shrink_is_not_undone_while_a_server_that_leaves_does_not_run() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[topic("orders", 3)]).await;
    let small = change(&world, &before, &json!({"nodes": 3})).await;
    let servers = world.servers(small.id).await;
    let says = format!(
        "{} leaves and does not run, so this goes on to its end; once it is done, nodes: 5 adds \
         servers again",
        servers[4].name
    );
    let report = async |phase: &str, silent_since: Value| {
        let fields = json!({"phase": phase, "launch": 0, "silent_since": silent_since});
        let report = documents::report(&servers[4], &fields);
        let (mut work, now) = (world.app.store().begin().await.unwrap(), world.app.now());
        store::servers::set_report(&mut work, servers[4].id, &report, now).await.unwrap();
        store::servers::set_last_seen(&mut work, &[(servers[4].id, now)]).await.unwrap();
        work.commit().await.unwrap();
    };
    report("failed", Value::Null).await;
    cancel(&world, &small).await.expect_error(400, &says);
    report("running", json!("2026-11-15T11:59:00Z")).await;
    cancel(&world, &small).await.expect_error(400, &says);
    report("running", Value::Null).await;
    world.clock.advance(SignedDuration::from_mins(1));
    cancel(&world, &small).await.expect_error(400, &says);
    report("running", Value::Null).await;
    assert_eq!(cancel(&world, &small).await.status, 200);
}

/// A cluster may be stopped in the middle of it; the change goes on afterwards.
#[tokio::test]
async fn a_stop_of_the_cluster_takes_nothing_back() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let large = change(&world, &before, &json!({"nodes": 3})).await;
    let action = world.last_action(large.id).await.id;
    for what in ["stop", "start"] {
        let answer = call(&world, &large, "POST", &format!("/actions/cluster-{what}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let whole = read(&world, &large, &format!("/actions/{action}")).await;
        assert_eq!(whole["state"], "running", "after cluster-{what}");
    }
    assert!(resize(&world, &large).await.is_some());
}

#[tokio::test]
async fn how_far_replicas_have_moved_is_told() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let large = change(&world, &before, &json!({"nodes": 3})).await;
    let path = format!("/actions/{}", world.last_action(large.id).await.id);
    assert_eq!(read(&world, &large, &path).await["progress"], json!(null));
    let now = world.app.now();
    let progress = MoveProgress {
        bytes_done: 1 << 30,
        bytes_left: 3 << 30,
        began_at: now,
        observed_at: now,
        moved_at: Some(now),
        partitions_left: 2,
        bytes_per_second: Some(1 << 20),
        ready_at: Some("2026-11-15T13:00:00Z".parse().unwrap()),
        fading: [0.0; 3],
    };
    let mut work = world.app.store().begin().await.unwrap();
    store::resizes::set_progress(&mut work, large.id, &progress).await.unwrap();
    work.commit().await.unwrap();
    let expected = json!({
        "bytes_done": 1_073_741_824_u64, "bytes_left": 3_221_225_472_u64,
        "bytes_per_second": 1_048_576, "ready_at": "2026-11-15T13:00:00Z",
    });
    assert_eq!(read(&world, &large, &path).await["progress"], expected);
    // It has passed, and they still move.
    world.clock.advance(SignedDuration::from_hours(2));
    let late = json!({
        "bytes_done": 1_073_741_824_u64, "bytes_left": 3_221_225_472_u64,
        "bytes_per_second": 1_048_576, "ready_at": null,
    });
    assert_eq!(read(&world, &large, &path).await["progress"], late);
    finish(&world, &large).await;
    let ended = json!({
        "bytes_done": 1_073_741_824_u64, "bytes_left": 3_221_225_472_u64,
        "bytes_per_second": null, "ready_at": null,
    });
    assert_eq!(read(&world, &large, &path).await["progress"], ended);
}
