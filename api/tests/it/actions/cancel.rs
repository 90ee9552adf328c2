//! Having no more of an action begun.

use super::{actions, cluster, last_line, launches, named, path, post, post_json, report};
use crate::call::Call;
use crate::documents;
use crate::world::{World, on_postgres};
use model::{ActionState, Instance, Server, SignedDuration};
use serde_json::{Value, json};
use store::tickets::Purpose;

const ANSWER: &str = "No further server is restarted; what has begun is brought to its end";

async fn cancel_last(world: &World, instance: &Instance) -> crate::call::Answer {
    let action = world.last_action(instance.id).await.id;
    post(world, instance, &format!("actions/{action}/cancel")).await
}

/// Desires of a server what the engine would.
async fn desire(world: &World, instance: &Instance, number: u32, fields: &Value) {
    let servers = world.servers(instance.id).await;
    let server = servers.iter().find(|server| server.number == number).unwrap();
    write_desired(world, server, &documents::desired(server, fields)).await;
}

async fn write_desired(world: &World, server: &Server, document: &str) {
    let mut work = world.app.store().begin().await.unwrap();
    store::servers::set_desired(&mut work, server.id, 9, document).await.unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn servers_whose_turn_has_not_come_keep_their_brokers() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    // Documents of an earlier Castellan, and of this one.
    desire(&world, &instance, 1, &json!({})).await;
    desire(&world, &instance, 2, &json!({"launch":0,"run":"stopped"})).await;
    post(&world, &instance, "cluster/restart").await;
    desire(&world, &instance, 2, &json!({"launch":1})).await;
    assert_eq!(launches(&world, &instance).await, [1, 1, 1]);

    let woken = async || {
        store::instances::wakes(&mut world.app.store().reader(), instance.id).await.unwrap()
    };
    let before = woken().await;
    let answer = cancel_last(&world, &instance).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({"message": ANSWER})));
    assert_eq!(launches(&world, &instance).await, [0, 1, 0], "server 2 was told already");
    assert!(woken().await > before, "the engine brings it to its end");
    assert_eq!(world.last_action(instance.id).await.state(), ActionState::Cancelling);
    let line = format!(
        "instance.cancel customer-api 192.0.2.7 owner@example.test id=1; name=orders; action={}",
        world.last_action(instance.id).await.id
    );
    assert_eq!(last_line(&world, &instance).await, line);
    // It is not configured until the engine has seen to server 2.
    assert!(!world.load(instance.id.0).await.configured());
    let refused = post(&world, &instance, "cluster/restart").await;
    assert_eq!(refused.status, 400);
    let id = world.last_action(instance.id).await.id;
    let words = format!("action {id} (restart of the cluster, asked for by owner@example.test at ");
    assert!(refused.text.contains(&words), "{}", refused.text);
    let words = "which was cancelled and brings to its end what has begun";
    assert!(refused.text.contains(words), "{}", refused.text);

    let lines = world.audit().await.len();
    assert_eq!(cancel_last(&world, &instance).await.status, 200, "twice is once");
    assert_eq!(world.audit().await.len(), lines);

    world.make_ready(instance.id).await;
    assert_eq!(world.last_action(instance.id).await.state(), ActionState::Cancelled);
    let id = world.last_action(instance.id).await.id;
    let ended = format!("Action {id} has ended; there is nothing left to cancel");
    cancel_last(&world, &instance).await.expect_error(400, &ended);

    assert_eq!(post(&world, &instance, "cluster/restart").await.status, 201);
    assert_eq!(launches(&world, &instance).await, [1, 2, 1], "and it can be asked for again");
}

