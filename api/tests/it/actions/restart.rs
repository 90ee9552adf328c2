//! Restarts of a whole cluster, through every door.

use super::{actions, busy, cluster, last_line, launches, path, post, post_json};
use crate::call::Call;
use crate::world::World;
use model::{ActionKind, Reason, Role};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test]
async fn from_the_answer_on_it_is_not_configured_and_a_second_one_is_refused() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let restart = Call::post("/api/api/cluster/restart").key(&instance.apikey);
    let answer = restart.send(&world.instance).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (201, ""));
    assert_eq!(answer.header("content-type"), "");
    let status = Call::get("/api/api/cluster/status").key(&instance.apikey);
    let expected = json!({"name": "orders", "ready": true, "configured": false});
    assert_eq!(status.send(&world.instance).await.json(), expected);
    assert_eq!(launches(&world, &instance).await, [1, 1, 1]);

    let action = world.last_action(instance.id).await;
    let [to_customer, to_own_key] = busy(&instance, &action);
    let expected = "The cluster follows another change: action 2 (restart of the cluster, \
                    asked for by owner@example.test at 2026-11-15T12:00:00Z; \
                    waiting: server 1 is to be restarted; \
                    waiting: server 2 is to be restarted; \
                    waiting: server 3 is to be restarted); \
                    wait for it (castellan instance watch 1) or cancel it (POST /api/instances/1/actions/2/cancel)";
    assert_eq!(to_customer, expected);
    restart.send(&world.instance).await.expect_error(400, &to_own_key);
    for rest in ["cluster/restart", "actions/cluster-restart", "actions/restart", "actions/reboot"]
    {
        post(&world, &instance, rest).await.expect_error(400, &to_customer);
    }
    assert_eq!(launches(&world, &instance).await, [1, 1, 1], "refused is not done");
    assert_eq!(action.kind, ActionKind::ClusterRestart);
    assert_eq!((action.generation, action.servers), (instance.generation + 1, vec![]));
    assert_eq!(
        (action.asked_by.as_str(), action.source.as_str()),
        ("owner@example.test", "instance-api 192.0.2.7"),
        "an instance's own key is the team's"
    );
    let line = "instance.restart instance-api 192.0.2.7 owner@example.test id=1; name=orders";
    assert_eq!(last_line(&world, &instance).await, line);
    let due = store::instances::due(&mut world.app.store().reader(), world.app.now()).await;
    assert!(due.unwrap().contains(&instance.id), "the engine is woken");

    world.make_ready(instance.id).await;
    assert_eq!(restart.send(&world.instance).await.status, 201, "once it is done");
}

/// What the engine writes into a running Kafka reconfigures no server.
#[tokio::test]
async fn a_restart_is_accepted_right_after_another_password_and_live_settings() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[]).await;
    let changes = [
        ("account/rotate-password", json!({})),
        ("config/kafka", json!({"log.retention.ms": 60000})),
    ];
    for (rest, body) in changes {
        let answer = post_json(&world, &instance, rest, &body).await;
        assert!(answer.status.is_success(), "{rest}: {}", answer.text);
        let now = world.load(instance.id.0).await;
        assert!(now.kafka_generation > now.progress.kafka_observed, "{rest} is to be written");
        let status = Call::get("/api/api/cluster/status").key(&instance.apikey);
        assert_eq!(status.send(&world.instance).await.json()["configured"], true, "{rest}");
        let restart = post(&world, &instance, "actions/restart").await;
        assert_eq!(restart.status, 200, "after {rest}: {}", restart.text);
        world.make_ready(instance.id).await;
    }
    assert_eq!(launches(&world, &instance).await, [2, 2, 2]);
}

/// What an older Castellan rendered is rendered anew where a broker is restarted or
/// started, and nowhere else.
#[tokio::test]
async fn brokers_are_restarted_with_what_this_version_renders() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let now = i64::from(kafka::render::RENDER_VERSION);
    let render = async |versions: [i64; 3]| {
        let mut work = world.app.store().begin().await.unwrap();
        for (server, version) in world.servers(instance.id).await.iter().zip(versions) {
            let done = store::servers::set_broker(&mut work, server.id, "{}", version).await;
            done.unwrap();
        }
        work.commit().await.unwrap();
    };
    let rendered = async || {
        let all = store::servers::list(&mut world.app.store().reader(), instance.id).await.unwrap();
        all.iter().map(|record| record.broker.is_some()).collect::<Vec<_>>()
    };
    render([now - 1, now - 1, now]).await;
    let name = world.servers(instance.id).await[0].name.clone();
    let named = json!({"nodes": [name]});
    assert_eq!(post_json(&world, &instance, "actions/restart", &named).await.status, 200);
    assert_eq!(rendered().await, [false, true, true]);
    render([now - 1, now - 1, now]).await;
    world.make_ready(instance.id).await;
    assert_eq!(post(&world, &instance, "actions/cluster-stop").await.status, 200);
    assert_eq!(rendered().await, [true, true, true]);
    assert_eq!(post(&world, &instance, "actions/cluster-start").await.status, 200);
    assert_eq!(rendered().await, [false, false, true]);
}

