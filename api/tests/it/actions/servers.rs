//! Restarting, stopping and starting the brokers of single servers.

use super::{
    actions, busy, cluster, last_line, launches, name, named, path, post, post_json, report,
    stopped,
};
use crate::call::Call;
use crate::world::World;
use model::ActionKind;
use serde_json::json;

#[tokio::test]
async fn named_servers_are_restarted_and_no_others() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let servers = named(&instance, &[3, 1, 3]);
    let answer = post_json(&world, &instance, "actions/restart", &servers).await;
    let action = world.last_action(instance.id).await;
    let message = "Brokers are being restarted one at a time";
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json(), json!({"message": message, "action": action.id}));
    assert_eq!((action.kind, action.servers), (ActionKind::Restart, vec![1, 3]));
    assert_eq!(launches(&world, &instance).await, [1, 0, 1]);
    let by = "customer-api 192.0.2.7 owner@example.test id=1; name=orders; servers=";
    let line = format!("instance.restart {by}[username]-01,[username]-03");
    assert_eq!(last_line(&world, &instance).await, line);

    world.make_ready(instance.id).await;
    let answer = post_json(&world, &instance, "actions/reboot", &named(&instance, &[2])).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(world.last_action(instance.id).await.kind, ActionKind::Restart);
    assert_eq!(launches(&world, &instance).await, [1, 1, 1]);
    let line = format!("instance.reboot {by}[username]-02");
    assert_eq!(last_line(&world, &instance).await, line);
}

#[tokio::test]
async fn names_come_in_every_form_of_a_body() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let (two, three) = (name(&instance, 2), name(&instance, 3));
    let restart = || Call::post(&path(&instance, "actions/restart")).key(&world.key);
    let part = format!(
        "--x\r\nContent-Disposition: form-data; name=\"nodes\"\r\n\r\n{two},{three}\r\n--x--\r\n"
    );
    let query = path(&instance, &format!("actions/restart?nodes={two},{three}"));
    for (number, call) in (1..).zip([
        restart().json(&json!({"nodes": [two, three], "unknown": 1})),
        restart().form(&format!("nodes={two},{three}")),
        restart().form(&format!("nodes=[{two},{three}]")),
        restart().form(&format!("nodes[]={two}&nodes[]={three}")),
        restart().body("multipart/form-data; boundary=x", part),
        Call::post(&query).key(&world.key),
    ]) {
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(launches(&world, &instance).await, [0, number, number]);
        world.make_ready(instance.id).await;
    }
    // What says nothing means all of them.
    for (number, call) in (1..).zip([
        restart(),
        restart().json(&json!({})),
        restart().json(&json!({"nodes": null})),
        restart().json(&json!({"nodes": ""})),
        restart().form("nodes="),
    ]) {
        assert_eq!(call.send(&world.customer).await.status, 200);
        assert_eq!(world.last_action(instance.id).await.kind, ActionKind::ClusterRestart);
        assert_eq!(launches(&world, &instance).await, [number, number + 6, number + 6]);
        world.make_ready(instance.id).await;
    }
}

