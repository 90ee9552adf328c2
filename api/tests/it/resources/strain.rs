//! Answers while brokers lag behind the controller, as while they make thousands of
//! partitions, and the number of partitions that keeps them from lagging for long.

use super::users::lets_in;
use super::{cluster, get, lines, send};
use crate::world::World;
use app::Settings;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::{Instance, SignedDuration};
use serde_json::{Value, json};
use std::time::Duration;

/// How long brokers lag, by the simulated clock.
const LAG: SignedDuration = SignedDuration::from_secs(50);

/// A cluster of one server whose broker shows nothing new until time passes.
async fn lagging(patience: Duration) -> (World, Instance) {
    let world = World::with(Settings { broker_patience: patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-1").await;
    lag(&world, &instance).await;
    (world, instance)
}

async fn lag(world: &World, instance: &Instance) {
    for server in world.servers(instance.id).await {
        world.kafka.hold_view(server.node_id, LAG);
    }
}

fn catch_up(world: &World) {
    world.clock.advance(LAG);
    world.pass_time();
}

#[tokio::test]
async fn a_topic_that_no_broker_shows_yet_is_told_as_made() {
    let (world, instance) = lagging(Duration::from_millis(300)).await;
    let asked = json!({"name": "x-0", "partitions": 2, "config": {"retention.ms": "60000"}});
    let made = send(&world, "POST", &instance, "topics", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let expected = json!({"name": "x-0", "partitions": 2, "replicas": 1, "status": "creating",
        "config": {"retention.ms": "60000"}});
    assert_eq!(made.json(), expected);
    assert_eq!(lines(&world, 1).await, ["topic.create topic=x-0; outcome=done"]);
    // Another one of that name is refused by the controller, which does not lag.
    let again = send(&world, "POST", &instance, "topics", &asked).await;
    assert!(again.status == 400 && again.text.contains("exists already"), "{}", again.text);
    catch_up(&world);
    assert_eq!(get(&world, &instance, "topics/x-0").await["status"], "ready");
}

/// A repeat that finds the topic of the attempt before waits until it can be compared.
#[tokio::test]
async fn a_repeat_knows_the_topic_that_its_first_attempt_made() {
    let (world, instance) = lagging(Duration::from_secs(20)).await;
    // The first call looks how many partitions there are, the second makes the topic.
    world.kafka.fail_after(1, Fault::LostReply);
    let before = world.kafka.calls();
    let caught_up = async {
        // The look, the attempt whose reply gets lost, the repeat, and looks for the topic.
        while world.kafka.calls() < before + 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        catch_up(&world);
    };
    let caught_up = tokio::time::timeout(Duration::from_secs(20), caught_up);
    let asked = json!({"name": "x-0"});
    let made = send(&world, "POST", &instance, "topics", &asked);
    let (made, looked) = tokio::join!(made, caught_up);
    looked.expect("nobody looked for the topic");
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.json()["status"], "ready");
}

/// The topic is there, but it may be another's that was made at the same moment.
#[tokio::test]
async fn a_repeat_that_can_not_compare_what_it_met_says_so() {
    let (world, instance) = lagging(Duration::from_millis(700)).await;
    world.kafka.fail_after(1, Fault::LostReply);
    let asked = json!({"name": "x-0"});
    let unsure = send(&world, "POST", &instance, "topics", &asked).await;
    assert_eq!(unsure.status, 400, "{}", unsure.text);
    assert!(unsure.text.contains("GET topics/x-0 tells whether it is there"), "{}", unsure.text);
    assert_eq!(lines(&world, 1).await, ["topic.create topic=x-0; outcome=unknown"]);
}

#[tokio::test]
async fn what_kafka_confirmed_is_done_though_no_broker_shows_it_yet() {
    let world = World::with(Settings {
        broker_patience: Duration::from_millis(300),
        ..Settings::default()
    })
    .await;
    let instance = cluster(&world, "mouse-1").await;
    for name in ["a", "b"] {
        let made = send(&world, "POST", &instance, "topics", &json!({"name": name})).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
    lag(&world, &instance).await;
    let check = async |method: &str, rest: &str, body: Value, status: u16| {
        let answer = send(&world, method, &instance, rest, &body).await;
        assert_eq!(answer.status, status, "{method} {rest}: {}", answer.text);
        let line = lines(&world, 1).await.remove(0);
        assert!(line.ends_with("outcome=done"), "{method} {rest}: {line}");
        if answer.text.is_empty() { Value::Null } else { answer.json() }
    };
    let user = check("POST", "users", json!({"name": "bob"}), 201).await;
    let grown = json!({"partitions": 3, "config": {"retention.ms": 60000}});
    let topic = check("PUT", "topics/a", grown, 200).await;
    assert_eq!((&topic["partitions"], &topic["replicas"]), (&json!(3), &json!(1)), "{topic}");
    let limits = json!({"user": "ada", "producer_byte_rate": 1024});
    let quota = check("PUT", "quotas", limits, 200).await;
    assert_eq!(quota["producer_byte_rate"], 1024.0, "{quota}");
    let rule = json!({"operation": "write", "resource": "topic", "resource_pattern": "b"});
    check("POST", "acls", json!({"user": "bob", "rules": [rule]}), 201).await;
    check("DELETE", "topics/b", Value::Null, 200).await;
    check("DELETE", "users/ada", Value::Null, 200).await;

    catch_up(&world);
    let password = user["password"].as_str().unwrap();
    assert!(lets_in(&world, &instance, "bob", password).await);
    let topics = get(&world, &instance, "topics").await;
    let expected = json!([{"name": "a", "partitions": 3, "replicas": 1, "status": "ready",
        "config": {"retention.ms": 60000}}]);
    assert_eq!(topics, expected);
    let users = get(&world, &instance, "users").await;
    let names: Vec<&str> =
        users.as_array().unwrap().iter().map(|user| user["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"bob") && !names.contains(&"ada"), "{names:?}");
    assert_eq!(get(&world, &instance, "quotas").await, json!([quota]));
}

/// Of `mouse`, for each server.
const MOST: i64 = 1000;

#[tokio::test]
async fn a_plan_has_a_highest_number_of_partitions_each_replica_counted() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let refused = async |method: &str, rest: &str, body: Value, says: &str| {
        let refused = send(&world, method, &instance, rest, &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.text);
        assert!(refused.text.contains(says), "{body}: {}", refused.text);
    };
    let says = "partitions: must be at most 1000 with 3 replicas: plan mouse-3 allows 3000 \
                partition replicas in all, and other topics have 0";
    refused("POST", "topics", json!({"name": "a", "partitions": MOST + 1}), says).await;
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    refused("PUT", "topics/a", json!({"partitions": MOST + 1}), says).await;
    let grown =
        send(&world, "PUT", &instance, "topics/a", &json!({"partitions": MOST - 100})).await;
    assert_eq!(grown.status, 200, "{}", grown.text);

    // What Kafka's own protocol made counts as well, and what Kafka has for itself does not.
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    for name in ["__consumer_offsets", "by-protocol"] {
        let topic = NewTopic { name: name.into(), partitions: 50, replicas: 3, settings: vec![] };
        world.kafka.create_topic(&at, &topic).await.unwrap();
    }
    world.pass_time();
    let says = "must be at most 150 with 1 replicas: plan mouse-3 allows 3000 partition replicas \
                in all, and other topics have 2850";
    let one_copy = |partitions| json!({"name": "b", "partitions": partitions, "replicas": 1});
    refused("POST", "topics", one_copy(151), says).await;
    let made = send(&world, "POST", &instance, "topics", &one_copy(150)).await;
    assert_eq!(made.status, 201, "{}", made.text);
    refused("POST", "topics", json!({"name": "c", "replicas": 1}), "must be at most 0").await;
    // Settings can still be changed, and room be made.
    let other = json!({"partitions": 150, "config": {"retention.ms": 1}});
    assert_eq!(send(&world, "PUT", &instance, "topics/b", &other).await.status, 200);
    assert_eq!(send(&world, "DELETE", &instance, "topics/b", &Value::Null).await.status, 200);
    let asked = json!({"name": "c", "replicas": 1});
    assert_eq!(send(&world, "POST", &instance, "topics", &asked).await.status, 201);
}
