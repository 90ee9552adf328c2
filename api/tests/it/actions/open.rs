//! One open action an instance: what is refused meanwhile, what replaces it.

use super::{actions, cluster, launches, named, path, post, post_json, report, stopped};
use crate::call::{Answer, Call};
use crate::documents;
use crate::world::World;
use kafka::client::NewTopic;
use model::{ActionKind, Instance};
use serde_json::{Value, json};
use tokio::task::JoinSet;

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
    let answer = call(world, instance, what, numbers).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["action"].clone()
}

async fn call(world: &World, instance: &Instance, what: &str, numbers: &[u32]) -> Answer {
    let rest = format!("actions/{what}");
    if numbers.is_empty() {
        return post(world, instance, &rest).await;
    }
    post_json(world, instance, &rest, &named(instance, numbers)).await
}

fn topic() -> NewTopic {
    NewTopic { name: "orders".into(), partitions: 1, replicas: 3, settings: vec![] }
}

fn superseded(by: &Value, title: &str) -> (String, String, bool) {
    ("superseded".into(), format!("superseded by action {by} ({title})"), true)
}

/// Nothing of what is refused stays.
#[tokio::test]
async fn whatever_else_is_asked_for_is_refused_with_what_is_open_and_what_helps() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    world.set_stopped(&instance, &[3]).await;
    ask(&world, &instance, "restart", &[1]).await;
    let action = world.last_action(instance.id).await;
    let (before, lines) = (world.load(instance.id.0).await, world.audit().await);
    let sentence = format!(
        "The cluster follows another change: action {id} (restart of server 1, asked for by \
         owner@example.test at {:.0}; waiting: server 1 is to be restarted); \
         wait for it (castellan instance watch 1) \
         or cancel it (POST /api/instances/1/actions/{id}/cancel)",
        action.asked_at,
        id = action.id,
    );
    for (what, numbers) in [
        ("restart", &[1][..]),
        ("restart", &[2]),
        ("reboot", &[2]),
        ("cluster-restart", &[]),
        ("stop", &[2]),
        ("start", &[3]),
    ] {
        call(&world, &instance, what, numbers).await.expect_error(400, &sentence);
    }
    let settings = json!({"auto.create.topics.enable": true});
    let answer = post_json(&world, &instance, "config/kafka", &settings).await;
    answer.expect_error(400, &sentence);
    assert_eq!(world.load(instance.id.0).await, before);
    assert_eq!(world.audit().await, lines);
    assert_eq!(launches(&world, &instance).await, [1, 0, 0]);
    assert_eq!(stopped(&world, &instance).await, [false, false, true]);
    assert_eq!(actions(&world, &instance).await, 2);

    // Settings that no broker is restarted for are no action.
    let settings = json!({"log.retention.ms": 60000});
    let answer = post_json(&world, &instance, "config/kafka", &settings).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let delete = Call::delete(&format!("/api/instances/{}", instance.id)).key(&world.key);
    assert_eq!(delete.send(&world.customer).await.status, 204);
}

#[tokio::test]
async fn the_contrary_replaces_what_is_open() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let stop = ask(&world, &instance, "stop", &[2]).await;
    assert_eq!(read(&world, &instance, &stop).await.0, "running");
    let start = ask(&world, &instance, "start", &[2]).await;
    let expected = superseded(&start, "start of server 2");
    assert_eq!(read(&world, &instance, &stop).await, expected);
    assert_eq!(read(&world, &instance, &start).await.0, "running");
    let again = ask(&world, &instance, "stop", &[2]).await;
    assert_eq!(read(&world, &instance, &start).await, superseded(&again, "stop of server 2"));
    world.make_ready(instance.id).await;
    assert_eq!(read(&world, &instance, &stop).await, expected, "and stays so");
    assert_eq!(read(&world, &instance, &again).await.0, "done");
    let cancel = post(&world, &instance, &format!("actions/{stop}/cancel")).await;
    let ended = format!("Action {stop} has ended; there is nothing left to cancel");
    cancel.expect_error(400, &ended);
}

/// A stop waits for a broker that hangs; the stop is taken back while that is restarted.
#[tokio::test]
async fn the_contrary_replaces_an_action_beside_a_restart_of_an_unresponsive_broker() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let stop = ask(&world, &instance, "stop", &[1]).await;
    report(&world, &instance, 2, "running", Some("2026-11-15T11:59:00Z")).await;
    let restart = ask(&world, &instance, "restart", &[2]).await;
    let start = ask(&world, &instance, "start", &[1]).await;
    let expected = superseded(&start, "start of server 1");
    assert_eq!(read(&world, &instance, &stop).await, expected);
    assert_eq!(read(&world, &instance, &restart).await.0, "running");
    assert_eq!(stopped(&world, &instance).await, [false, false, false]);
    // What is open undoes no restart.
    let refused = call(&world, &instance, "stop", &[3]).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
}

