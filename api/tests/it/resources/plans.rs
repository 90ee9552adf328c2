//! What Terraform does with every resource: create, read, update, read, delete, read.
//! What was applied reads the same however often it is asked for, among neighbours that
//! come and go, so that a second plan shows no changes.

use super::{cluster, get, send};
use crate::world::World;
use model::Instance;
use serde_json::{Value, json};

/// A call: its method, its path below the instance, and what it sends.
type Step = (&'static str, &'static str, Value);

struct Resource {
    create: Step,
    update: Option<Step>,
    /// `{id}` stands for what the create answered.
    delete: &'static str,
    list: &'static str,
    /// Another one of the kind, which sorts before it.
    neighbour: Step,
}

fn resources() -> Vec<Resource> {
    let rule = |pattern: &str| {
        let rule = json!({"operation": "Write", "resource": "Topic", "resource_pattern": pattern,
                          "resource_pattern_type": "LITERAL"});
        json!({"user": "ada", "rules": [rule]})
    };
    let cpu = |value: i64| json!({"type": "cpu", "value_threshold": value, "time_threshold": 60});
    let hook =
        |name: &str| json!({"type": "webhook", "value": "https://example.com/", "name": name});
    let splunk = |token: &str| json!({"token": token, "host_port": "splunk.example.com:8088"});
    vec![
        Resource {
            create: (
                "POST",
                "topics",
                json!({"name": "pay", "partitions": 2, "replicas": 3,
                "config": {"retention.ms": 60000, "min.cleanable.dirty.ratio": 1}}),
            ),
            update: Some((
                "PUT",
                "topics/pay",
                json!({"partitions": 3,
                "config": {"cleanup.policy": "compact, delete"}}),
            )),
            delete: "topics/pay",
            list: "topics",
            neighbour: ("POST", "topics", json!({"name": "a", "partitions": 1, "replicas": 1})),
        },
        Resource {
            create: ("POST", "users", json!({"name": "bob"})),
            update: None,
            delete: "users/bob",
            list: "users",
            neighbour: ("POST", "users", json!({"name": "abe"})),
        },
        Resource {
            create: ("POST", "users", json!({"name": "eve", "type": "ssl"})),
            update: None,
            delete: "users/eve",
            list: "users",
            neighbour: ("POST", "users", json!({"name": "amy", "type": "ssl"})),
        },
        Resource {
            create: ("POST", "acls", rule("pay")),
            update: None,
            delete: "acls/{id}",
            list: "acls",
            neighbour: ("POST", "acls", rule("a")),
        },
        Resource {
            create: ("PUT", "quotas", json!({"user": "bob", "producer_byte_rate": 1000})),
            update: Some(("PUT", "quotas", json!({"user": "bob", "producer_byte_rate": 2000}))),
            delete: "quotas?user=bob",
            list: "quotas",
            neighbour: ("PUT", "quotas", json!({"user": "abe", "consumer_byte_rate": 5})),
        },
        Resource {
            create: ("POST", "alarms", cpu(80)),
            update: Some(("PUT", "alarms/{id}", cpu(70))),
            delete: "alarms/{id}",
            list: "alarms",
            neighbour: ("POST", "alarms", cpu(60)),
        },
        Resource {
            create: ("POST", "alarms/recipients", hook("One")),
            update: Some(("PUT", "alarms/recipients/{id}", hook("Two"))),
            delete: "alarms/recipients/{id}",
            list: "alarms/recipients",
            neighbour: ("POST", "alarms/recipients", hook("Other")),
        },
        Resource {
            create: ("POST", "integrations/logs/splunk", splunk("one")),
            update: Some(("PUT", "integrations/logs/{id}", splunk("two"))),
            delete: "integrations/logs/{id}",
            list: "integrations/logs",
            neighbour: ("POST", "integrations/logs/loggly", json!({"token": "t"})),
        },
    ]
}

#[tokio::test]
async fn a_second_plan_shows_no_changes() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    for Resource { create, update, delete, list, neighbour } in resources() {
        let before = get(&world, &instance, list).await;
        let (_, created) = run(&world, &instance, &create, "").await;
        let id = created[0]["id"].as_i64().or(created["id"].as_i64()).unwrap_or_default();
        let id = id.to_string();
        let read = one(&world, &instance, list, &before).await;
        assert_applied(&create.2, &read);
        run(&world, &instance, &neighbour, "").await;
        let with = get(&world, &instance, list).await;
        assert!(with.as_array().unwrap().contains(&read), "{list}: it changed with a neighbour");
        if let Some(update) = update {
            run(&world, &instance, &update, &id).await;
            let changed = get(&world, &instance, list).await;
            assert_ne!(changed, with, "{list}");
            let found = changed.as_array().unwrap().iter().filter(|it| applied(&update.2, it));
            assert_eq!(found.count(), 1, "{list}: {} in {changed}", update.2);
            // The second plan, and its being applied all the same.
            assert_eq!(get(&world, &instance, list).await, changed, "{list}");
            run(&world, &instance, &update, &id).await;
            assert_eq!(get(&world, &instance, list).await, changed, "{list}");
        }
        let delete = delete.replace("{id}", &id);
        let gone = send(&world, "DELETE", &instance, &delete, &Value::Null).await;
        assert!(gone.status.is_success(), "{delete}");
        let left = get(&world, &instance, list).await;
        assert_eq!(left.as_array().unwrap().len(), before.as_array().unwrap().len() + 1, "{left}");
        let again = send(&world, "DELETE", &instance, &delete, &Value::Null).await;
        assert_eq!(again.status, 404, "{delete}");
    }
}

