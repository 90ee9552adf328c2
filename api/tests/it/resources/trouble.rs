//! Clusters that can't be asked, or not at once.

use super::{cluster, send};
use crate::call::Call;
use crate::world::World;
use app::Settings;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use serde_json::{Value, json};
use std::time::Duration;

const READS: [&str; 9] = [
    "topics",
    "topics/a",
    "topics/a/messages",
    "users",
    "acls",
    "config/kafka",
    "groups",
    "groups/a",
    "quotas",
];

#[tokio::test]
async fn one_that_is_not_ready_is_refused_at_once() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    for rest in READS {
        let refused = send(&world, "GET", &instance, rest, &Value::Null).await;
        refused.expect_error(
            400,
            "The cluster is being created (waiting for the engine); try again once `ready` reads true",
        );
    }
    let nodes = send(&world, "GET", &instance, "nodes", &Value::Null).await;
    assert_eq!(nodes.json()[0]["running"], false, "planned ones are listed");
    // What is wrong with a request comes before that.
    let before = world.kafka.calls();
    for (method, rest, body, says) in [
        ("PUT", "topics/a", json!({"partitions": 0}), "partitions: must be 1 to 10000"),
        ("POST", "groups/a/reset", json!({}), "strategy: Field is required"),
        ("GET", "topics/a/messages?limit=0", Value::Null, "limit: must be from 1 to 1000"),
        ("POST", "topics/a/messages", json!({"value": 5}), "value: must be a string"),
    ] {
        send(&world, method, &instance, rest, &body).await.expect_error(400, says);
    }
    assert_eq!(world.kafka.calls(), before, "nobody was asked");
}

/// However many topics there are.
#[tokio::test]
async fn a_list_takes_as_many_questions_for_fifty_topics_as_for_one() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let mut asked = Vec::new();
    for numbers in [0..1, 1..50] {
        let count = numbers.end;
        for number in numbers {
            let settings = vec![("retention.ms".to_owned(), "60000".to_owned())];
            let name = format!("t{number}");
            let topic = NewTopic { name, partitions: 1, replicas: 3, settings };
            world.kafka.create_topic(&at, &topic).await.unwrap();
        }
        world.pass_time();
        let before = world.kafka.calls();
        let list = send(&world, "GET", &instance, "topics", &Value::Null).await.json();
        assert_eq!(list.as_array().unwrap().len(), count);
        asked.push(world.kafka.calls() - before);
    }
    assert_eq!(asked, [1, 1]);
}

#[tokio::test]
async fn one_without_brokers_is_refused_when_patience_ends() {
    let patience = Duration::from_millis(300);
    let world = World::with(Settings { broker_patience: patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-1").await;
    world.kafka.kill(1);
    let refused = send(&world, "GET", &instance, "topics", &Value::Null).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("refused the connection; try again later"), "{}", refused.text);
    let rule = json!({"operation": "read", "resource": "topic", "resource_pattern": "a"});
    let asked = json!({"user": "ada", "rules": [rule]});
    let refused = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("refused the connection; try again later"), "{}", refused.text);
}

/// A change looks for its topic first. Each question had all the patience there is,
/// so that callers had given up before they were answered.
#[tokio::test]
async fn all_questions_of_a_request_have_one_deadline() {
    let patience = Duration::from_millis(900);
    let world = World::with(Settings { broker_patience: patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-1").await;
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    // The topic is found at the third attempt, half a second later.
    world.kafka.fail_next(Fault::Refused, 2);
    world.kafka.fail_after(1, Fault::Refused);
    world.kafka.fail_next(Fault::Refused, 20);
    let before = world.kafka.calls();
    let refused = send(&world, "PUT", &instance, "topics/a", &json!({"partitions": 2})).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    // There is time for two more, a quarter of a second apart.
    let asked = world.kafka.calls() - before;
    assert!(asked <= 5, "asked {asked} times");
}

#[tokio::test]
async fn another_broker_is_asked_while_one_is_down() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    world.kafka.kill(1);
    world.pass_time();
    let made =
        send(&world, "POST", &instance, "topics", &json!({"name": "a", "replicas": 2})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let nodes = send(&world, "GET", &instance, "nodes", &Value::Null).await.json();
    let running: Vec<&Value> =
        nodes.as_array().unwrap().iter().map(|node| &node["running"]).collect();
    assert_eq!(running, [&json!(false), &json!(true), &json!(true)]);
}

#[tokio::test]
async fn shared_plans_have_topics_alone() {
    let world = World::new().await;
    let own = world.create("orders", &[]).await;
    world.make_ready(own.id).await;
    let shared = world.share(&world.load(own.id.0).await).await;
    world.make_ready(shared.id).await;
    for rest in ["users", "acls", "config/kafka"] {
        let call = Call::get(&format!("/api/{rest}")).key(&shared.apikey);
        let refused = call.send(&world.instance).await;
        refused.expect_error(400, "Not available on shared plans");
    }
}