#[tokio::test]
async fn only_the_servers_it_is_about_are_left_alone() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let named = json!({"nodes": [format!("{}-03", instance.username)]});
    for number in 1..=3 {
        desire(&world, &instance, number, &json!({"launch":0})).await;
    }
    assert_eq!(post_json(&world, &instance, "actions/restart", &named).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 0, 1]);
    assert_eq!(cancel_last(&world, &instance).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
    // A document that nobody can read takes nothing further back than to the start.
    world.make_ready(instance.id).await;
    write_desired(&world, &world.servers(instance.id).await[2], "no JSON").await;
    assert_eq!(post_json(&world, &instance, "actions/restart", &named).await.status, 200);
    assert_eq!(cancel_last(&world, &instance).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
}

/// Server 2 was told, and runs on: it had no leave to stop.
#[tokio::test]
async fn what_had_begun_nothing_ends_at_once() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    post(&world, &instance, "cluster/restart").await;
    desire(&world, &instance, 2, &json!({"launch":1})).await;
    let servers = world.servers(instance.id).await;
    runs_on(&world, &servers[1], servers[1].incarnation).await;
    let answer = cancel_last(&world, &instance).await;
    let message = "Cancelled; nothing was restarted";
    assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({"message": message})));
    let action = world.last_action(instance.id).await;
    assert_eq!(action.state(), ActionState::Cancelled);
    let read = Call::get(&path(&instance, &format!("actions/{}", action.id))).key(&world.key);
    let read = read.send(&world.customer).await.json();
    assert_eq!(read["status"], "cancelled; nothing was restarted");
    let by = json!([{"at": "2026-11-15T12:00:00Z", "text": "cancelled by owner@example.test"}]);
    assert_eq!(read["steps"], by);
    assert!(world.load(instance.id.0).await.configured(), "nothing is followed any more");
    assert_eq!(post(&world, &instance, "cluster/restart").await.status, 201);
}

/// A restart of an unresponsive broker came upon another action. Each is cancelled alone,
/// and what goes on is neither ended with it nor taken for reached.
#[tokio::test]
async fn of_two_that_are_open_one_is_cancelled() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    for roll_first in [true, false] {
        assert_eq!(post(&world, &instance, "cluster/restart").await.status, 201);
        let roll = world.last_action(instance.id).await.id;
        let before = launches(&world, &instance).await;
        report(&world, &instance, 2, "running", Some("2026-11-15T11:59:00Z")).await;
        let nodes = named(&instance, &[2]);
        let restart = post_json(&world, &instance, "actions/restart", &nodes).await;
        assert_eq!(restart.status, 200, "{}", restart.text);
        let restart = world.last_action(instance.id).await.id;
        let (first, second) = if roll_first { (roll, restart) } else { (restart, roll) };
        let answer = post(&world, &instance, &format!("actions/{first}/cancel")).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({"message": ANSWER})));
        // Server 2 is wanted by the other one, whichever it is.
        let [one, two, three] = before[..] else { panic!("{before:?}") };
        let back = i64::from(roll_first);
        assert_eq!(launches(&world, &instance).await, [one - back, two + 1, three - back]);
        let mut reader = world.app.store().reader();
        let open = store::actions::open(&mut reader, instance.id).await.unwrap();
        let running = open.iter().filter(|it| it.state() == ActionState::Running);
        assert_eq!(running.map(|it| it.id).collect::<Vec<_>>(), [second]);
        assert!(!world.load(instance.id.0).await.configured());
        world.make_ready(instance.id).await;
    }
}

/// One that was stopped before a restart of all has no part in it.
#[tokio::test]
async fn a_server_that_was_stopped_before_keeps_nothing_from_ending_at_once() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.set_stopped(&instance, &[3]).await;
    post(&world, &instance, "cluster/restart").await;
    let answer = cancel_last(&world, &instance).await;
    assert_eq!(answer.json(), json!({"message": "Cancelled; nothing was restarted"}));
    assert_eq!(world.last_action(instance.id).await.state(), ActionState::Cancelled);
}

#[tokio::test]
async fn what_is_not_left_half_done_can_not_be_cancelled() {
    let world = World::new().await;
    let instance = world.create_of("mouse-3", "orders", &[]).await;
    let refused = async |kind: &str, instead: &str| {
        let sentence =
            format!("A {kind} is not left half done, so it can't be cancelled; {instead}");
        cancel_last(&world, &instance).await.expect_error(400, &sentence);
    };
    refused("create", "delete the instance").await;
    post(&world, &instance, "actions/cluster-stop").await;
    refused("cluster-stop", "start it again with actions/cluster-start").await;
    post(&world, &instance, "actions/cluster-start").await;
    refused("cluster-start", "stop it again with actions/cluster-stop").await;
    let lines = world.audit().await;
    assert!(!lines.iter().any(|line| line.starts_with("instance.cancel")), "{lines:?}");
    assert_eq!(actions(&world, &instance).await, 3);
}

