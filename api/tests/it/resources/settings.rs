//! Settings of all brokers.

use super::{cluster, get, lines, path, send};
use crate::call::Call;
use crate::world::World;
use serde_json::{Value, json};

/// The command line completes the names from there.
#[test]
fn the_names_that_clients_know_are_those_that_may_be_set() {
    let known: Vec<&str> = app::settings::KNOWN.iter().map(|known| known.name).collect();
    assert_eq!(known, wire::settings::SETTINGS);
}

#[tokio::test]
async fn only_what_was_chosen_is_listed_at_its_intended_value() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    assert_eq!(get(&world, &instance, "config/kafka").await, json!([]));
    let asked = json!({"message.max.bytes": 8000, "log.retention.ms": 60000});
    let saved = send(&world, "POST", &instance, "config/kafka", &asked).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    let expected = json!([
        {"name": "log.retention.ms", "value": 60000}, {"name": "message.max.bytes", "value": 8000}]);
    assert_eq!(get(&world, &instance, "config/kafka").await, expected);
    assert_eq!(
        lines(&world, 1).await,
        ["config.update settings=log.retention.ms=60000, message.max.bytes=8000"]
    );
    let after = world.load(instance.id.0).await;
    assert!(after.configured() && after.kafka_generation == 1);
    let mut reader = world.app.store().reader();
    let due = store::instances::due(&mut reader, world.app.now()).await.unwrap();
    assert!(due.contains(&instance.id), "the engine is woken");
    assert!(world.servers(instance.id).await.iter().all(|server| server.wanted.launch() == 0));
    // The same again changes nothing, and nothing is fine.
    for body in [asked, json!({})] {
        assert_eq!(send(&world, "POST", &instance, "config/kafka", &body).await.status, 200);
        assert_eq!(world.load(instance.id.0).await, after);
    }
    // A form has texts alone.
    let form =
        Call::post(&path(&instance, "config/kafka")).key(&world.key).form("message.max.bytes=8000");
    assert_eq!(form.send(&world.customer).await.status, 200);
    assert_eq!(world.load(instance.id.0).await, after);
}

#[tokio::test]
async fn what_brokers_read_at_their_start_restarts_them() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let text =
        "# ours\nauto.create.topics.enable = TRUE\nmin.insync.replicas: 2\nnum.io.threads=64\n";
    let call = Call::post(&path(&instance, "config/kafka")).key(&world.key);
    let saved = call.bytes(text).send(&world.customer).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    let expected = json!([
        {"name": "auto.create.topics.enable", "value": true},
        {"name": "min.insync.replicas", "value": 2},
        {"name": "num.io.threads", "value": 64}]);
    assert_eq!(get(&world, &instance, "config/kafka").await, expected);
    assert!(world.servers(instance.id).await.iter().all(|server| server.wanted.launch() == 1));
    assert!(!world.load(instance.id.0).await.configured());
    let action = world.last_action(instance.id).await;
    assert_eq!(action.kind, model::ActionKind::Configure);
    let other = json!({"num.io.threads": 32});
    let refused = send(&world, "POST", &instance, "config/kafka", &other).await;
    assert!(refused.status == 400 && refused.text.contains("cancel it"), "{}", refused.text);
    assert_eq!(get(&world, &instance, "config/kafka").await, expected, "nothing was saved");
    assert!(world.servers(instance.id).await.iter().all(|server| server.wanted.launch() == 1));
}

#[tokio::test]
async fn a_form_may_have_a_flag_as_a_number() {
    for (text, expected) in [("1", true), ("True", true), ("0", false), ("FALSE", false)] {
        let world = World::new().await;
        let instance = cluster(&world, "mouse-1").await;
        let call = Call::post(&path(&instance, "config/kafka")).key(&world.key);
        let form = format!("auto.create.topics.enable={text}");
        let saved = call.form(&form).send(&world.customer).await;
        assert_eq!(saved.status, 200, "{text}: {}", saved.text);
        let expected = json!([{"name": "auto.create.topics.enable", "value": expected}]);
        assert_eq!(get(&world, &instance, "config/kafka").await, expected, "{text}");
    }
}

