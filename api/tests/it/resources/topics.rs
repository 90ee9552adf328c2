//! Topics: a plan that is applied twice changes nothing the second time.

use super::{cluster, get, lines, path, send};
use crate::call::Call;
use crate::world::World;
use kafka::client::{Changes, Settings as _, SettingsOf};
use kafka::simulated::Fault;
use serde_json::{Value, json};

#[tokio::test]
async fn made_read_changed_read_deleted_read() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let asked = json!({"name": "pay", "partitions": 2, "replicas": 3,
        "config": {"retention.ms": 60000, "cleanup.policy": "delete", "retention.bytes": -1}});
    let made = send(&world, "POST", &instance, "topics", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let listed = get(&world, &instance, "topics").await;
    assert_eq!(listed, json!([made.json()]), "listed at once, as it was made");
    assert_eq!(listed[0]["config"], asked["config"]);
    assert_eq!((&listed[0]["partitions"], &listed[0]["replicas"]), (&json!(2), &json!(3)));

    let asked = json!({"partitions": 4, "config": {"cleanup.policy": "compact"}});
    for _ in 0..2 {
        let changed = send(&world, "PUT", &instance, "topics/pay", &asked).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        assert_eq!(changed.json()["config"], asked["config"], "it replaces");
        assert_eq!(changed.json()["partitions"], 4);
        assert_eq!(get(&world, &instance, "topics").await, json!([changed.json()]));
    }
    let kept = send(&world, "PUT", &instance, "topics/pay", &json!({"partitions": 4})).await;
    assert_eq!(kept.json()["config"], asked["config"], "without one it stays");
    let details = get(&world, &instance, "topics/pay").await;
    assert_eq!(details["details"].as_array().unwrap().len(), 4);
    assert_eq!(details["details"][3]["replicas"].as_array().unwrap().len(), 3);

    let gone = send(&world, "DELETE", &instance, "topics/pay", &Value::Null).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(get(&world, &instance, "topics").await, json!([]));
    send(&world, "DELETE", &instance, "topics/pay", &Value::Null)
        .await
        .expect_error(404, "Not Found");
    assert_eq!(
        lines(&world, 2).await,
        ["topic.delete topic=pay; outcome=attempted", "topic.delete topic=pay; outcome=done"]
    );
}

