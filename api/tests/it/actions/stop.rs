//! Stopping single servers, judged by what a simulated Kafka says of itself.

use super::{actions, cluster, last_line, name, named, path, post_json, stopped};
use crate::call::Call;
use crate::world::World;
use kafka::client::NewTopic;
use model::{ActionKind, Instance};
use serde_json::json;
use tokio::task::JoinSet;

fn topic(name: &str, replicas: i16, min_in_sync: u8) -> NewTopic {
    let settings = vec![("min.insync.replicas".into(), min_in_sync.to_string())];
    NewTopic { name: name.into(), partitions: 1, replicas, settings }
}

async fn stop(world: &World, instance: &Instance, numbers: &[u32]) -> crate::call::Answer {
    post_json(world, instance, "actions/stop", &named(instance, numbers)).await
}

/// What the agents would do, and the engine's note of it.
async fn let_it_happen(world: &World, instance: &Instance, node: i32) {
    world.kafka.stop(node);
    world.pass_time();
    world.make_ready(instance.id).await;
}

#[tokio::test]
async fn one_of_three_is_stopped_and_the_next_is_refused_by_name() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic("orders", 3, 2), topic("bills", 3, 1)]).await;
    let answer = stop(&world, &instance, &[2]).await;
    let action = world.last_action(instance.id).await;
    let message = "Brokers are being stopped; data and addresses stay";
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json(), json!({"message": message, "action": action.id}));
    assert_eq!((action.kind, action.servers), (ActionKind::Stop, vec![2]));
    assert_eq!(action.generation, instance.generation + 1);
    assert_eq!(stopped(&world, &instance).await, [false, true, false]);
    let after = world.load(instance.id.0).await;
    assert_eq!((after.ready(), after.configured()), (true, false));
    let line = "instance.stop customer-api 192.0.2.7 owner@example.test id=1; name=orders; \
                servers=[username]-02";
    assert_eq!(last_line(&world, &instance).await, line);

    let sentence = "Nothing was stopped: \
                    1 of 3 controllers would be left with all metadata, 2 are needed; \
                    partition orders-0 would have 1 of the 2 replicas in sync that it needs";
    // While its broker still runs, and when it has stopped.
    let meanwhile = format!(
        "The cluster follows another change: action {} (stop of server 2, asked for by \
         owner@example.test at {:.0}; waiting: server 2 is to stop); \
         wait for it (castellan instance watch 1) or start the servers again with actions/start",
        action.id, action.asked_at
    );
    stop(&world, &instance, &[3]).await.expect_error(400, &meanwhile);
    let_it_happen(&world, &instance, 2).await;
    stop(&world, &instance, &[3]).await.expect_error(400, sentence);
    assert_eq!(stopped(&world, &instance).await, [false, true, false]);

    let lines = world.audit().await.len();
    let again = stop(&world, &instance, &[2]).await;
    let already = json!({"message": "They are stopped already", "action": null});
    assert_eq!((again.status.as_u16(), again.json()), (200, already));
    assert_eq!((world.audit().await.len(), actions(&world, &instance).await), (lines, 2));
    let start = post_json(&world, &instance, "actions/start", &named(&instance, &[2])).await;
    assert_eq!(start.status, 200);
    assert_eq!(stopped(&world, &instance).await, [false, false, false]);
}

#[tokio::test]
async fn partitions_that_need_every_replica_are_named() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let topics = [topic("all", 3, 3), topic("alone", 1, 1), topic("orders", 3, 2)];
    world.run_kafka(&instance, &topics).await;
    let partitions = world.kafka.partitions();
    let holder = partitions.iter().find(|it| it.topic == "alone").unwrap().replicas[0];
    for number in 1..=3 {
        let mut sentence = String::from(
            "Nothing was stopped: \
             partition all-0 would have 2 of the 3 replicas in sync that it needs",
        );
        if i64::from(holder) == i64::from(number) {
            sentence += "; partition alone-0 would have 0 of the 1 replicas in sync that it needs";
        }
        stop(&world, &instance, &[number]).await.expect_error(400, &sentence);
    }
    assert_eq!(world.load(instance.id.0).await, instance);
    assert_eq!(actions(&world, &instance).await, 1);
}

#[tokio::test]
async fn several_at_once_are_judged_together() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic("orders", 3, 2)]).await;
    let answer = stop(&world, &instance, &[1, 3]).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert!(answer.text.contains("orders-0"), "{}", answer.text);
    let sentence = "This would leave no server running; use actions/cluster-stop, \
                    which stops all of them together";
    stop(&world, &instance, &[1, 2, 3]).await.expect_error(400, sentence);
    // The same for all that are left.
    world.set_stopped(&instance, &[1, 2]).await;
    stop(&world, &instance, &[3]).await.expect_error(400, sentence);
    stop(&world, &instance, &[1, 2, 3]).await.expect_error(400, sentence);
    assert_eq!(actions(&world, &instance).await, 1);
}

#[tokio::test]
async fn nothing_is_stopped_while_nobody_tells_how_the_cluster_is() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let answer = stop(&world, &instance, &[1]).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    let error = answer.json()["error"].as_str().unwrap().to_owned();
    let beginning = "Nothing was stopped, because no broker tells";
    assert!(error.starts_with(beginning), "{error}");
    assert_eq!(stopped(&world, &instance).await, [false, false, false]);

    let young = world.create_of("mouse-3", "young", &[]).await;
    let sentence = "The cluster is being created (waiting for the engine); \
                    try again once `ready` reads true";
    stop(&world, &young, &[1]).await.expect_error(400, sentence);
}

async fn of_two_at_once_one_is_stopped(world: World) {
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[topic("orders", 3, 2)]).await;
    let mut calls = JoinSet::new();
    for number in 0..12 {
        let nodes = json!({"nodes": [name(&instance, number % 3 + 1)]});
        let call = Call::post(&path(&instance, "actions/stop")).key(&world.key).json(&nodes);
        let router = world.customer.clone();
        calls.spawn(async move { call.send(&router).await });
    }
    let answers = calls.join_all().await;
    let asked = answers.iter().filter(|it| it.status == 200 && it.json()["action"].is_i64());
    assert_eq!(asked.count(), 1);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!(refused.status, 400, "{}", refused.text);
        let reasons = ["(stop of server ", "asked of the cluster at the same moment"];
        assert!(reasons.iter().any(|why| refused.text.contains(why)), "{}", refused.text);
    }
    let stopped = stopped(&world, &instance).await;
    assert_eq!(stopped.iter().filter(|stopped| **stopped).count(), 1, "{stopped:?}");
    assert_eq!(actions(&world, &instance).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_at_once_one_is_stopped_on_sqlite() {
    of_two_at_once_one_is_stopped(World::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_at_once_one_is_stopped_on_postgresql() {
    of_two_at_once_one_is_stopped(World::on_postgres().await).await;
}
