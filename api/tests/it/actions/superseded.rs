//! Actions that are overtaken by another before they were carried out.

use super::{cluster, named, path, post, post_json};
use crate::call::Call;
use crate::documents;
use crate::world::World;
use kafka::client::NewTopic;
use model::Instance;
use serde_json::{Value, json};

/// State and status of an action, and whether it has ended; the same from both
/// endpoints.
async fn read(world: &World, instance: &Instance, id: &Value) -> (String, String, bool) {
    let get = async |rest: &str| {
        let call = Call::get(&path(instance, rest)).key(&world.key);
        call.send(&world.customer).await.json()
    };
    let one = get(&format!("actions/{id}")).await;
    let list = get("actions").await;
    let listed = list.as_array().unwrap().iter().find(|action| action["id"] == *id).unwrap();
    assert_eq!((&listed["state"], &listed["status"]), (&one["state"], &one["status"]));
    let text = |field: &str| one[field].as_str().unwrap().to_owned();
    (text("state"), text("status"), !one["ended_at"].is_null())
}

async fn ask(world: &World, instance: &Instance, what: &str, numbers: &[u32]) -> Value {
    let rest = format!("actions/{what}");
    let answer = if numbers.is_empty() {
        post(world, instance, &rest).await
    } else {
        post_json(world, instance, &rest, &named(instance, numbers)).await
    };
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["action"].clone()
}

/// What an agent reports of its broker.
async fn report(world: &World, instance: &Instance, number: u32, phase: &str) {
    let servers = world.servers(instance.id).await;
    let server = servers.iter().find(|server| server.number == number).unwrap();
    let run = if phase == "stopped" { "stopped" } else { "running" };
    let desired = documents::desired(server, &json!({"run": run, "launch": server.launch}));
    let report = documents::report(server, &json!({"phase": phase, "launch": server.launch}));
    let mut work = world.app.store().begin().await.unwrap();
    store::servers::set_desired(&mut work, server.id, 9, &desired).await.unwrap();
    let now = world.app.now();
    store::servers::set_report(&mut work, server.id, &report, now).await.unwrap();
    work.commit().await.unwrap();
}

fn topic() -> NewTopic {
    NewTopic { name: "orders".into(), partitions: 1, replicas: 3, settings: vec![] }
}

#[tokio::test]
async fn a_stop_that_was_taken_back_before_it_happened_is_not_done() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let stop = ask(&world, &instance, "stop", &[2]).await;
    assert_eq!(read(&world, &instance, &stop).await.0, "running");
    let start = ask(&world, &instance, "start", &[2]).await;
    let superseded = format!("superseded by action {start} (start of server 2)");
    let expected = ("superseded".to_owned(), superseded, true);
    assert_eq!(read(&world, &instance, &stop).await, expected);
    assert_eq!(read(&world, &instance, &start).await.0, "running");
    world.make_ready(instance.id).await;
    assert_eq!(read(&world, &instance, &stop).await, expected, "and stays so");
    assert_eq!(read(&world, &instance, &start).await.0, "done");
    let cancel = post(&world, &instance, &format!("actions/{stop}/cancel")).await;
    let ended = format!("Action {stop} has ended; there is nothing left to cancel");
    cancel.expect_error(400, &ended);
}

#[tokio::test]
async fn a_stop_that_happened_is_done_whatever_comes_later() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let stop = ask(&world, &instance, "stop", &[2]).await;
    report(&world, &instance, 2, "stopped").await;
    ask(&world, &instance, "start", &[2]).await;
    assert_eq!(read(&world, &instance, &stop).await.0, "running");
    world.make_ready(instance.id).await;
    assert_eq!(read(&world, &instance, &stop).await.0, "done");
}

#[tokio::test]
async fn what_was_overtaken_on_one_server_goes_on_with_the_others() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let restart = ask(&world, &instance, "restart", &[1, 2, 3]).await;
    report(&world, &instance, 1, "running").await;
    let stop = ask(&world, &instance, "stop", &[2]).await;
    let words = format!("superseded for server 2 by action {stop} (stop of server 2)");
    let expected = ("running".to_owned(), format!("waiting: server 2 is to stop; {words}"), false);
    assert_eq!(read(&world, &instance, &restart).await, expected);
    world.make_ready(instance.id).await;
    let expected = ("superseded".to_owned(), format!("{words}; done for the rest"), true);
    assert_eq!(read(&world, &instance, &restart).await, expected);
}

#[tokio::test]
async fn what_was_overtaken_on_the_last_server_that_was_left_ends_at_once() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let restart = ask(&world, &instance, "restart", &[1, 2]).await;
    report(&world, &instance, 1, "running").await;
    let stop = ask(&world, &instance, "stop", &[2]).await;
    let words = format!("superseded for server 2 by action {stop} (stop of server 2)");
    let expected = ("superseded".to_owned(), format!("{words}; done for the rest"), true);
    assert_eq!(read(&world, &instance, &restart).await, expected);
    assert_eq!(read(&world, &instance, &stop).await.0, "running");
}

/// Server 1 had begun when it was cancelled, and server 2 had not.
#[tokio::test]
async fn what_had_begun_of_a_cancelled_restart_can_be_overtaken() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    report(&world, &instance, 2, "running").await;
    let restart = ask(&world, &instance, "restart", &[1, 2]).await;
    report(&world, &instance, 1, "stopping").await;
    ask(&world, &instance, &format!("{restart}/cancel"), &[]).await;
    assert_eq!(read(&world, &instance, &restart).await.0, "cancelling");
    let stop = ask(&world, &instance, "stop", &[1]).await;
    let words = format!(
        "cancelled; superseded for server 1 by action {stop} (stop of server 1); \
         what else had begun was brought to its end"
    );
    let expected = ("cancelled".to_owned(), words, true);
    assert_eq!(read(&world, &instance, &restart).await, expected);
    world.make_ready(instance.id).await;
    assert_eq!(read(&world, &instance, &restart).await, expected, "and stays so");
}

#[tokio::test]
async fn a_cluster_that_is_stopped_is_not_restarted() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.set_stopped(&instance, &[3]).await;
    let roll = ask(&world, &instance, "cluster-restart", &[]).await;
    let stop = ask(&world, &instance, "cluster-stop", &[]).await;
    let superseded = format!("superseded by action {stop} (stop of the cluster)");
    let expected = ("superseded".to_owned(), superseded, true);
    assert_eq!(read(&world, &instance, &roll).await, expected);
    let start = ask(&world, &instance, "cluster-start", &[]).await;
    let superseded = format!("superseded by action {start} (start of the cluster)");
    let expected = ("superseded".to_owned(), superseded, true);
    assert_eq!(read(&world, &instance, &stop).await, expected);
    assert_eq!(read(&world, &instance, &start).await.0, "running");
}

/// Its settings are not lost with it.
#[tokio::test]
async fn settings_that_no_server_has_taken_up_hold_from_the_next_start_on() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let config = json!({"auto.create.topics.enable": true});
    let answer = post_json(&world, &instance, "config/kafka", &config).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let configure = json!(world.last_action(instance.id).await.id);
    let stop = ask(&world, &instance, "cluster-stop", &[]).await;
    let (state, status, _) = read(&world, &instance, &configure).await;
    let expected = format!(
        "superseded by action {stop} (stop of the cluster); settings hold from the next start on"
    );
    assert_eq!((state.as_str(), status), ("superseded", expected));
}
