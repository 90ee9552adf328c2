//! What a change would do, and what a rebalance does.

use super::{call, cluster, members, put, read, resize, topic};
use crate::call::{Answer, Call};
use crate::world::World;
use model::{ActionKind, Instance, Membership};
use serde_json::{Value, json};

async fn dry(world: &World, instance: &Instance, body: &Value) -> Answer {
    let path = format!("/api/instances/{}?dry_run=true", instance.id);
    Call::put(&path).key(&world.key).json(body).send(&world.customer).await
}

#[tokio::test]
async fn a_dry_run_shows_servers_and_moves_and_writes_nothing() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1", &[topic("orders", 1)]).await;
    let lines = world.audit().await.len();
    let name = |number: u32| format!("{}-{number:02}", instance.username);
    let answer = dry(&world, &instance, &json!({"name": "new", "nodes": 3})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let planned = &answer.json()["planned"];
    assert_eq!(answer.json()["message"], "Nothing was changed; this is what would be done");
    assert_eq!(planned["joining"], json!([name(2), name(3)]));
    assert_eq!((&planned["leaving"], &planned["restarting"]), (&json!([]), &json!([])));
    assert_eq!(planned["disk_size"], 25);
    let moves = planned["moves"].as_array().unwrap();
    let orders: Vec<&Value> = moves.iter().filter(|it| it["topic"] == "orders").collect();
    assert_eq!(orders.len(), 2, "{planned}");
    for it in orders {
        assert_eq!(it["from"], json!([name(1)]));
        assert_eq!(it["to"].as_array().unwrap().len(), 3, "a topic of one replica gets three");
    }
    let kept = dry(&world, &instance, &json!({"nodes": 3, "raise_replication": false})).await;
    let moves = kept.json()["planned"]["moves"].clone();
    let wide = |it: &Value| it["topic"] == "orders" && it["to"].as_array().unwrap().len() > 1;
    assert!(!moves.as_array().unwrap().iter().any(wide), "{moves}");

    let plan = dry(&world, &instance, &json!({"plan": "bat-1"})).await.json();
    assert_eq!(plan["planned"]["restarting"], json!([name(1)]));
    assert_eq!(plan["planned"]["disk_size"], 500);
    let none = dry(&world, &instance, &json!({"name": "new"})).await.json();
    assert_eq!(none["planned"]["disk_size"], 25);
    assert_eq!(none["planned"]["partitions"], 0);

    assert_eq!(world.load(instance.id.0).await, instance);
    assert_eq!(members(&world, &instance).await, [(1, 1, Membership::Member)]);
    assert!(resize(&world, &instance).await.is_none());
    assert_eq!(world.audit().await.len(), lines);
}

#[tokio::test]
async fn a_dry_run_is_refused_as_the_change_would_be() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[topic("orders", 3)]).await;
    for body in [json!({"nodes": 1}), json!({"nodes": 4}), json!({}), json!({"disk_size": -5})] {
        let (dry, real) =
            (dry(&world, &instance, &body).await, put(&world, &instance, &body).await);
        assert_eq!((dry.status, &dry.text), (real.status, &real.text), "{body}");
    }
    let path = format!("/api/instances/{}?dry_run=perhaps", instance.id);
    let body = json!({"name": "new"});
    let odd = Call::put(&path).key(&world.key).json(&body).send(&world.customer).await;
    assert_eq!(odd.status, 400, "{}", odd.text);
    assert_eq!(world.load(instance.id.0).await, instance);
}

/// What was only asked about must not be done.
#[tokio::test]
async fn the_word_alone_is_enough_for_a_dry_run() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[]).await;
    uneven(&world, &instance).await;
    let update = format!("/api/instances/{}?dry_run", instance.id);
    let update = Call::put(&update).key(&world.key).json(&json!({"nodes": 5}));
    let update = update.send(&world.customer).await;
    assert_eq!(update.json()["message"], "Nothing was changed; this is what would be done");
    let rebalance = call(&world, &instance, "POST", "/actions/rebalance?dry_run").await.json();
    assert_eq!(rebalance["action"], json!(null), "{rebalance}");
    for word in ["dry_run", "dry_run=true"] {
        let disk = format!("/api/instances/{}/disk?{word}", instance.id);
        let disk = Call::put(&disk).key(&world.key).json(&json!({"extra_disk_size": 20}));
        disk.send(&world.customer).await.expect_error(
            400,
            "dry_run: is not for this call; PUT the instance with disk_size and ?dry_run=true",
        );
    }
    assert_eq!(world.load(instance.id.0).await, instance);
}

