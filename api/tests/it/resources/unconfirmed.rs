//! Changes that no broker confirms, and what can't be told in full.

use super::users::lets_in;
use super::{cluster, get, lines, send};
use crate::world::World;
use app::Settings;
use kafka::client::groups::Groups as _;
use kafka::client::{Admin as _, NewTopic, TopicPartition};
use kafka::simulated::Fault;
use model::{Instance, SignedDuration, UserName};
use serde_json::{Value, json};
use std::time::Duration;
use store::ssl_users::{self, Purpose};

/// So short that every question is asked once.
const PATIENCE: Duration = Duration::from_millis(200);

async fn impatient() -> World {
    World::with(Settings { broker_patience: PATIENCE, ..Settings::default() }).await
}

#[tokio::test]
async fn a_change_without_a_quorum_is_told_as_unknown_with_a_way_out() {
    let world = impatient().await;
    let instance = cluster(&world, "mouse-3").await;
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    world.kafka.kill(2);
    world.kafka.kill(3);
    let rule = json!({"operation": "write", "resource": "topic", "resource_pattern": "b"});
    for (method, rest, body, see) in [
        ("POST", "topics", json!({"name": "b"}), "GET topics/b tells whether it is there"),
        ("PUT", "topics/a", json!({"partitions": 2}), "GET topics/a tells what it has"),
        ("DELETE", "topics/a", Value::Null, "if it is, delete it again"),
        ("POST", "users", json!({"name": "bob"}), "make the same user again after a minute"),
        ("DELETE", "users/ada", Value::Null, "GET users tells whether ada is there"),
        ("POST", "acls", json!({"user": "ada", "rules": [rule]}), "GET acls tells"),
        ("PUT", "quotas", json!({"user": "ada", "request_percentage": 12.5}), "GET quotas tells"),
    ] {
        let answer = send(&world, method, &instance, rest, &body).await;
        assert_eq!(answer.status, 400, "{method} {rest}: {}", answer.text);
        let says = answer.text.contains("may have been made or not") && answer.text.contains(see);
        assert!(says, "{method} {rest}: {}", answer.text);
        let line = lines(&world, 1).await.remove(0);
        assert!(line.ends_with("outcome=unknown"), "{line}");
    }
    let again = send(&world, "POST", &instance, "users", &json!({"name": "bob"})).await;
    assert!(again.text.contains("try again in a minute"), "{}", again.text);
}