#[tokio::test]
async fn names_without_a_value_are_not_given_but_must_be_known() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let call = || Call::post(&path(&instance, "config/kafka")).key(&world.key);
    let forms = ["log.dirs=", "log.dirs=&num.io.threads=8"].map(|form| call().form(form));
    let documents = [json!({"log.dirs": null}), json!({"log.dirs": "", "num.io.threads": 8})];
    let documents = documents.map(|document| call().json(&document));
    for call in forms.into_iter().chain(documents).chain([call().bytes("log.dirs=")]) {
        let refused = call.send(&world.customer).await;
        let says = refused.text.contains("log.dirs: can't be set; these can");
        assert!(refused.status == 400 && says, "{}", refused.text);
    }
    assert_eq!(get(&world, &instance, "config/kafka").await, json!([]));
    let saved = call().form("log.retention.ms=&num.io.threads=8").send(&world.customer).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    let told = "Saved, but for what came without a value and stays as it is: log.retention.ms";
    assert_eq!(saved.json(), json!({"message": told}));
    let expected = json!([{"name": "num.io.threads", "value": 8}]);
    assert_eq!(get(&world, &instance, "config/kafka").await, expected);
}

#[tokio::test]
async fn everything_or_nothing() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let before = world.load(instance.id.0).await;
    let refused = async |body: &Value, says: &str| {
        let refused = send(&world, "POST", &instance, "config/kafka", body).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{body} {}", refused.text);
    };
    refused(&json!({"num.io.threads": 8, "log.dirs": "/"}), "can't be set; these can").await;
    refused(&json!({"num.io.threads": 8, "log.retention.ms": "soon"}), "must be a number").await;
    refused(&json!({"num.io.threads": [8]}), "must be a single value").await;
    // JSON is strict.
    let quoted = json!({"log.retention.ms": "60000", "num.io.threads": 8});
    refused(&quoted, "\"log.retention.ms: must be a number, without quotes\"").await;
    let quoted = json!({"auto.create.topics.enable": "true"});
    refused(&quoted, "must be true or false, without quotes").await;
    refused(&json!({"num.io.threads": 65}), "from 1 to 64").await;
    refused(&json!({"num.network.threads": 0}), "from 1 to 64").await;
    let larger_than_a_request = json!({"message.max.bytes": 16 << 20});
    refused(&larger_than_a_request, "from 0 to 16711680 on servers of this plan").await;
    refused(&json!({"min.insync.replicas": 4}), "at most 3, the number of servers").await;
    for number in [0, 1, 7] {
        let body = json!({"auto.create.topics.enable": number});
        refused(&body, "auto.create.topics.enable: must be true or false").await;
    }
    let call = Call::post(&path(&instance, "config/kafka")).key(&world.key);
    for (body, says) in [("nonsense", "name=value"), ("{\"num.io.threads\": 8}", "Content-Type")] {
        let refused = call.clone().bytes(body).send(&world.customer).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{}", refused.text);
    }
    assert_eq!(world.load(instance.id.0).await, before);
}

/// Some clients send the header with nothing in it.
#[tokio::test]
async fn an_empty_content_type_is_none() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    for (kind, value) in [("", 60_000), ("  ", 70_000)] {
        let call = Call::post(&path(&instance, "config/kafka")).key(&world.key);
        let text = format!("log.retention.ms={value}\n");
        let saved = call.body(kind, text).send(&world.customer).await;
        assert_eq!(saved.status, 200, "{kind:?}: {}", saved.text);
        let expected = json!([{"name": "log.retention.ms", "value": value}]);
        assert_eq!(get(&world, &instance, "config/kafka").await, expected);
    }
    let call = Call::post(&path(&instance, "config/kafka")).key(&world.key);
    let refused = call.body("", r#"{"log.retention.ms": 1}"#).send(&world.customer).await;
    refused.expect_error(400, "JSON needs the header Content-Type: application/json");
}
