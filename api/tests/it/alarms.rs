//! Alarms and recipients: what they begin with, and every rule for changing them.

use crate::call::{Answer, Call};
use crate::world::{World, take_due};
use model::{Instance, Role, Secret, SignedDuration};
use serde_json::{Value, json};

struct Desk {
    world: World,
    instance: Instance,
}

impl Desk {
    async fn new() -> Self {
        let world = World::new().await;
        let instance = world.create("orders", &[]).await;
        Self { world, instance }
    }

    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let path = format!("/api/instances/{}/{path}", self.instance.id);
        let call = Call::new(method, &path).key(&self.world.key);
        let call = body.map_or(call.clone(), |body| call.json(&body));
        call.send(&self.world.customer).await
    }

    async fn read(&self, path: &str) -> Value {
        let answer = self.send("GET", path, None).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// A change that is made, with its status.
    async fn made(&self, method: &str, path: &str, body: Value, status: u16) -> Value {
        let answer = self.send(method, path, Some(body)).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        answer.json()
    }

    /// A change that is refused, and changes nothing.
    async fn refused(&self, method: &str, path: &str, body: Value, sentence: &str) {
        let before = (self.read("alarms").await, self.read("alarms/recipients").await);
        let answer = self.send(method, path, Some(body.clone())).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(answer.text.contains(sentence), "{body}: {}", answer.text);
        let after = (self.read("alarms").await, self.read("alarms/recipients").await);
        assert_eq!(before, after);
    }
}

#[tokio::test]
async fn an_instance_begins_with_four_alarms_and_somebody_to_tell() {
    let desk = Desk::new().await;
    let expected = json!([
        {"id": 1, "type": "cpu", "enabled": true, "value_threshold": 90, "time_threshold": 600,
         "reminder_interval": null, "recipients": []},
        {"id": 2, "type": "memory", "enabled": true, "value_threshold": 90, "time_threshold": 600,
         "reminder_interval": null, "recipients": []},
        {"id": 3, "type": "disk", "enabled": true, "value_threshold": 5, "time_threshold": 600,
         "reminder_interval": null, "recipients": []},
        {"id": 4, "type": "notice", "enabled": true, "reminder_interval": null, "recipients": []},
    ]);
    assert_eq!(desk.read("alarms").await, expected);
    let default = json!({"id": 1, "type": "email", "value": "owner@example.test",
                         "name": "Default", "options": null, "last_status": null});
    assert_eq!(desk.read("alarms/recipients").await, json!([default]));
    assert_eq!(desk.read("alarms/recipients/1").await, default);

    let world = &desk.world;
    let body = json!({"name": "quiet", "plan": "mouse-1", "region": "local::this-machine",
                      "no_default_alarms": true});
    let made = Call::post("/api/instances").key(&world.key).json(&body);
    let made = made.send(&world.customer).await.json();
    let path = format!("/api/instances/{}/alarms", made["id"]);
    let alarms = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    let notice = json!({"id": 1, "type": "notice", "enabled": true, "reminder_interval": null,
                        "recipients": []});
    assert_eq!(alarms, json!([notice]));
}

#[tokio::test]
async fn an_alarm_is_made_read_changed_and_deleted() {
    let desk = Desk::new().await;
    let body = json!({"type": "disk", "value_threshold": 10, "time_threshold": 0,
                      "recipients": [1, 1], "reminder_interval": 3600});
    let made = desk.made("POST", "alarms", body.clone(), 201).await;
    let expected = json!({"id": 5, "type": "disk", "enabled": true, "value_threshold": 10,
                          "time_threshold": 0, "reminder_interval": 3600, "recipients": [1]});
    assert_eq!(made, expected);
    assert_eq!(desk.read("alarms/5").await, expected);
    assert_eq!(desk.made("PUT", "alarms/5", body, 201).await, expected, "no change");

    let change = json!({"enabled": false, "value_threshold": 7, "time_threshold": 30,
                        "reminder_interval": null});
    let expected = json!({"id": 5, "type": "disk", "enabled": false, "value_threshold": 7,
                          "time_threshold": 30, "reminder_interval": null, "recipients": [1]});
    assert_eq!(desk.made("PUT", "alarms/5", change, 201).await, expected);
    // As a form, the way the specification writes lists.
    let path = format!("/api/instances/{}/alarms/5", desk.instance.id);
    let form = Call::put(&path).key(&desk.world.key);
    let form = form.form("type=disk&value_threshold=8&time_threshold=9&recipients=[]&enabled=true");
    let answer = form.send(&desk.world.customer).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["recipients"]), (201, &json!([])));

    let gone = desk.send("DELETE", "alarms/5", Some(json!({"any": "body"}))).await;
    assert_eq!((gone.status.as_u16(), gone.text.as_str()), (204, ""));
    for (method, body) in [("GET", None), ("PUT", Some(json!({}))), ("DELETE", None)] {
        desk.send(method, "alarms/5", body).await.expect_error(404, "Not Found");
    }
    for id in 1..=4 {
        assert_eq!(desk.send("DELETE", &format!("alarms/{id}"), None).await.status, 204);
    }
    assert_eq!(desk.read("alarms").await, json!([]));
    let body = json!({"type": "server_unreachable", "value_threshold": 9});
    let made = desk.made("POST", "alarms", body, 201).await;
    assert_eq!((&made["id"], &made["time_threshold"]), (&json!(6), &json!(30)));
    assert!(made.get("value_threshold").is_none());
    desk.made("PUT", "alarms/6", json!({"time_threshold": 90}), 201).await;
    let body = json!({"recipients": [1], "enabled": true});
    let changed = desk.made("PUT", "alarms/6", body, 201).await;
    assert_eq!((&changed["time_threshold"], &changed["recipients"]), (&json!(90), &json!([1])));
}