#[tokio::test]
async fn a_form_says_what_json_says() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let form = async |method: &str, rest: &str, body: &str| {
        let call = Call::new(method, &path(&instance, rest)).key(&world.key);
        call.form(body).send(&world.customer).await
    };
    let asked = "name=pay&partitions=2&config[retention.ms]=60000&config[cleanup.policy]=compact";
    let made = form("POST", "topics", asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let config = json!({"retention.ms": 60000, "cleanup.policy": "compact"});
    assert_eq!(made.json()["config"], config);
    let changed = form("PUT", "topics/pay", "config%5Bretention.ms%5D=70000").await;
    assert_eq!(changed.json()["config"], json!({"retention.ms": 70000}), "it replaces");
    let the_same = form("PUT", "topics/pay", "partitions=2&config[retention.ms]=").await;
    assert_eq!(the_same.json()["config"], json!({"retention.ms": 70000}), "not given");
    for (body, says) in [
        ("name=a&config[retention.ms][]=1", "config: can't be read as it was sent"),
        ("name=a&config[retention.ms]=1&config[retention.ms]=2", "must have each name once"),
        ("name=a&config[retention.ms]=soon", "Not a number"),
        ("name[is]=a", "name: must be a single value"),
    ] {
        let refused = form("POST", "topics", body).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{body} {}", refused.text);
    }
    assert_eq!(get(&world, &instance, "topics").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_kafka_would_refuse_changes_nothing() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let check = async |asked: Value, says: &str| {
        let refused = send(&world, "POST", &instance, "topics", &asked).await;
        assert_eq!(refused.status, 400, "{asked}: {}", refused.text);
        assert!(refused.text.contains(says), "{asked}: {}", refused.text);
    };
    check(json!({}), "name: Field is required").await;
    check(json!({"name": "a b"}), "letters, digits").await;
    check(json!({"name": "__mine"}), "Kafka's own").await;
    check(json!({"name": ".."}), "must not be").await;
    check(json!({"name": "x".repeat(250)}), "1 to 249").await;
    check(json!({"name": "a", "partitions": 0}), "1 to 10000").await;
    check(json!({"name": "a", "partitions": 5_000_000_000_i64}), "1 to 10000").await;
    check(json!({"name": "a", "partitions": "3"}), "must be an integer").await;
    check(json!({"name": "a", "replicas": 4}), "at most 3, the number of servers").await;
    check(json!({"name": "a", "config": {"retention.hours": 1}}), "Unknown config name").await;
    check(json!({"name": "a", "config": {"retention.ms": "soon"}}), "Not a number").await;
    check(json!({"name": "a", "config": {"retention.ms": [1]}}), "names and values").await;
    check(json!({"name": "a", "config": "retention.ms=1"}), "names and values").await;
    let larger_than_a_request = json!({"name": "a", "config": {"max.message.bytes": 16 << 20}});
    check(larger_than_a_request, "max.message.bytes must be at most 16711680 on this plan").await;
    assert_eq!(get(&world, &instance, "topics").await, json!([]));

    let asked = json!({"name": "a", "partitions": 3, "config": {"retention.ms": 1}});
    send(&world, "POST", &instance, "topics", &asked).await;
    check(json!({"name": "a"}), "a topic a exists already").await;
    let before = get(&world, &instance, "topics").await;
    for (asked, says) in [
        (json!({"partitions": 2}), "partitions only grow"),
        (json!({"config": {"max.message.bytes": 16 << 20}}), "at most 16711680"),
        (json!({"partitions": 4, "config": {"retention.ms": "soon"}}), "Not a number"),
    ] {
        let refused = send(&world, "PUT", &instance, "topics/a", &asked).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{}", refused.text);
        assert_eq!(get(&world, &instance, "topics").await, before, "everything or nothing");
    }
    for name in ["b", "__consumer_offsets", "%00", "a%2Fb", "%FF", ".."] {
        let rest = format!("topics/{name}");
        // What is wrong with a body is told of what is there.
        for body in [json!({"partitions": 4}), json!({"partitions": 0}), json!([])] {
            let answer = send(&world, "PUT", &instance, &rest, &body).await;
            assert_eq!(answer.status, 404, "{name}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn an_answer_that_got_lost_is_no_duplicate() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    // The first call looks how many partitions there are, the second makes the topic.
    world.kafka.fail_after(1, Fault::LostReply);
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let again = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(again.status, 400, "{}", again.text);
}

#[tokio::test]
async fn a_duplicate_is_refused_however_often_it_is_tried() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let asked = json!({"name": "a", "config": {"retention.ms": 60000}});
    assert_eq!(send(&world, "POST", &instance, "topics", &asked).await.status, 201);
    let other = |config: Value| json!({"name": "a", "config": config});
    for (fault, asked) in [
        // Nobody was reached, so nobody can have made it.
        (Fault::Refused, asked),
        (Fault::LostReply, other(json!({}))),
        (Fault::LostReply, other(json!({"retention.ms": 60001}))),
        (Fault::LostReply, other(json!({"retention.ms": 60000, "segment.bytes": 1_048_576}))),
    ] {
        world.kafka.fail_next(fault, 1);
        let refused = send(&world, "POST", &instance, "topics", &asked).await;
        assert_eq!(refused.status, 400, "{fault:?} {asked}: {}", refused.text);
        assert!(refused.text.contains("a topic a exists already"), "{}", refused.text);
    }
}

#[tokio::test]
async fn values_are_told_as_kafka_reads_them() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let config = json!({"cleanup.policy": "compact, delete", "min.cleanable.dirty.ratio": 1,
        "retention.ms": "0060000"});
    let told = json!({"cleanup.policy": "compact,delete", "min.cleanable.dirty.ratio": 1.0,
        "retention.ms": 60000});
    // It is known again, though it is spelled differently.
    world.kafka.fail_after(1, Fault::LostReply);
    let asked = json!({"name": "a", "config": config});
    let made = send(&world, "POST", &instance, "topics", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.json()["config"], told);
    let asked = json!({"partitions": 1, "config": config});
    let changed = send(&world, "PUT", &instance, "topics/a", &asked).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(changed.json()["config"], told);
}

/// They are ours, and gone once replicas have moved.
#[tokio::test]
async fn throttles_of_moving_replicas_are_neither_shown_nor_taken_nor_removed() {
    const THROTTLE: &str = "leader.replication.throttled.replicas";
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let made = send(&world, "POST", &instance, "topics", &json!({"name": "a"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let servers = world.servers(instance.id).await;
    let through = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let of = SettingsOf::Topic("a".into());
    let throttled = Changes::from([(THROTTLE.to_owned(), Some("0:1".to_owned()))]);
    let change = [(of.clone(), throttled)].into();
    world.kafka.change_settings_of(&through, &change).await.unwrap();

    let read = send(&world, "GET", &instance, "topics/a", &json!({})).await;
    assert_eq!(read.json()["config"], json!({}));
    let asked = json!({"config": {"retention.ms": 60000}});
    let changed = send(&world, "PUT", &instance, "topics/a", &asked).await;
    assert_eq!(changed.json()["config"], json!({"retention.ms": 60000}), "{}", changed.text);
    let now = world.kafka.describe_settings_of(&through, std::slice::from_ref(&of)).await.unwrap();
    assert!(now[&of].iter().any(|setting| setting.name == THROTTLE), "{now:?}");

    let says = format!("config: {THROTTLE} is set while replicas move, and never by a customer");
    let asked = json!({"name": "b", "config": {THROTTLE: "*"}});
    send(&world, "POST", &instance, "topics", &asked).await.expect_error(400, &says);
    let asked = json!({"config": {THROTTLE: "*"}});
    send(&world, "PUT", &instance, "topics/a", &asked).await.expect_error(400, &says);
}

#[tokio::test]
async fn on_a_shared_plan_a_topic_begins_with_the_customer_s_name() {
    let world = World::new().await;
    let shared = world.share(&cluster(&world, "mouse-1").await).await;
    let refused = send(&world, "POST", &shared, "topics", &json!({"name": "orders"})).await;
    let says = format!("name: must begin with {}- on a shared plan", shared.username);
    refused.expect_error(400, &says);
}