#[tokio::test]
async fn what_names_no_server_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let neighbour = cluster(&world).await;
    let many: Vec<String> = (0..50_000).map(|number| number.to_string()).collect();
    let mut shown = Vec::new();
    for nodes in [
        json!([]),
        json!([name(&neighbour, 1)]),
        json!([name(&instance, 1), name(&instance, 4)]),
        json!([name(&instance, 1).to_uppercase()]),
        json!([format!(" {}", name(&instance, 1))]),
        json!(["1", "u", ""]),
        json!(["'; DROP TABLE servers; --", "<script>", "\u{1b}[31m\r\n", "\u{202e}"]),
        json!(["a\u{0}b"]),
        json!(["x".repeat(100_000)]),
        json!(many),
        json!(name(&instance, 1)),
        json!([1]),
        json!([[name(&instance, 1)]]),
        json!({"0": name(&instance, 1)}),
        json!(true),
        json!(0),
    ] {
        let mut answers = Vec::new();
        for rest in ["actions/restart", "actions/reboot", "actions/stop", "actions/start"] {
            let answer = post_json(&world, &instance, rest, &json!({"nodes": nodes})).await;
            assert_eq!(answer.status, 400, "{rest}: {}", answer.text);
            assert!(answer.text.len() < 2_000, "{}", answer.text.len());
            let shown = answer.shown(&[&instance, &neighbour]);
            answers.push(shown.replace(&instance.username.to_uppercase(), "[USERNAME]"));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        let sent: String = nodes.to_string().chars().take(60).collect();
        let sent = sent
            .replace(&instance.username, "[username]")
            .replace(&instance.username.to_uppercase(), "[USERNAME]")
            .replace(&neighbour.username, "[neighbour]");
        shown.push(format!("{sent}\n{}", answers[0]));
    }
    insta::assert_snapshot!("refused_nodes", shown.join("\n\n"));
    for call in [
        Call::post(&path(&instance, "actions/stop")).form("nodes[]="),
        Call::post(&path(&instance, "actions/stop?nodes=[]")),
        Call::post(&path(&instance, "actions/stop")).form("nodes=%ff"),
        Call::post(&path(&instance, "actions/stop")).bytes(r#"{"nodes":["x"]}"#),
        Call::post(&path(&instance, "actions/stop")).body("application/json", "[]"),
    ] {
        let answer = call.key(&world.key).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
    }
    assert_eq!(world.load(instance.id.0).await, instance);
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
    assert_eq!(stopped(&world, &instance).await, [false, false, false]);
    assert_eq!(actions(&world, &instance).await, 1);
}

#[tokio::test]
async fn a_stopped_server_is_started_not_restarted() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.set_stopped(&instance, &[2]).await;
    let answer = post_json(&world, &instance, "actions/restart", &named(&instance, &[1, 2])).await;
    let two = name(&instance, 2);
    let sentence = format!("Stopped, so there is nothing to restart: {two}; use actions/start");
    answer.expect_error(400, &sentence);
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
    assert_eq!(post(&world, &instance, "cluster/restart").await.status, 201);
    assert_eq!(launches(&world, &instance).await, [1, 0, 1], "it has no broker to restart");

    let refused = post_json(&world, &instance, "actions/start", &named(&instance, &[2])).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("(restart of the cluster, "), "{}", refused.text);
    world.make_ready(instance.id).await;
    let answer = post_json(&world, &instance, "actions/start", &named(&instance, &[1, 2])).await;
    let action = world.last_action(instance.id).await;
    let expected = json!({"message": "Brokers are being started", "action": action.id});
    assert_eq!((answer.status.as_u16(), answer.json()), (200, expected));
    assert_eq!((action.kind, action.servers), (ActionKind::Start, vec![2]));
    assert_eq!(action.generation, instance.generation + 2);
    assert_eq!(stopped(&world, &instance).await, [false, false, false]);
    let line = "instance.start customer-api 192.0.2.7 owner@example.test id=1; name=orders; \
                servers=[username]-02";
    assert_eq!(last_line(&world, &instance).await, line);
    let cancel = post(&world, &instance, &format!("actions/{}/cancel", action.id)).await;
    let sentence = "A start is not left half done, so it can't be cancelled; \
                    stop the servers again with actions/stop";
    cancel.expect_error(400, sentence);

    let (lines, generation) = (world.audit().await, world.load(instance.id.0).await.generation);
    let answer = post_json(&world, &instance, "actions/start", &named(&instance, &[2])).await;
    let already = json!({"message": "They are running already", "action": null});
    assert_eq!((answer.status.as_u16(), answer.json()), (200, already));
    assert_eq!(post(&world, &instance, "actions/start").await.status, 200);
    assert_eq!(world.audit().await, lines, "nothing was changed");
    assert_eq!(world.load(instance.id.0).await.generation, generation);
}

/// Without names both mean the whole cluster.
#[tokio::test]
async fn stop_and_start_of_all() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.set_stopped(&instance, &[3]).await;
    assert_eq!(post(&world, &instance, "actions/stop").await.status, 200);
    assert!(world.load(instance.id.0).await.stopped);
    assert_eq!(world.last_action(instance.id).await.kind, ActionKind::ClusterStop);
    assert_eq!(stopped(&world, &instance).await, [false, false, true]);
    let answer = post_json(&world, &instance, "actions/start", &named(&instance, &[1])).await;
    let sentence = "All servers of the cluster are stopped; use actions/cluster-start";
    answer.expect_error(400, sentence);
    let answer = post_json(&world, &instance, "actions/stop", &named(&instance, &[1])).await;
    let sentence = "The cluster is stopped; start it with actions/cluster-start first";
    answer.expect_error(400, sentence);

    assert_eq!(post(&world, &instance, "actions/start").await.status, 200);
    assert!(!world.load(instance.id.0).await.stopped);
    assert_eq!(world.last_action(instance.id).await.kind, ActionKind::ClusterStart);
    assert_eq!(stopped(&world, &instance).await, [false, false, false], "all of them");
    assert_eq!(actions(&world, &instance).await, 3);
}

/// Whatever goes on may wait for it, and for nothing else.
#[tokio::test]
async fn one_that_hangs_is_restarted_while_something_else_goes_on() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let restart = async |numbers: &[u32]| {
        post_json(&world, &instance, "actions/restart", &named(&instance, numbers)).await
    };
    report(&world, &instance, 2, "running", None).await;
    assert_eq!(restart(&[1]).await.status, 200);
    let [sentence, _] = busy(&instance, &world.last_action(instance.id).await);
    restart(&[2]).await.expect_error(400, &sentence);
    report(&world, &instance, 2, "running", Some("2026-11-15T11:59:00Z")).await;
    restart(&[2, 3]).await.expect_error(400, &sentence);
    post(&world, &instance, "cluster/restart").await.expect_error(400, &sentence);
    assert_eq!(restart(&[2]).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [1, 1, 0]);
    // From the answer on nobody is told to restart it.
    let status = world.load(instance.id.0).await.progress.status();
    assert_eq!(status, "waiting: server 2 is to be restarted");
    assert_eq!(restart(&[2]).await.status, 400, "it has been asked for");
    assert_eq!(actions(&world, &instance).await, 3, "its create and two restarts");
}