/// Says that the server's broker runs on, of its start before the restart.
async fn runs_on(world: &World, server: &Server, incarnation: i64) {
    let report = documents::report(server, &json!({"launch": 0, "incarnation": incarnation}));
    let mut work = world.app.store().begin().await.unwrap();
    store::servers::set_report(&mut work, server.id, &report, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
}

/// Two servers were told. One runs on without leave, which may take for ever to come;
/// the other has it, and may have stopped by now.
async fn one_let_stop(world: &World) -> Instance {
    let instance = cluster(world).await;
    post(world, &instance, "cluster/restart").await;
    let servers = world.servers(instance.id).await;
    for server in &servers[..2] {
        desire(world, &instance, server.number, &json!({"launch":1})).await;
        runs_on(world, server, server.incarnation).await;
    }
    let (now, life) = (world.app.now(), SignedDuration::from_mins(1));
    let mut work = world.app.store().begin().await.unwrap();
    let lease = store::leases::take(&mut work, instance.id, "a worker", now, life).await.unwrap();
    let only = Some(servers[1].id);
    store::tickets::open(&mut work, &lease.unwrap(), only, Purpose::Restart, now).await.unwrap();
    let claimed = store::tickets::claim(&mut work, instance.id, servers[1].id, now).await.unwrap();
    assert_eq!(claimed, Ok(()));
    work.commit().await.unwrap();
    instance
}

#[tokio::test]
async fn a_broker_that_has_no_leave_to_stop_yet_is_not_waited_for() {
    let world = World::new().await;
    let instance = one_let_stop(&world).await;
    assert_eq!(cancel_last(&world, &instance).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 1, 0]);
    let now = world.app.now();
    let ticket = store::tickets::find(&mut world.app.store().reader(), instance.id, now).await;
    assert_eq!(ticket.unwrap(), None, "nobody else gets claimed");
}

/// An agent acts on it for some seconds, whatever became of it here meanwhile.
#[tokio::test]
async fn leave_that_was_taken_back_is_reckoned_with_for_a_while() {
    for (seconds, expected) in [(7, [0, 1, 0]), (11, [0, 0, 0])] {
        let world = World::new().await;
        let instance = one_let_stop(&world).await;
        let mut work = world.app.store().begin().await.unwrap();
        store::tickets::close(&mut work, instance.id).await.unwrap();
        work.commit().await.unwrap();
        world.clock.advance(SignedDuration::from_secs(seconds));
        // PostgreSQL goes by its own clock, which no test can move.
        if seconds < 10 || !on_postgres() {
            assert_eq!(cancel_last(&world, &instance).await.status, 200);
            assert_eq!(launches(&world, &instance).await, expected, "after {seconds} s");
        }
    }
}

/// What its agent said tells nothing of the server that is in its place now.
#[tokio::test]
async fn a_server_that_was_replaced_is_not_taken_for_one_that_runs_on() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    post(&world, &instance, "cluster/restart").await;
    let servers = world.servers(instance.id).await;
    for (server, before) in servers.iter().zip([0, 1]) {
        desire(&world, &instance, server.number, &json!({"launch":1})).await;
        runs_on(&world, server, server.incarnation - before).await;
    }
    assert_eq!(cancel_last(&world, &instance).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 1, 0]);
}

/// Brokers that were not restarted go on with the settings of before, and its status says so.
#[tokio::test]
async fn settings_of_a_cancelled_change_hold_from_the_next_start_on() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    world.run_kafka(&instance, &[]).await;
    let config = json!({"auto.create.topics.enable": true});
    let answer = post_json(&world, &instance, "config/kafka", &config).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    assert_eq!(launches(&world, &instance).await, [1, 1, 1]);
    assert_eq!(cancel_last(&world, &instance).await.status, 200);
    assert_eq!(launches(&world, &instance).await, [0, 0, 0]);
    let chosen = world.load(instance.id.0).await.settings;
    assert_eq!(chosen["auto.create.topics.enable"], "true");
    let action = world.last_action(instance.id).await;
    let read = Call::get(&path(&instance, &format!("actions/{}", action.id))).key(&world.key);
    let status = read.send(&world.customer).await.json()["status"].clone();
    let expected = "cancelled; nothing was restarted; settings hold from the next start on";
    assert_eq!(status, expected);
}
