//! Fewer servers.

use super::{change, cluster, finish, members, prices, put, read, resize, topic};
use crate::world::World;
use model::Membership;
use serde_json::json;

#[tokio::test]
async fn those_that_leave_are_marked_and_no_longer_told_to_clients() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[topic("orders", 3)]).await;
    let after = change(&world, &before, &json!({"nodes": 3})).await;
    assert_eq!((after.plan.0.as_str(), after.nodes), ("mouse-3", 3));
    let (member, leaving) = (Membership::Member, Membership::Leaving);
    let expected =
        [(1, 1, member), (2, 2, member), (3, 3, member), (4, 4, leaving), (5, 5, leaving)];
    assert_eq!(members(&world, &after).await, expected);
    let resize = resize(&world, &after).await.unwrap();
    assert_eq!((resize.from, resize.to, resize.removing), (5, 3, false));
    // Who begins now relies on no server that leaves; until it has left it is there.
    let whole = read(&world, &after, "").await;
    assert_eq!(whole["brokers"].as_str().unwrap().split(',').count(), 3);
    assert_eq!(read(&world, &after, "/details").await["servers"].as_array().unwrap().len(), 5);
    assert_eq!(read(&world, &after, "/nodes").await.as_array().unwrap().len(), 5);
    let expected = [("mouse-5".to_owned(), 49_500), ("mouse-3".to_owned(), 29_700)];
    assert_eq!(prices(&world, &after).await, expected);
    finish(&world, &after).await;
    assert_eq!(read(&world, &after, "/nodes").await.as_array().unwrap().len(), 3);
}

/// New topics can't have replicas on servers that leave.
#[tokio::test]
async fn a_topic_has_no_more_replicas_than_servers_stay() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[]).await;
    let after = change(&world, &before, &json!({"nodes": 3})).await;
    let path = format!("/api/instances/{}/topics", after.id);
    let body = json!({"name": "wide", "partitions": 1, "replicas": 4});
    let call = crate::call::Call::post(&path).key(&world.key).json(&body);
    let refused = call.send(&world.customer).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
}

#[tokio::test]
async fn one_server_is_left_only_where_that_is_meant() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-3", &[topic("orders", 3)]).await;
    let refused = put(&world, &before, &json!({"nodes": 1})).await;
    refused.expect_error(
        400,
        "Of 3 servers one would be left, with one copy of everything; if that is meant, send \
         accept_single_copy: true",
    );
    assert_eq!(world.load(before.id.0).await, before);
    let meant = json!({"plan": "mouse-1", "accept_single_copy": true});
    let after = change(&world, &before, &meant).await;
    assert!(resize(&world, &after).await.unwrap().accept_single_copy);
    assert_eq!(members(&world, &after).await[0], (1, 1, Membership::Member));
}

#[tokio::test]
async fn a_topic_with_more_replicas_than_servers_is_named() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[topic("wide", 5), topic("orders", 3)]).await;
    let refused = put(&world, &before, &json!({"name": "new", "nodes": 3})).await;
    refused.expect_error(
        400,
        "Nothing was changed: topic wide is to have 5 replicas and 3 brokers would remain: give \
         it fewer replicas first",
    );
    assert_eq!(world.load(before.id.0).await, before);
    assert!(resize(&world, &before).await.is_none());
}

#[tokio::test]
async fn disks_that_can_not_hold_it_are_named_with_numbers() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-5", &[topic("orders", 3)]).await;
    for partition in 0..2 {
        world.kafka.fill("orders", partition, 20 << 30);
    }
    let refused = put(&world, &before, &json!({"nodes": 3})).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let error = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("with 20 % of each disk left free there is no place for"), "{error}");
    assert!(error.contains("such as orders-"), "{error}");
    let named = format!("broker 1 is {}-01", before.username);
    assert!(error.contains(&named), "{error}");
    assert_eq!(world.load(before.id.0).await, before);
}

#[tokio::test]
async fn a_plan_with_room_for_fewer_partitions_is_refused_where_there_are_more() {
    let world = World::new().await;
    let many = kafka::client::NewTopic {
        name: "many".into(),
        partitions: 1001,
        replicas: 3,
        settings: vec![],
    };
    let before = cluster(&world, "bat-3", &[many]).await;
    let refused = put(&world, &before, &json!({"plan": "mouse-3", "disk_size": 500})).await;
    refused.expect_error(
        400,
        "Nothing was changed: plan mouse-3 allows 3000 partition replicas in all, and topics \
         would have 3003; delete topics, or take a larger plan",
    );
    assert_eq!(world.load(before.id.0).await, before);
}

/// Whether replicas can be moved is asked of brokers, and none answers.
#[tokio::test]
async fn without_a_broker_that_answers_nothing_is_begun() {
    let world = World::new().await;
    let instance = world.create_of("mouse-5", "orders", &[]).await;
    world.make_ready(instance.id).await;
    let before = world.load(instance.id.0).await;
    let refused = put(&world, &before, &json!({"nodes": 3})).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let words = "Nothing was changed, because no broker tells where replicas are";
    assert!(refused.text.contains(words), "{}", refused.text);
    assert_eq!(world.load(before.id.0).await, before);
}