#[tokio::test]
async fn a_rebalance_evens_out_what_is_uneven() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[]).await;
    let even = call(&world, &instance, "POST", "/actions/rebalance").await;
    let expected = json!({"message": "Every server has its share already", "action": null});
    assert_eq!((even.status.as_u16(), even.json()), (200, expected));
    uneven(&world, &instance).await;
    let dry = call(&world, &instance, "POST", "/actions/rebalance?dry_run=true").await.json();
    assert_eq!(dry["action"], json!(null));
    assert!(dry["planned"]["partitions"].as_u64().unwrap() > 0, "{dry}");
    assert!(resize(&world, &instance).await.is_none());
    let begun = call(&world, &instance, "POST", "/actions/rebalance").await.json();
    assert_eq!(begun["message"], "Replicas are being moved until every server has its share");
    let action = world.last_action(instance.id).await;
    assert_eq!((begun["action"].as_i64(), action.kind), (Some(action.id.0), ActionKind::Rebalance));
    let resize = resize(&world, &instance).await.unwrap();
    assert!(resize.is_rebalance() && resize.from == 3);
    assert!(!world.load(instance.id.0).await.configured());
    let line = world.audit().await.pop().unwrap();
    assert!(line.starts_with("instance.rebalance customer-api"), "{line}");
    assert_eq!(call(&world, &instance, "POST", "/actions/rebalance").await.status, 400);
    let cancel = format!("/actions/{}/cancel", action.id);
    let cancelled = call(&world, &instance, "POST", &cancel).await.json();
    let message = cancelled["message"].as_str().unwrap();
    assert!(message.starts_with("Cancelled: moves that have begun"), "{message}");
    super::finish(&world, &instance).await;
    assert_eq!(read(&world, &instance, &cancel.replace("/cancel", "")).await["state"], "cancelled");
}

/// A broker that was away has its replicas back, and others lead them.
#[tokio::test]
async fn a_rebalance_gives_leaders_back_where_nothing_has_to_move() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3", &[topic("orders", 3)]).await;
    let even = call(&world, &instance, "POST", "/actions/rebalance").await.json();
    assert_eq!(even["action"], json!(null), "{even}");
    world.kafka.kill(1);
    world.pass_time();
    world.kafka.start(1);
    world.pass_time();
    let dry = call(&world, &instance, "POST", "/actions/rebalance?dry_run=true").await.json();
    assert_eq!(dry["planned"]["partitions"], 0, "{dry}");
    assert!(dry["planned"]["leaders"].as_u64().unwrap() > 0, "{dry}");
    let begun = call(&world, &instance, "POST", "/actions/rebalance").await.json();
    let action = world.last_action(instance.id).await;
    assert_eq!((begun["action"].as_i64(), action.kind), (Some(action.id.0), ActionKind::Rebalance));
}

/// All of it on the first server.
async fn uneven(world: &World, instance: &Instance) {
    use kafka::client::{Admin as _, Assignment, TopicPartition};
    let servers = world.servers(instance.id).await;
    let cluster = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let topic = kafka::client::NewTopic {
        name: "orders".into(),
        partitions: 12,
        replicas: 1,
        settings: vec![],
    };
    world.kafka.create_topic(&cluster, &topic).await.unwrap();
    world.pass_time();
    let all: Vec<Assignment> = (0..12)
        .map(|number| Assignment { at: TopicPartition::new("orders", number), replicas: vec![1] })
        .collect();
    world.kafka.placement().reassign(&cluster, &all).await.unwrap();
    world.pass_time();
    for partition in 0..12 {
        world.kafka.fill("orders", partition, 1 << 30);
    }
}
