//! Messages: written, read, bounded.

use super::{cluster, lines, path, send};
use crate::call::{Answer, Call};
use crate::world::World;
use app::Settings;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::{Instance, Role};
use serde_json::{Value, json};
use std::time::Duration;

async fn scene(world: &World) -> Instance {
    let instance = cluster(world, "mouse-1").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    for name in ["orders", "__internal"] {
        let topic = NewTopic { name: name.into(), partitions: 3, replicas: 1, settings: vec![] };
        world.kafka.create_topic(&at, &topic).await.unwrap();
    }
    world.pass_time();
    instance
}

pub(super) async fn write(world: &World, instance: &Instance, body: Value) -> Answer {
    send(world, "POST", instance, "topics/orders/messages", &body).await
}

pub(super) async fn read(world: &World, instance: &Instance, query: &str) -> Vec<Value> {
    let path = path(instance, &format!("topics/orders/messages?{query}"));
    let answer = Call::get(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    assert_eq!(answer.header("cache-control"), "no-store");
    answer.json().as_array().unwrap().clone()
}

pub(super) fn values(messages: &[Value]) -> String {
    messages.iter().map(|it| it["value"].as_str().unwrap_or("-")).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn messages_are_written_and_read_back() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let one = json!({
        "key": "21", "value": "first", "headers": [{"name": "trace", "value": "4bf9"}, {"name": "empty"}],
    });
    let written = write(&world, &instance, one).await;
    assert_eq!(written.status, 201, "{}", written.text);
    // Kafka's own producers put this key there, too.
    assert_eq!(written.json(), json!([{"partition": 0, "offset": 0}]));
    let several = json!({"messages": [
        {"value": "second", "partition": 2},
        {"value": "/wA=", "value_encoding": "base64", "partition": 2},
        {"key": "21"},
    ]});
    let written = write(&world, &instance, several).await;
    let expected = json!([
        {"partition": 2, "offset": 0}, {"partition": 2, "offset": 1}, {"partition": 0, "offset": 1},
    ]);
    assert_eq!(written.json(), expected);
    insta::assert_json_snapshot!("messages", read(&world, &instance, "from=earliest").await);
    let audit = lines(&world, 2).await;
    assert_eq!(audit[1], "message.create topic=orders; messages=3; outcome=done");
}

#[tokio::test]
async fn reading_begins_where_it_is_told() {
    let world = World::new().await;
    let instance = scene(&world).await;
    for number in 0..30 {
        let body = json!({"value": number.to_string(), "partition": number % 2});
        assert_eq!(write(&world, &instance, body).await.status, 201);
        world.clock.advance(model::SignedDuration::from_secs(60));
    }
    let check = async |query: &str, expected: &str| {
        assert_eq!(values(&read(&world, &instance, query).await), expected, "{query}");
    };
    check("", "20 21 22 23 24 25 26 27 28 29").await;
    check("limit=3", "27 28 29").await;
    check("limit=3&from=newest&partition=0", "24 26 28").await;
    check("limit=3&from=earliest", "0 1 2").await;
    check("limit=2&partition=1&offset=13", "27 29").await;
    check("partition=1&offset=99", "").await;
    check("partition=2", "").await;
    let first = read(&world, &instance, "from=earliest&limit=2").await;
    let time = first[1]["timestamp"].as_str().unwrap().to_owned();
    check(&format!("limit=2&from={time}"), "1 2").await;
    check("from=2030-01-01T00:00:00Z", "").await;
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let get = async |query: &str, expected: &str| {
        let path = path(&instance, &format!("topics/orders/messages?{query}"));
        let answer = Call::get(&path).key(&world.key).send(&world.customer).await;
        answer.expect_error(400, expected);
    };
    get("limit=0", "limit: must be from 1 to 1000").await;
    get("limit=1001", "limit: must be from 1 to 1000").await;
    get("limit=x", "limit: must be an integer").await;
    get("offset=1", "offset: needs the partition it is an offset of").await;
    get("offset=-1&partition=0", "offset: must be 0 or more").await;
    get("offset=1&partition=0&from=earliest", "from: can't be given beside offset").await;
    let time = "from: must be a time such as 2026-11-15T12:00:00Z, earliest or newest";
    get("from=noon", time).await;
    get("partition=99999999999", "partition: must be the number of a partition").await;
    let post = async |body: Value, expected: &str| {
        write(&world, &instance, body).await.expect_error(400, expected);
    };
    let empty = "value: a message needs a value, or a key alone to delete what it names";
    post(json!({}), empty).await;
    post(json!({"messages": []}), "messages: must be 1 to 100, not 0").await;
    let both = json!({"messages": [{"value": "x"}], "value": "", "partition": 0, "key": null});
    post(both, "messages: can't be given beside value, partition").await;
    post(
        json!({"messages": vec![json!({"value": "x"}); 101]}),
        "messages: must be 1 to 100, not 101",
    )
    .await;
    post(json!({"value": "?", "value_encoding": "base64"}), "value: is not base64").await;
    let encoding = "key: has an encoding that is neither text nor base64";
    post(json!({"key": "k", "key_encoding": "hex"}), encoding).await;
    let twice = json!({"value": "x", "headers": [{"name": "a"}, {"name": "a"}]});
    post(twice, "headers: has a twice").await;
    post(json!({"value": "x", "partition": 7}), "partition: topic orders has no partition 7").await;
    post(json!({"value": 5}), "value: must be a string").await;
    post(json!({"messages": 5}), "messages: must be a list of objects").await;
    // Of several it is said which.
    let number = json!({"messages": [{"value": "a"}, {"value": 5}, {"value": "x"}]});
    post(number, "messages[1].value: must be a string").await;
    let nothing = json!({"messages": [{"value": "a"}, {"partition": 0}]});
    post(nothing, &format!("messages[1].{empty}")).await;
    let header = json!({"value": "a", "headers": [{"name": "h"}, {"name": "i", "value": 5}]});
    post(json!({"messages": [header]}), "messages[0].headers[1].value: must be a string").await;
    let far = json!({"messages": [{"value": "a"}, {"value": "x", "partition": 9}]});
    post(far, "messages[1].partition: topic orders has no partition 9").await;
    assert_eq!(read(&world, &instance, "from=earliest").await, Vec::<Value>::new());
}

#[tokio::test]
async fn contents_are_for_those_who_may_change_things() {
    let world = World::new().await;
    let instance = scene(&world).await;
    write(&world, &instance, json!({"value": "a secret of the customer"})).await;
    let monitor = world.member(Role::Monitor, &[]).await;
    let call = Call::get(&path(&instance, "topics/orders/messages"));
    let answer = call.key(&monitor).send(&world.customer).await;
    assert_eq!(answer.status, 403);
    assert!(!answer.text.contains("secret"), "{}", answer.text);
}

#[tokio::test]
async fn internal_and_unknown_topics_are_not_found() {
    let world = World::new().await;
    let instance = scene(&world).await;
    for topic in ["absent", "__internal", "__consumer_offsets", "%00", "a%2Fb"] {
        let rest = format!("topics/{topic}/messages");
        // What is wrong with a request is told of what is there.
        for query in ["", "?limit=0"] {
            let rest = format!("{rest}{query}");
            let read = send(&world, "GET", &instance, &rest, &Value::Null).await;
            read.expect_error(404, "Not Found");
        }
        for body in [json!({"value": "x"}), json!({}), json!([])] {
            let written = send(&world, "POST", &instance, &rest, &body).await;
            written.expect_error(404, "Not Found");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_is_not_told_as_a_write() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let look = Call::get(&path(&instance, "topics/orders/messages?from=earliest"));
    // Nobody gives a producer, in whose name it could be sent again.
    world.kafka.deny_producers();
    world.kafka.fail_after(2, Fault::LostReply);
    let answer = write(&world, &instance, json!({"value": "once"})).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    let error = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("The message may or may not have been written: "), "{error}");
    let there = look.key(&world.key).send(&world.customer).await.json();
    assert_eq!(there.as_array().unwrap().len(), 1, "it is there, once: {there}");
    let audit = lines(&world, 1).await;
    assert!(audit[0].ends_with("outcome=unknown"), "{audit:?}");
}

#[tokio::test]
async fn a_read_that_has_no_turn_in_time_is_refused() {
    let (broker_patience, reads_at_once) = (Duration::from_millis(100), 0);
    let settings = Settings { broker_patience, reads_at_once, ..Settings::default() };
    let world = World::with(settings).await;
    let instance = scene(&world).await;
    let read = send(&world, "GET", &instance, "topics/orders/messages", &Value::Null).await;
    let busy = "There are too many reads of messages at once; try again in a few seconds";
    read.expect_error(400, busy);
    let topics = send(&world, "GET", &instance, "topics", &Value::Null).await;
    assert_eq!(topics.status, 200, "nothing else waits: {}", topics.text);
}

/// One account has topics that are slow to read, and asks for as many reads as it likes.
#[tokio::test]
async fn slow_topics_hold_up_their_own_readers_alone() {
    let world = World::new().await;
    let victim = scene(&world).await;
    let attacker = world.stranger().await;
    let mut slow = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let body = json!({"name": name, "plan": "mouse-1", "region": "local::this-machine"});
        let made = Call::post("/api/instances").key(&attacker).json(&body);
        let id = made.send(&world.customer).await.json()["id"].as_i64().unwrap();
        // Its brokers don't answer, so each read lasts as long as it may.
        world.make_ready(model::InstanceId(id)).await;
        for _ in 0..8 {
            let path = format!("/api/instances/{id}/topics/orders/messages");
            let (call, customer) = (Call::get(&path).key(&attacker), world.customer.clone());
            slow.push(tokio::spawn(async move { call.send(&customer).await.text }));
        }
    }
    // By then each has begun, and those that may have asked several times.
    let before = world.kafka.calls();
    let begun = tokio::time::timeout(Duration::from_secs(10), async {
        while world.kafka.calls() < before + 50 {
            tokio::task::yield_now().await;
        }
    });
    assert!(begun.await.is_ok(), "{} calls", world.kafka.calls() - before);

    assert_eq!(values(&read(&world, &victim, "from=earliest").await), "");
    let ended = slow.iter().filter(|read| read.is_finished()).count();
    assert_eq!(ended, 0, "none of the slow ones made room");
    for read in slow {
        read.abort();
    }
}

#[tokio::test]
async fn reads_have_their_turn_one_after_another() {
    let world = World::with(Settings { reads_at_once: 1, ..Settings::default() }).await;
    let instance = scene(&world).await;
    assert_eq!(write(&world, &instance, json!({"value": "once"})).await.status, 201);
    let look = || read(&world, &instance, "from=earliest");
    let (first, second) = tokio::join!(look(), look());
    assert_eq!([values(&first), values(&second)], ["once", "once"]);
}

/// Whoever asks for no bytes at all does not ask for what deletes.
#[tokio::test]
async fn an_empty_text_is_not_null() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let several = json!({"messages": [
        {"key": "", "value": "", "partition": 0, "headers": [{"name": "h", "value": ""}]},
        {"key": "k", "value": null, "partition": 0},
        {"key": null, "value": "v", "partition": 0},
    ]});
    assert_eq!(write(&world, &instance, several).await.status, 201);
    let call = Call::post(&path(&instance, "topics/orders/messages")).key(&world.key);
    let written = call.form("key=&value=&partition=0").send(&world.customer).await;
    assert_eq!(written.status, 201, "{}", written.text);
    let there = read(&world, &instance, "from=earliest&partition=0").await;
    let told: Vec<_> = there.iter().map(|it| (&it["key"], &it["value"])).collect();
    let (empty, null) = (&json!(""), &Value::Null);
    let expected = [(empty, empty), (&json!("k"), null), (null, &json!("v")), (empty, empty)];
    assert_eq!(told, expected);
    assert_eq!(there[0]["headers"][0]["value"], "");
}
