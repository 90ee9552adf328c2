//! Servers of another size.

use super::{call, change, cluster, finish, prices, put, resize};
use crate::world::World;
use model::{ActionKind, Instance};
use serde_json::json;

async fn launches(world: &World, instance: &Instance) -> Vec<i64> {
    world.servers(instance.id).await.iter().map(|server| server.wanted.launch()).collect()
}

async fn disks(world: &World, instance: &Instance) -> Vec<(u32, u32)> {
    let disks = store::disks::list(&mut world.app.store().reader(), instance.id).await.unwrap();
    disks.iter().map(|disk| (disk.size_gb, disk.made_gb)).collect()
}

/// As after a first start.
async fn render(world: &World, instance: &Instance) {
    let mut work = world.app.store().begin().await.unwrap();
    for server in store::servers::list_bare(&mut work, instance.id).await.unwrap() {
        store::servers::set_broker(&mut work, server.id, "{}", 1).await.unwrap();
    }
    work.commit().await.unwrap();
}

#[tokio::test]
async fn another_family_is_a_roll_with_more_disk_at_once() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-3", &[]).await;
    render(&world, &before).await;
    let after = change(&world, &before, &json!({"plan": "bat-3"})).await;
    assert_eq!((after.plan.0.as_str(), after.nodes, after.disk_size), ("bat-3", 3, None));
    assert!(!after.configured());
    assert_eq!(launches(&world, &after).await, [1, 1, 1]);
    assert_eq!(disks(&world, &after).await, [(500, 25); 3]);
    let rows = store::servers::list(&mut world.app.store().reader(), after.id).await.unwrap();
    assert!(rows.iter().all(|row| row.broker.is_none()), "heap and threads are rendered anew");
    assert!(resize(&world, &after).await.is_none());
    let kinds = kinds(&world, &after).await;
    assert_eq!(kinds, [ActionKind::ChangePlan, ActionKind::ResizeDisk, ActionKind::Create]);
    let status = world.load(after.id.0).await.progress.status();
    assert!(status.contains("server 1 is to be restarted"), "{status}");
    let expected = [("mouse-3".to_owned(), 29_700), ("bat-3".to_owned(), 52_500)];
    assert_eq!(prices(&world, &after).await, expected);
    world.make_ready(after.id).await;
    assert_eq!(put(&world, &after, &json!({"plan": "bat-3"})).await.status, 200);
    assert_eq!(prices(&world, &after).await.len(), 2);
}

async fn kinds(world: &World, instance: &Instance) -> Vec<ActionKind> {
    let mut reader = world.app.store().reader();
    let all = store::actions::list(&mut reader, instance.id, 9).await.unwrap();
    all.iter().map(|action| action.kind).collect()
}

#[tokio::test]
async fn a_smaller_family_keeps_the_disk_or_is_refused() {
    let world = World::new().await;
    let before = cluster(&world, "bat-3", &[]).await;
    let refused = put(&world, &before, &json!({"plan": "mouse-3", "name": "new"})).await;
    let sentence = "plan: mouse-3 comes with 25 GB a server, and disks never become smaller than \
                    the 500 GB they have; send disk_size: 500 beside the plan";
    assert_eq!(refused.status, 400);
    let expected = json!({"error": sentence, "message": sentence, "error_code": 40_007});
    assert_eq!(refused.json(), expected);
    assert_eq!(world.load(before.id.0).await, before);
    let kept = json!({"plan": "mouse-3", "disk_size": 500});
    let after = change(&world, &before, &kept).await;
    assert_eq!(after.disk_size, Some(500));
    assert_eq!(disks(&world, &after).await, [(500, 500); 3]);
    assert_eq!(kinds(&world, &after).await, [ActionKind::ChangePlan, ActionKind::Create]);
    // 475 GB more than the plan has, on three servers.
    let price = 29_700 + 3 * 475 * 20;
    assert_eq!(prices(&world, &after).await[1], ("mouse-3".to_owned(), price));
}

#[tokio::test]
async fn plan_and_nodes_change_together() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    render(&world, &before).await;
    let after = change(&world, &before, &json!({"plan": "bat-1", "nodes": 3})).await;
    assert_eq!((after.plan.0.as_str(), after.nodes), ("bat-3", 3));
    // New servers begin with it. The other one is restarted once, when the engine has to for
    // their number, and what it is started with then differs from what it runs with.
    assert_eq!(launches(&world, &after).await, [0, 0, 0]);
    let rows = store::servers::list(&mut world.app.store().reader(), after.id).await.unwrap();
    assert!(rows.iter().all(|row| row.broker.is_none()));
    assert_eq!(resize(&world, &after).await.unwrap().memory.rendered_for, Some(0));
    assert_eq!(disks(&world, &after).await, [(500, 25), (500, 500), (500, 500)]);
    assert_eq!(resize(&world, &after).await.unwrap().to, 3);
    assert_eq!(kinds(&world, &after).await[0], ActionKind::Resize);
    let expected = [("mouse-1".to_owned(), 9900), ("bat-3".to_owned(), 52_500)];
    assert_eq!(prices(&world, &after).await, expected);
    finish(&world, &after).await;
    assert!(world.load(after.id.0).await.configured());
}

/// Brokers that were not restarted yet go on as they are, and their plan can be changed back.
#[tokio::test]
async fn a_change_of_plan_is_cancelled_like_a_restart() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-3", &[]).await;
    let after = change(&world, &before, &json!({"plan": "bat-3"})).await;
    let action = world.last_action(after.id).await.id;
    let cancelled = call(&world, &after, "POST", &format!("/actions/{action}/cancel")).await;
    assert_eq!(cancelled.json(), json!({"message": "Cancelled; nothing was restarted"}));
    assert_eq!(launches(&world, &after).await, [0, 0, 0]);
    let read = super::read(&world, &after, &format!("/actions/{action}")).await;
    let expected =
        "cancelled; nothing was restarted; the plan's memory holds from the next start on";
    assert_eq!(read["status"], expected);
    let back = change(&world, &after, &json!({"plan": "mouse-3", "disk_size": 500})).await;
    assert_eq!(back.plan.0, "mouse-3");
}

#[tokio::test]
async fn a_plan_that_left_the_catalogue_can_be_left() {
    let world = World::new().await;
    let before = cluster(&world, "bat-1", &[]).await;
    let without = model::Catalogue::BUILT_IN.replace("\"bat\"", "\"owl\"");
    let customer = world.customer_with(model::Catalogue::parse(&without, None).unwrap());
    let body = json!({"plan": "fox-1"});
    let path = format!("/api/instances/{}", before.id);
    let answer = crate::call::Call::put(&path).key(&world.key).json(&body).send(&customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let after = world.load(before.id.0).await;
    assert_eq!((after.plan.0.as_str(), launches(&world, &after).await), ("fox-1", vec![1]));
}