#[tokio::test]
async fn an_alarm_that_makes_no_sense_is_refused() {
    let desk = Desk::new().await;
    let missing = desk.send("POST", "alarms", Some(json!({"type": "cpu"}))).await;
    let expected = json!([{"value_threshold": "Field is required"},
                          {"time_threshold": "Field is required"}]);
    assert_eq!((missing.status.as_u16(), &missing.json()["errors"]), (400, &expected));
    let good = |change: Value| {
        let mut body = json!({"type": "cpu", "value_threshold": 90, "time_threshold": 60});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        body
    };
    for (change, sentence) in [
        (json!({"type": null}), "Field is required"),
        (json!({"type": "cpus"}), "must be one of cpu, memory"),
        (json!({"value_threshold": 101}), "must be 1 to 100 percent"),
        (json!({"value_threshold": "90"}), "must be an integer"),
        (json!({"time_threshold": -1}), "must be 0 to"),
        (json!({"recipients": [2]}), "no recipient of this instance"),
        (json!({"recipients": ["1"]}), "must be a list of integers"),
        (json!({"reminder_interval": 5}), "60 seconds or more"),
        (json!({"enabled": "maybe"}), "must be true or false"),
    ] {
        desk.refused("POST", "alarms", good(change), sentence).await;
    }
    desk.refused("PUT", "alarms/2", good(json!({})), "can't change").await;
    desk.refused("PUT", "alarms/1", json!({"enabled": false}), "Field is required").await;
}

#[tokio::test]
async fn a_recipient_is_made_read_changed_tested_and_deleted() {
    let desk = Desk::new().await;
    let body = json!({"type": "webhook", "value": "https://hooks.example.com/x", "name": "ops",
                      "options": {"secret": "s3cret", "rk": "not mine"}});
    let made = desk.made("POST", "alarms/recipients", body, 201).await;
    let mut expected = json!({"id": 2, "type": "webhook", "value": "https://hooks.example.com/x",
                              "name": "Ops", "options": {"secret": "s3cret"},
                              "last_status": null});
    assert_eq!(made, expected);
    expected["options"] = Value::Null;
    assert_eq!(desk.read("alarms/recipients/2").await, expected, "never updated");
    let body = json!({"type": "webhook", "value": "https://hooks.example.com/y"});
    expected["value"] = json!("https://hooks.example.com/y");
    expected["options"] = json!({"secret": "s3cret"});
    assert_eq!(desk.made("PUT", "alarms/recipients/2", body, 200).await, expected);
    assert_eq!(desk.read("alarms/recipients/2").await, expected);
    let body = json!({"type": "slack", "value": "https://hooks.example.com/z", "name": "chat"});
    let changed = desk.made("PUT", "alarms/recipients/2", body, 200).await;
    assert_eq!((&changed["options"], &changed["name"]), (&json!({}), &json!("Chat")));

    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);

    desk.made(
        "PUT",
        "alarms/3",
        json!({"value_threshold": 5, "time_threshold": 9,
                                        "recipients": [2, 1]}),
        201,
    )
    .await;
    assert_eq!(desk.send("DELETE", "alarms/recipients/2", None).await.status, 204);
    assert_eq!(desk.read("alarms/3").await["recipients"], json!([1]));
    for (method, path) in [("GET", "2"), ("DELETE", "2"), ("POST", "2/test"), ("GET", "x")] {
        let path = format!("alarms/recipients/{path}");
        desk.send(method, &path, None).await.expect_error(404, "Not Found");
    }
    let made =
        desk.made("POST", "alarms/recipients", json!({"type": "email", "value": "a@x.io"}), 201);
    let made = made.await;
    assert_eq!((&made["id"], &made["name"]), (&json!(3), &json!("")));
}

#[tokio::test]
async fn an_address_that_was_put_right_is_tried_at_once() {
    let desk = Desk::new().await;
    let body = json!({"type": "webhook", "value": "https://wrong.example.com/x"});
    desk.made("POST", "alarms/recipients", body, 201).await;
    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);

    let (store, now) = (desk.world.app.store(), desk.world.app.now());
    let mut work = store.begin().await.unwrap();
    let taken = take_due(&mut work, now).await;
    let hour = SignedDuration::from_hours(1);
    store::outbox::set_failed(&mut work, &taken[0], "it is away", now, hour).await.unwrap();
    work.commit().await.unwrap();
    let waiting = async || store::outbox::due(&mut store.reader(), 9, now).await.unwrap();
    assert_eq!(waiting().await, []);

    let body = json!({"type": "webhook", "value": "https://right.example.com/x"});
    desk.made("PUT", "alarms/recipients/2", body, 200).await;
    let waiting: Vec<String> = waiting().await.into_iter().map(|due| due.destination).collect();
    assert_eq!(waiting, ["right.example.com:443"]);
}

