//! How many copies topics have, and how many of them must be in sync.

use super::{cluster, get, send};
use crate::world::World;
use app::Settings;
use kafka::client::{Admin as _, NewTopic};
use model::Instance;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn replicas_stay_as_they_are() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let asked = json!({"name": "a", "replicas": 2});
    assert_eq!(send(&world, "POST", &instance, "topics", &asked).await.status, 201);
    // Clients send back what they were told.
    let same = json!({"partitions": 2, "replicas": 2});
    let kept = send(&world, "PUT", &instance, "topics/a", &same).await;
    assert_eq!(kept.status, 200, "{}", kept.text);
    let before = get(&world, &instance, "topics").await;
    for (replicas, says) in [
        (json!(3), "replicas: can't change: the topic has 2"),
        (json!(0), "replicas: must be 1 to 10000"),
        (json!("2"), "replicas: must be an integer"),
    ] {
        let body = json!({"partitions": 3, "replicas": replicas});
        let refused = send(&world, "PUT", &instance, "topics/a", &body).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{}", refused.text);
    }
    assert_eq!(get(&world, &instance, "topics").await, before);
}

#[tokio::test]
async fn no_more_can_be_in_sync_than_there_are() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let config = |demand: i64| json!({"min.insync.replicas": demand});
    let says = "config: min.insync.replicas is 3, but of 2 replicas no more than 2 can be in sync";
    let check = async |method: &str, rest: &str, body: Value| {
        let refused = send(&world, method, &instance, rest, &body).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{}", refused.text);
    };
    check("POST", "topics", json!({"name": "a", "replicas": 2, "config": config(3)})).await;
    let asked = json!({"name": "a", "replicas": 2, "config": config(2)});
    let made = send(&world, "POST", &instance, "topics", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    check("PUT", "topics/a", json!({"config": config(3)})).await;
    // One that was made so elsewhere is changed in other things as it is.
    make(&world, &instance, "b", 2, "3").await;
    let other = json!({"config": {"min.insync.replicas": 3, "retention.ms": 60000}});
    let changed = send(&world, "PUT", &instance, "topics/b", &other).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
}

async fn make(world: &World, instance: &Instance, name: &str, replicas: i16, demand: &str) {
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let settings = vec![("min.insync.replicas".to_owned(), demand.to_owned())];
    let topic = NewTopic { name: name.to_owned(), partitions: 3, replicas, settings };
    world.kafka.create_topic(&at, &topic).await.unwrap();
    world.pass_time();
}

/// Brokers did answer, so nobody is told that none did.
#[tokio::test]
async fn a_write_that_lacks_replicas_in_sync_is_told_as_that() {
    let broker_patience = Duration::from_millis(600);
    let world = World::with(Settings { broker_patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-3").await;
    make(&world, &instance, "a", 3, "3").await;
    make(&world, &instance, "b", 1, "1").await;
    // It is asked first, so that the answers come last.
    world.kafka.kill(1);
    world.pass_time();
    let check = async |topic: &str, message: Value, says: &str| {
        let rest = format!("topics/{topic}/messages");
        let refused = send(&world, "POST", &instance, &rest, &message).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{}", refused.text);
        assert!(!refused.text.contains("brokers answered"), "{}", refused.text);
    };
    let says = "has fewer replicas in sync than its min.insync.replicas asks for; try again once";
    check("a", json!({"value": "x"}), says).await;
    let all = world.kafka.partitions();
    let lacking = all.iter().find(|it| it.leader.is_none()).unwrap();
    let message = json!({"value": "x", "partition": lacking.index});
    check("b", message, "\"Kafka did not do it within 0 s: Kafka refused Produce for b").await;
}

/// Kafka would forget who may lead what has no leader, and its controllers fail once
/// such a topic is deleted.
#[tokio::test]
async fn the_demand_does_not_change_while_a_partition_lacks_replicas() {
    // There is time for more looks than one, but they are far apart.
    let broker_patience = Duration::from_millis(600);
    let world = World::with(Settings { broker_patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-3").await;
    make(&world, &instance, "a", 1, "1").await;
    make(&world, &instance, "b", 3, "1").await;
    world.kafka.kill(3);
    world.pass_time();
    let all = world.kafka.partitions();
    let lacking = all.iter().find(|it| it.leader.is_none()).unwrap();
    let says =
        format!("min.insync.replicas can't change while a-{} has fewer replicas", lacking.index);
    let check = async |method: &str, rest: &str, body: Value, refused: bool| {
        let answer = send(&world, method, &instance, rest, &body).await;
        assert_eq!(answer.status.as_u16(), if refused { 400 } else { 200 }, "{}", answer.text);
        assert_eq!(answer.text.contains(&says), refused, "{}", answer.text);
    };
    let without = json!({"config": {}});
    let before = world.kafka.calls();
    check("PUT", "topics/a", without.clone(), true).await;
    assert_eq!(world.kafka.calls() - before, 2, "the topic, and once all replicas");
    check("POST", "config/kafka", json!({"min.insync.replicas": 2}), true).await;
    // Other settings, other topics, and what is so already.
    let same = json!({"config": {"min.insync.replicas": 1, "retention.ms": 60000}});
    check("PUT", "topics/a", same, false).await;
    check("PUT", "topics/b", json!({"config": {"min.insync.replicas": 2}}), false).await;
    check("POST", "config/kafka", json!({"log.retention.ms": 60000}), false).await;
    world.kafka.start(3);
    world.pass_time();
    check("PUT", "topics/a", without, false).await;
    check("POST", "config/kafka", json!({"min.insync.replicas": 2}), false).await;
}
