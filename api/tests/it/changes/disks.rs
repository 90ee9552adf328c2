//! Larger disks.

use super::{BEGUN, cluster, prices, put, read};
use crate::call::{Answer, Call};
use crate::world::World;
use model::{ActionState, Instance, Role};
use serde_json::{Value, json};

async fn extra(world: &World, instance: &Instance, body: &Value) -> Answer {
    let path = format!("/api/instances/{}/disk", instance.id);
    Call::put(&path).key(&world.key).json(body).send(&world.customer).await
}

/// What the engine writes once the cloud has made every disk as large as it shall be.
async fn make_larger(world: &World, instance: &Instance) {
    let mut work = world.app.store().begin().await.unwrap();
    for disk in store::disks::list(&mut work, instance.id).await.unwrap() {
        store::disks::advance(&mut work, disk.id, disk.state, model::DiskState::Formatted)
            .await
            .unwrap();
        store::disks::set_made_gb(&mut work, disk.id, disk.size_gb).await.unwrap();
    }
    store::actions::end_disks(&mut work, instance.id, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn every_server_gets_a_larger_disk_while_it_runs() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-3", &[]).await;
    let answer = extra(&world, &before, &json!({"extra_disk_size": 100})).await;
    assert_eq!(
        (answer.status.as_u16(), answer.json()),
        (200, json!({"message": "Disk resize started."}))
    );
    let after = world.load(before.id.0).await;
    assert_eq!((after.disk_size, after.generation), (Some(125), before.generation));
    let launches: Vec<i64> =
        world.servers(after.id).await.iter().map(|server| server.wanted.launch()).collect();
    assert_eq!(launches, [0, 0, 0], "no server is restarted for it");
    let line = world.audit().await.pop().unwrap();
    let expected = "instance.resize_disk customer-api 192.0.2.7 owner@example.test id=1; \
                    name=orders; disk_size=125";
    assert_eq!(line, expected);
    let nodes = read(&world, &after, "/nodes").await;
    assert_eq!(
        (&nodes[0]["disk_size"], &nodes[0]["additional_disk_size"]),
        (&json!(125), &json!(100))
    );
    let action = world.last_action(after.id).await;
    assert_eq!(action.state(), ActionState::Running);
    make_larger(&world, &after).await;
    let nodes = read(&world, &after, "/nodes").await;
    assert!(nodes.as_array().unwrap().iter().all(|node| node["configured"] == json!(true)));
    assert_eq!(world.last_action(after.id).await.state(), ActionState::Done);
    // The gigabytes that were added, on each of three servers.
    let expected = [("mouse-3".to_owned(), 29_700), ("mouse-3".to_owned(), 29_700 + 3 * 100 * 20)];
    assert_eq!(prices(&world, &after).await, expected);
}

#[tokio::test]
async fn a_smaller_one_is_refused_with_its_number_and_the_same_is_no_change() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1", &[]).await;
    assert_eq!(extra(&world, &instance, &json!({"extra_disk_size": 50})).await.status, 200);
    let lines = world.audit().await.len();
    let body = json!({"extra_disk_size": 50, "allow_downtime": true});
    let same = extra(&world, &instance, &body).await;
    let already = json!({"message": "The disks have that size already"});
    assert_eq!((same.status.as_u16(), same.json()), (200, already));
    assert_eq!(world.audit().await.len(), lines);
    let sentence = "extra_disk_size: must be at least 50, the gigabytes each server has now on \
                    top of its plan's";
    for smaller in [49, 0, -1] {
        let refused = extra(&world, &instance, &json!({"extra_disk_size": smaller})).await;
        let expected = json!({"error": sentence, "message": sentence, "error_code": 40_007});
        assert_eq!((refused.status.as_u16(), refused.json()), (400, expected), "{smaller}");
    }
    for (body, error) in [
        (json!({}), "extra_disk_size: Field is required"),
        (json!({"extra_disk_size": "1"}), "extra_disk_size: must be an integer"),
        (
            json!({"extra_disk_size": 16_000}),
            "extra_disk_size: must be at most 15975, the gigabytes that can be added to this plan",
        ),
    ] {
        extra(&world, &instance, &body).await.expect_error(400, error);
    }
    let smaller = put(&world, &instance, &json!({"disk_size": 74})).await;
    let sentence = "disk_size: must be at least 75, the gigabytes each server has now";
    let expected = json!({"error": sentence, "message": sentence, "error_code": 40_007});
    assert_eq!((smaller.status.as_u16(), smaller.json()), (400, expected));
    assert_eq!(world.audit().await.len(), lines);
    assert_eq!(put(&world, &instance, &json!({"disk_size": 75})).await.status, 200);
    let larger = put(&world, &instance, &json!({"disk_size": 76})).await;
    assert_eq!(larger.json(), json!({"message": BEGUN}));
}

/// A full disk may be what everything else waits for.
#[tokio::test]
async fn it_is_accepted_while_something_else_goes_on_and_keeps_nothing_waiting() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[]).await;
    let restart = super::call(&world, &instance, "POST", "/actions/cluster-restart").await;
    assert_eq!(restart.status, 200);
    assert_eq!(extra(&world, &instance, &json!({"extra_disk_size": 50})).await.status, 200);
    let disk = world.last_action(instance.id).await;
    world.make_ready(instance.id).await;
    assert_eq!(world.last_action(instance.id).await.state(), ActionState::Running, "{disk:?}");
    let cancel = format!("/actions/{}/cancel", disk.id);
    super::call(&world, &instance, "POST", &cancel).await.expect_error(
        400,
        "A resize-disk is not left half done, so it can't be cancelled; no disk becomes smaller \
         again",
    );
    let restart = super::call(&world, &instance, "POST", "/actions/cluster-restart").await;
    assert_eq!(restart.status, 200, "{}", restart.text);
    super::call(&world, &instance, "POST", "/actions/cluster-stop").await;
    let stopped = super::read(&world, &instance, &format!("/actions/{}", disk.id)).await;
    assert_eq!(stopped["state"], "running", "it is done once the cluster is started again");
}

#[tokio::test]
async fn roles_and_limits_hold() {
    let world = World::with(app::Settings {
        limits: app::Limits { disk_gb: 100, ..app::Limits::NONE },
        ..app::Settings::default()
    });
    let world = world.await;
    let instance = cluster(&world, "mouse-1", &[]).await;
    let path = format!("/api/instances/{}/disk", instance.id);
    let body = json!({"extra_disk_size": 76});
    let monitor = world.member(Role::Monitor, &[]).await;
    let refused = Call::put(&path).key(&monitor).json(&body).send(&world.customer).await;
    assert_eq!(refused.status, 403);
    let refused = extra(&world, &instance, &body).await;
    assert!(
        refused.text.contains("at most 100 GB of disk; this one has 25, and 76 more"),
        "{}",
        refused.text
    );
    let member = world.member(Role::Member, &["prod"]).await;
    let body = json!({"extra_disk_size": 75});
    let accepted = Call::put(&path).key(&member).json(&body).send(&world.customer).await;
    assert_eq!(accepted.status, 200, "{}", accepted.text);
}