#[tokio::test]
async fn a_new_test_takes_the_place_of_one_that_is_still_tried() {
    let desk = Desk::new().await;
    let body = json!({"type": "webhook", "value": "https://hooks.example.com/x"});
    desk.made("POST", "alarms/recipients", body, 201).await;
    let (store, now) = (desk.world.app.store(), desk.world.app.now());
    let waiting = async || store::outbox::due(&mut store.reader(), 9, now).await.unwrap().len();
    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);
    let mut work = store.begin().await.unwrap();
    let first = take_due(&mut work, now).await.remove(0);
    let hour = SignedDuration::from_hours(1);
    store::outbox::set_failed(&mut work, &first, "it is away", now, hour).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(waiting().await, 0, "it is tried again in an hour");

    for _ in 0..2 {
        assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);
        assert_eq!(waiting().await, 1);
    }
    let mut work = store.begin().await.unwrap();
    assert!(!store::outbox::set_sent(&mut work, &first).await.unwrap(), "it has no say any more");
    assert_eq!(take_due(&mut work, now).await.len(), 1);
    work.commit().await.unwrap();
    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);
    assert_eq!(waiting().await, 0, "it waits for the one that is being sent");
}

#[tokio::test]
async fn the_pace_of_mails_is_forgotten_with_their_address() {
    let desk = Desk::new().await;
    let mut body = json!({"type": "email", "value": "owner@example.test"});
    desk.made("POST", "alarms/recipients", body.clone(), 201).await;
    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);

    let (store, now) = (desk.world.app.store(), desk.world.app.now());
    let mut work = store.begin().await.unwrap();
    let taken = take_due(&mut work, now).await;
    let lane = taken[0].lane.as_deref().unwrap();
    let minute = SignedDuration::from_mins(1);
    store::outbox::set_sent(&mut work, &taken[0]).await.unwrap();
    store::outbox::hold(&mut work, lane, now, minute).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(desk.send("POST", "alarms/recipients/2/test", None).await.status, 200);
    let waiting = async || store::outbox::due(&mut store.reader(), 9, now).await.unwrap().len();
    assert_eq!(waiting().await, 0, "a minute after the last one");

    body["name"] = json!("ada");
    desk.made("PUT", "alarms/recipients/2", body, 200).await;
    assert_eq!(waiting().await, 0, "another name is no other address");
    let body = json!({"type": "webhook", "value": "https://hooks.example.com/x"});
    desk.made("PUT", "alarms/recipients/2", body, 200).await;
    assert_eq!(waiting().await, 1);
}

#[tokio::test]
async fn a_recipient_that_can_not_be_told_is_refused() {
    let desk = Desk::new().await;
    for (body, sentence) in [
        (json!({"value": "a@x.io"}), "Field is required"),
        (json!({"type": "email"}), "Field is required"),
        (json!({"type": "pigeon", "value": "x"}), "must be one of email, webhook"),
        (json!({"type": "email", "value": "x"}), "must be an e-mail address"),
        (json!({"type": "slack", "value": "x"}), "begins with https://"),
        (json!({"type": "webhook", "value": "http://127.0.0.1:99999/x"}), "a port from 1 to"),
        (json!({"type": "pagerduty", "value": "a/b"}), "integration key"),
        (json!({"type": "webhook", "value": "http://127.0.0.1/x"}), "leads to 127.0.0.1"),
        (json!({"type": "email", "value": "a@x.io", "options": []}), "must be an object"),
        (
            json!({"type": "opsgenie", "value": "k", "options": {"responders": [{"type": "cat"}]}}),
            "responders that are none",
        ),
    ] {
        desk.refused("POST", "alarms/recipients", body, sentence).await;
    }
}

#[tokio::test]
async fn a_monitor_sees_no_key_of_a_recipient() {
    let desk = Desk::new().await;
    let body = json!({"type": "webhook", "value": "https://hooks.example.com/t0ken",
                      "options": {"secret": "s3cret"}});
    desk.made("POST", "alarms/recipients", body.clone(), 201).await;
    desk.made("PUT", "alarms/recipients/2", body, 200).await;
    let monitor: Secret = desk.world.member(Role::Monitor, &[]).await;
    for path in ["alarms/recipients", "alarms/recipients/2"] {
        let path = format!("/api/instances/{}/{path}", desk.instance.id);
        let seen = Call::get(&path).key(&monitor).send(&desk.world.customer).await;
        assert_eq!(seen.status, 200);
        assert!(!seen.text.contains("s3cret") && !seen.text.contains("t0ken"), "{}", seen.text);
        assert_eq!(seen.header("cache-control"), "no-store");
    }
}
