//! When servers can't be changed, whatever is asked.

use super::{call, cluster, put, topic};
use crate::call::Call;
use crate::documents;
use crate::world::World;
use app::{Limits, Settings};
use model::Role;
use serde_json::json;

#[tokio::test]
async fn a_cluster_has_to_be_ready() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let refused = put(&world, &instance, &json!({"nodes": 3})).await;
    assert!(refused.text.contains("The cluster is being created"), "{}", refused.text);
    world.make_ready(instance.id).await;
    call(&world, &instance, "POST", "/actions/cluster-stop").await;
    for change in [json!({"nodes": 3}), json!({"plan": "bat-1"})] {
        put(&world, &instance, &change)
            .await
            .expect_error(400, "The cluster is stopped; start it with actions/cluster-start first");
    }
}

#[tokio::test]
async fn servers_have_to_run() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[]).await;
    world.set_stopped(&instance, &[2]).await;
    let sentence = format!(
        "Replicas can't be moved while servers are stopped: {}-02; use actions/start",
        instance.username
    );
    put(&world, &instance, &json!({"nodes": 5})).await.expect_error(400, &sentence);
    let rebalance = call(&world, &instance, "POST", "/actions/rebalance").await;
    rebalance.expect_error(400, &sentence);
    // Another size needs no replica moved: a stopped server begins with it.
    assert_eq!(put(&world, &instance, &json!({"plan": "bat-3"})).await.status, 200);
}

/// One that leaves may be down: others have what it held.
#[tokio::test]
async fn servers_that_stay_have_to_be_up() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-5", &[topic("orders", 3)]).await;
    let servers = world.servers(instance.id).await;
    let report = async |number: usize, phase: &str| {
        let server = &servers[number - 1];
        let report = documents::report(server, &json!({"phase": phase, "launch": 0}));
        let (mut work, now) = (world.app.store().begin().await.unwrap(), world.app.now());
        store::servers::set_report(&mut work, server.id, &report, now).await.unwrap();
        work.commit().await.unwrap();
    };
    report(2, "failed").await;
    let sentence = format!(
        "Replicas can't be moved while servers that stay don't run: {}; try again once they do",
        servers[1].name
    );
    for nodes in [3, 7] {
        put(&world, &instance, &json!({"nodes": nodes})).await.expect_error(400, &sentence);
    }
    let rebalance = call(&world, &instance, "POST", "/actions/rebalance").await;
    rebalance.expect_error(400, &sentence);
    report(2, "running").await;
    report(5, "failed").await;
    let refused = put(&world, &instance, &json!({"nodes": 7})).await;
    assert!(refused.text.contains(&servers[4].name), "{}", refused.text);
    assert_eq!(put(&world, &instance, &json!({"nodes": 3})).await.status, 200);
}

#[tokio::test]
async fn an_account_has_no_more_servers_than_its_limit() {
    let limits = Limits { servers: 4, ..Limits::NONE };
    let world = World::with(Settings { limits, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-3", &[]).await;
    let refused = put(&world, &instance, &json!({"nodes": 5})).await;
    let words = "An account can have at most 4 servers; this one has 3, and 2 more";
    assert!(refused.text.contains(words), "{}", refused.text);
    assert_eq!(world.load(instance.id.0).await, instance);
}

#[tokio::test]
async fn a_monitor_may_not_and_a_member_may() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1", &[]).await;
    let path = format!("/api/instances/{}", instance.id);
    let ask = async |role, body: serde_json::Value| {
        let key = world.member(role, &["prod"]).await;
        Call::put(&path).key(&key).json(&body).send(&world.customer).await
    };
    assert_eq!(ask(Role::Monitor, json!({"nodes": 3})).await.status, 403);
    assert_eq!(ask(Role::BillingManager, json!({"nodes": 3})).await.status, 403);
    // Tags are not a member's to change, also not beside what is.
    assert_eq!(ask(Role::Member, json!({"nodes": 3, "tags": ["x"]})).await.status, 403);
    assert_eq!(world.load(instance.id.0).await, instance);
    assert_eq!(ask(Role::Member, json!({"nodes": 3})).await.status, 200);
    assert_eq!(world.load(instance.id.0).await.nodes, 3);
}

#[tokio::test]
async fn a_region_without_room_is_told() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1", &[]).await;
    let mut work = world.app.store().begin().await.unwrap();
    // As if it had been created there: this region proposes no place.
    let full = model::RegionName("google-compute-engine::us-central1".into());
    let moved = model::Instance {
        id: model::InstanceId(work.next("instances").await.unwrap()),
        region: full,
        apikey: model::Secret::new("another"),
        username: "other".into(),
        provider_id: "00000000-0000-4000-8000-000000000009".parse().unwrap(),
        ..instance.clone()
    };
    store::instances::insert(&mut work, &moved).await.unwrap();
    store::history::insert(
        &mut work,
        &model::HistoryEntry {
            instance_id: moved.id,
            account_id: moved.account_id,
            at: moved.created_at,
            change: model::HistoryChange::Created,
            name: moved.name.clone(),
            plan: moved.plan.clone(),
            price: model::Cents(9900),
            tags: moved.tags.clone(),
        },
    )
    .await
    .unwrap();
    work.commit().await.unwrap();
    world.make_ready(moved.id).await;
    let refused = put(&world, &moved, &json!({"nodes": 3})).await;
    refused.expect_error(
        400,
        "This region has no room for that plan now; choose a smaller plan or disk, delete an \
         instance, or ask the operator",
    );
}