async fn run(
    world: &World,
    instance: &Instance,
    (method, rest, body): &Step,
    id: &str,
) -> (u16, Value) {
    let answer = send(world, method, instance, &rest.replace("{id}", id), body).await;
    assert!(answer.status.is_success(), "{method} {rest}: {}", answer.text);
    let status = answer.status.as_u16();
    (status, if answer.text.is_empty() { Value::Null } else { answer.json() })
}

/// What is listed now and was not before.
async fn one(world: &World, instance: &Instance, list: &str, before: &Value) -> Value {
    let now = get(world, instance, list).await;
    let before = before.as_array().unwrap();
    let mut new = now.as_array().unwrap().iter().filter(|it| !before.contains(it));
    let (Some(one), None) = (new.next(), new.next()) else { panic!("{list}: {now}") };
    one.clone()
}

fn assert_applied(asked: &Value, read: &Value) {
    assert!(applied(asked, read), "{asked} is not {read}");
}

/// Whether everything that was asked for reads back as it was sent.
fn applied(asked: &Value, read: &Value) -> bool {
    let is_same = |(name, value): (&String, &Value)| match name.as_str() {
        // An ACL is asked for with others of its user.
        "user" if read.get("user").is_none() => read["name"] == *value,
        "rules" => applied(&value[0], read),
        "config" => read["config"] == spelled(value),
        // The settings of an integration.
        _ if read.get("account_id").is_some() => read["config"][name] == *value,
        _ => read[name] == *value,
    };
    asked.as_object().unwrap().iter().all(is_same)
}

/// Kafka has its own spelling, which is told from then on.
fn spelled(config: &Value) -> Value {
    let mut told = config.clone();
    for (name, value) in told.as_object_mut().unwrap() {
        match name.as_str() {
            "cleanup.policy" => *value = json!("compact,delete"),
            "min.cleanable.dirty.ratio" => *value = json!(1.0),
            _ => {}
        }
    }
    told
}

/// Settings can be given other values, but not be taken away.
#[tokio::test]
async fn nor_does_one_of_settings() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let apply = async |body: Value, expected: [(&str, i64); 2]| {
        let saved = send(&world, "POST", &instance, "config/kafka", &body).await;
        assert_eq!(saved.status, 200, "{}", saved.text);
        let row = |(name, value): (&str, i64)| json!({"name": name, "value": value});
        assert_eq!(get(&world, &instance, "config/kafka").await, json!(expected.map(row)));
        world.make_ready(instance.id).await;
        world.load(instance.id.0).await
    };
    let first = json!({"log.segment.bytes": 1_048_576, "num.io.threads": 8});
    let applied = [("log.segment.bytes", 1_048_576), ("num.io.threads", 8)];
    let before = apply(first.clone(), applied).await;
    assert_eq!(apply(first, applied).await, before, "applied again, nothing changes");
    let changed = [("log.segment.bytes", 1_048_576), ("num.io.threads", 4)];
    let before = apply(json!({"num.io.threads": 4}), changed).await;
    assert_eq!(apply(json!({"num.io.threads": 4}), changed).await, before);
}

/// What is signed stays on record, also once it is revoked.
#[tokio::test]
async fn nor_does_one_of_certificates() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let list = "ca/certificates";
    let sign = async |cn: &str| {
        let csr = pki::request(&pki::KeyPair::generate(), cn).unwrap();
        let signed = send(&world, "POST", &instance, "ca/sign", &json!({"csr": csr})).await;
        assert_eq!(signed.status, 200, "{}", signed.text);
        world.pass_time();
    };
    sign("pay").await;
    let read = one(&world, &instance, list, &json!([])).await;
    assert_eq!((&read["cn"], &read["revoked_at"]), (&json!("pay"), &Value::Null));
    sign("a").await;
    let both = get(&world, &instance, list).await;
    assert_eq!((&both[0], &both[1]["cn"]), (&read, &json!("a")), "the oldest first");
    assert_eq!(get(&world, &instance, list).await, both);

    let rest = format!("{list}/{}", read["serial"].as_str().unwrap());
    let mut revoked = None;
    for _ in 0..2 {
        let gone = send(&world, "DELETE", &instance, &rest, &Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.text);
        world.pass_time();
        let now = get(&world, &instance, list).await;
        assert!(now[0]["revoked_at"].is_string() && now[1] == both[1], "{now}");
        assert_eq!(revoked.get_or_insert(now.clone()), &now, "applied again, nothing changes");
    }
}