/// The last answer got lost, and there is no time to ask for another.
#[tokio::test]
async fn what_was_made_is_seen_though_nobody_confirmed_it() {
    let world = impatient().await;
    let instance = cluster(&world, "mouse-1").await;
    // The first call looks how many partitions there are, the second makes the topic.
    world.kafka.fail_after(1, Fault::LostReply);
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    // The first call looks for users of that name, the second one makes it.
    world.kafka.fail_after(1, Fault::LostReply);
    let made = send(&world, "POST", &instance, "users", &json!({"name": "bob"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let password = made.json()["password"].as_str().unwrap().to_owned();
    assert!(lets_in(&world, &instance, "bob", &password).await);
    world.kafka.fail_after(1, Fault::LostReply);
    let gone = send(&world, "DELETE", &instance, "topics/a", &Value::Null).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(lines(&world, 1).await, ["topic.delete topic=a; outcome=done"]);
}

/// Nobody knows whether a call a minute ago made it.
async fn leave_unknown(world: &World, instance: &Instance, name: &str) {
    let mut work = world.app.store().begin().await.unwrap();
    let (name, now) = (UserName::parse(name).unwrap(), world.app.now());
    let life = SignedDuration::ZERO;
    let held = ssl_users::hold(&mut work, instance.id, &name, Purpose::User, now, life).await;
    ssl_users::leave_unknown(&mut work, &held.unwrap().unwrap()).await.unwrap();
    work.commit().await.unwrap();
}

/// A call made it, and its password was never told.
#[tokio::test]
async fn a_user_of_whom_nobody_knew_can_be_asked_for_again() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    for name in ["ada", &*instance.username] {
        leave_unknown(&world, &instance, name).await;
    }
    let other = json!({"name": "ada", "type": "ssl"});
    let refused = send(&world, "POST", &instance, "users", &other).await;
    assert!(refused.status == 400 && refused.text.contains("exists already"), "{}", refused.text);
    let made = send(&world, "POST", &instance, "users", &json!({"name": "ada"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let password = made.json()["password"].as_str().unwrap().to_owned();
    assert!(lets_in(&world, &instance, "ada", &password).await);
    for name in ["ada", &*instance.username] {
        let again = send(&world, "POST", &instance, "users", &json!({"name": name})).await;
        assert!(again.status == 400 && again.text.contains("exists already"), "{}", again.text);
    }
}

/// From when Kafka is asked somebody may have it, whatever the call is told or dies of.
#[tokio::test]
async fn a_user_of_whom_nobody_knew_is_given_out_once() {
    let world = impatient().await;
    let instance = cluster(&world, "mouse-1").await;
    leave_unknown(&world, &instance, "ada").await;
    // The first call looks for users of that name, the second one makes it.
    world.kafka.fail_after(1, Fault::Refused);
    let refused = send(&world, "POST", &instance, "users", &json!({"name": "ada"})).await;
    assert!(refused.status == 400 && refused.text.contains("No broker"), "{}", refused.text);
    let again = send(&world, "POST", &instance, "users", &json!({"name": "ada"})).await;
    assert!(again.status == 400 && again.text.contains("exists already"), "{}", again.text);
}

#[tokio::test]
async fn a_list_of_groups_is_whole_or_an_error() {
    let world = impatient().await;
    let instance = cluster(&world, "mouse-3").await;
    world.kafka.kill(3);
    let refused = send(&world, "GET", &instance, "groups", &Value::Null).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("The list of groups without"), "{}", refused.text);
    assert!(refused.text.contains("would be incomplete"), "{}", refused.text);
    // Others have taken over.
    world.pass_time();
    assert_eq!(get(&world, &instance, "groups").await, json!([]));
}

/// A partition on each server, of which one is away; its number and that of another.
async fn one_without_a_leader(world: &World, instance: &Instance) -> (usize, usize) {
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let topic = NewTopic { name: "orders".into(), partitions: 3, replicas: 1, settings: vec![] };
    world.kafka.create_topic(&at, &topic).await.unwrap();
    world.pass_time();
    let offsets = (0..3).map(|number| (TopicPartition::new("orders", number), 0)).collect();
    world.kafka.commit_offsets(&at, "billing", &offsets).await.unwrap();
    world.kafka.kill(3);
    world.pass_time();
    let all = world.kafka.partitions();
    let number = |is_led: bool| {
        let found = all.iter().find(|it| it.topic == "orders" && it.leader.is_some() == is_led);
        found.unwrap().index
    };
    (number(false), number(true))
}

#[tokio::test]
async fn messages_of_a_partition_without_a_leader_are_not_left_out_unsaid() {
    let world = impatient().await;
    let instance = cluster(&world, "mouse-3").await;
    let (without, with) = one_without_a_leader(&world, &instance).await;
    let expected = format!(
        "No server that answers leads orders-{without} now; try again once its servers run"
    );
    let one = format!("topics/orders/messages?partition={without}");
    send(&world, "GET", &instance, &one, &Value::Null).await.expect_error(400, &expected);
    let expected = format!("{expected}, or read other partitions one by one with ?partition=N");
    let all = "topics/orders/messages";
    send(&world, "GET", &instance, all, &Value::Null).await.expect_error(400, &expected);
    let rest = format!("topics/orders/messages?partition={with}");
    assert_eq!(get(&world, &instance, &rest).await, json!([]));
}

#[tokio::test]
async fn messages_are_read_once_a_leader_is_back() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    one_without_a_leader(&world, &instance).await;
    let before = world.kafka.calls();
    let comes_back = async {
        while world.kafka.calls() == before {
            tokio::task::yield_now().await;
        }
        world.kafka.start(3);
        world.pass_time();
    };
    let comes_back = tokio::time::timeout(Duration::from_secs(20), comes_back);
    let read = get(&world, &instance, "topics/orders/messages");
    let (read, back) = tokio::join!(read, comes_back);
    back.expect("nobody was asked");
    assert_eq!(read, json!([]));
}

#[tokio::test]
async fn a_reset_of_a_partition_without_a_leader_is_soon_refused_by_name() {
    // There is time for a second look, but not in the half of it that leaders have.
    let patience = Duration::from_millis(400);
    let world = World::with(Settings { broker_patience: patience, ..Settings::default() }).await;
    let instance = cluster(&world, "mouse-3").await;
    let (without, with) = one_without_a_leader(&world, &instance).await;
    let reset = async |partition: usize| {
        let topics = json!([format!("orders:{partition}")]);
        let body = json!({"strategy": "to-earliest", "topics": topics});
        send(&world, "POST", &instance, "groups/billing/reset", &body).await
    };
    let before = world.kafka.calls();
    let refused = reset(without).await;
    let named = format!("leads orders-{without} now");
    assert!(refused.status == 400 && refused.text.contains(&named), "{}", refused.text);
    // The group, its topic, and once where the log begins.
    assert_eq!(world.kafka.calls() - before, 3);
    assert_eq!(reset(with).await.status, 200);
}