/// The two doors of a customer key, by name of who asks.
#[tokio::test]
async fn a_customer_key_restarts_by_either_path() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let (_, ada) = world.user("ada@example.test", Role::Member, &["prod"]).await;
    let mirrored = Call::post(&path(&instance, "cluster/restart")).key(&ada);
    let answer = mirrored.send(&world.customer).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (201, ""));
    let by_ada = "customer-api 192.0.2.7 ada@example.test id=1; name=orders";
    assert_eq!(last_line(&world, &instance).await, format!("instance.restart {by_ada}"));

    world.make_ready(instance.id).await;
    let answer = post(&world, &instance, "actions/cluster-restart").await;
    let action = world.last_action(instance.id).await;
    let message = "The cluster is being restarted, one server at a time";
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"message": message, "action": action.id}));

    world.make_ready(instance.id).await;
    let reboot = Call::post(&path(&instance, "actions/reboot")).key(&ada);
    assert_eq!(reboot.send(&world.customer).await.status, 200);
    assert_eq!(last_line(&world, &instance).await, format!("instance.reboot {by_ada}"));
    assert_eq!(world.last_action(instance.id).await.kind, ActionKind::ClusterRestart);
    assert_eq!(launches(&world, &instance).await, [3, 3, 3]);
}

#[tokio::test]
async fn what_is_not_ready_is_not_restarted() {
    let world = World::new().await;
    let instance = world.create_of("mouse-3", "orders", &[]).await;
    let doors = ["cluster/restart", "actions/cluster-restart", "actions/restart", "actions/reboot"];
    for rest in doors {
        let sentence = "The cluster is being created (waiting for the engine); \
                        try again once `ready` reads true";
        post(&world, &instance, rest).await.expect_error(400, sentence);
    }
    world.make_ready(instance.id).await;
    post(&world, &instance, "actions/cluster-stop").await;
    for _ in 0..2 {
        for rest in doors {
            let sentence = "The cluster is stopped; start it with actions/cluster-start first";
            post(&world, &instance, rest).await.expect_error(400, sentence);
        }
        // Whether it has stopped already or not.
        world.make_ready(instance.id).await;
    }
    let starting = Reason::Starting { start: None, log: vec![] };
    world.make_unready(instance.id, starting.of(1)).await;
    post(&world, &instance, "actions/cluster-start").await;
    for rest in doors {
        let sentence = "The cluster is being started (waiting: the broker of server 1 is \
                        starting); try again once `ready` reads true";
        post(&world, &instance, rest).await.expect_error(400, sentence);
    }
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
    assert_eq!(actions(&world, &instance).await, 3, "its create, its stop and its start");
}

#[tokio::test]
async fn shared_plans_have_none_of_it() {
    let world = World::new().await;
    let shared = world.share(&cluster(&world).await).await;
    let sentence = "Not available on shared plans";
    for rest in [
        "cluster/restart",
        "actions/restart",
        "actions/reboot",
        "actions/stop",
        "actions/start",
        "actions/cluster-restart",
        "actions/cluster-stop",
        "actions/cluster-start",
        "actions/1/cancel",
    ] {
        post(&world, &shared, rest).await.expect_error(400, sentence);
    }
    for rest in ["actions", "actions/1"] {
        let call = Call::get(&path(&shared, rest)).key(&world.key);
        call.send(&world.customer).await.expect_error(400, sentence);
    }
    let own = Call::post("/api/api/cluster/restart").key(&shared.apikey);
    own.send(&world.instance).await.expect_error(400, sentence);
}

async fn of_many_at_once_one_is_accepted(world: World) {
    let instance = cluster(&world).await;
    let mut calls = JoinSet::new();
    for number in 0..20 {
        let (call, router) = if number % 2 == 0 {
            let own = Call::post("/api/api/cluster/restart").key(&instance.apikey);
            (own, world.instance.clone())
        } else {
            let named = json!({"nodes": [format!("{}-02", instance.username)]});
            let call = Call::post(&path(&instance, "actions/restart")).key(&world.key);
            (call.json(&named), world.customer.clone())
        };
        calls.spawn(async move { call.send(&router).await });
    }
    let answers = calls.join_all().await;
    let accepted = answers.iter().filter(|answer| answer.status.is_success()).count();
    assert_eq!(accepted, 1);
    let sentences = busy(&instance, &world.last_action(instance.id).await);
    for refused in answers.iter().filter(|answer| !answer.status.is_success()) {
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(refused.status, 400);
        assert!(sentences.contains(&error), "{error}");
    }
    let launches = launches(&world, &instance).await;
    assert!(launches == [1, 1, 1] || launches == [0, 1, 0], "{launches:?}");
    assert_eq!(world.load(instance.id.0).await.generation, instance.generation + 1);
    let lines = world.audit().await;
    let lines = lines.iter().filter(|line| line.starts_with("instance.restart"));
    assert_eq!((lines.count(), actions(&world, &instance).await), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_once_one_is_accepted_on_sqlite() {
    of_many_at_once_one_is_accepted(World::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_once_one_is_accepted_on_postgresql() {
    of_many_at_once_one_is_accepted(World::on_postgres().await).await;
}