/// Something that restarts a broker whenever it hangs must not fill the journal with
/// actions that never end.
#[tokio::test]
async fn a_broker_that_hangs_again_and_again_has_one_open_restart() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    ask(&world, &instance, "stop", &[1]).await;
    for launch in 1..=3 {
        report(&world, &instance, 2, "running", Some("2026-11-15T11:59:00Z")).await;
        ask(&world, &instance, "restart", &[2]).await;
        assert_eq!(launches(&world, &instance).await, [0, launch, 0]);
        let mut reader = world.app.store().reader();
        let open = store::actions::open(&mut reader, instance.id).await.unwrap();
        let open: Vec<ActionKind> = open.iter().map(|action| action.kind).collect();
        assert_eq!(open, [ActionKind::Restart, ActionKind::Stop]);
    }
}

/// Otherwise part of it would go on without an open action.
#[tokio::test]
async fn what_undoes_a_part_of_it_does_not_replace_it() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.set_stopped(&instance, &[1, 2]).await;
    let start = ask(&world, &instance, "start", &[1, 2]).await;
    world.run_kafka(&instance, &[]).await;
    let refused = call(&world, &instance, "stop", &[1]).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let words = "(start of servers 1 and 2, ";
    assert!(refused.text.contains(words), "{}", refused.text);
    let words = "or stop the servers again with actions/stop";
    assert!(refused.text.contains(words), "{}", refused.text);
    assert_eq!(read(&world, &instance, &start).await.0, "running");
}

#[tokio::test]
async fn a_stop_of_the_cluster_replaces_whatever_is_open_and_its_start_the_stop() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    for what in ["cluster-restart", "restart", "stop"] {
        let numbers: &[u32] = if what == "cluster-restart" { &[] } else { &[3] };
        let open = ask(&world, &instance, what, numbers).await;
        let stop = ask(&world, &instance, "cluster-stop", &[]).await;
        let mut expected = superseded(&stop, "stop of the cluster");
        if what == "stop" {
            expected.1 += "; its servers stay stopped when the cluster is started";
        }
        assert_eq!(read(&world, &instance, &open).await, expected, "{what}");
        let start = ask(&world, &instance, "cluster-start", &[]).await;
        let expected = superseded(&start, "start of the cluster");
        assert_eq!(read(&world, &instance, &stop).await, expected, "after {what}");
        assert_eq!(read(&world, &instance, &start).await.0, "running");
        world.make_ready(instance.id).await;
    }
}

/// One that was cancelled is both.
#[tokio::test]
async fn what_had_begun_of_a_cancelled_restart_is_replaced_too() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    report(&world, &instance, 2, "running", None).await;
    let restart = ask(&world, &instance, "restart", &[1, 2]).await;
    let mut work = world.app.store().begin().await.unwrap();
    let server = &world.servers(instance.id).await[0];
    let desired = documents::desired(server, &json!({"launch": 1}));
    store::servers::set_desired(&mut work, server.id, 9, &desired).await.unwrap();
    work.commit().await.unwrap();
    ask(&world, &instance, &format!("{restart}/cancel"), &[]).await;
    assert_eq!(read(&world, &instance, &restart).await.0, "cancelling");
    let stop = ask(&world, &instance, "cluster-stop", &[]).await;
    let words = format!("cancelled; superseded by action {stop} (stop of the cluster)");
    let expected = ("cancelled".to_owned(), words, true);
    assert_eq!(read(&world, &instance, &restart).await, expected);
    world.make_ready(instance.id).await;
    assert_eq!(read(&world, &instance, &restart).await, expected, "and stays so");
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

/// Requests of every kind at once. Whichever comes first, at most one action is open.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_kinds_at_once_one_is_open() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic()]).await;
    let mut calls = JoinSet::new();
    for (what, numbers) in [
        ("restart", &[1][..]),
        ("cluster-restart", &[]),
        ("stop", &[2]),
        ("start", &[2]),
        ("reboot", &[3]),
        ("stop", &[3]),
    ] {
        let mut call = Call::post(&path(&instance, &format!("actions/{what}"))).key(&world.key);
        if !numbers.is_empty() {
            call = call.json(&named(&instance, numbers));
        }
        let router = world.customer.clone();
        calls.spawn(async move { call.send(&router).await });
    }
    let answers = calls.join_all().await;
    let accepted = answers.iter().filter(|it| it.status == 200 && it.json()["action"].is_i64());
    let accepted = accepted.count();
    let others = answers.iter().filter(|it| it.status != 200);
    others.for_each(|it| assert_eq!(it.status, 400, "{}", it.text));
    let mut reader = world.app.store().reader();
    let open = store::actions::open(&mut reader, instance.id).await.unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    // A stop of server 2 may have been undone at once by its start.
    let is_contrary = open[0].kind == ActionKind::Start;
    assert_eq!(accepted, if is_contrary { 2 } else { 1 });
    let kept = store::actions::list(&mut reader, instance.id, 9).await.unwrap();
    assert_eq!(kept.len(), 1 + accepted, "with its create");
}
