//! The grand tour: one real cluster, from create to delete, with everything
//! killed on the way. What a person would do by hand, in one go.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agree;
mod alarmed;
mod at_rest;
mod certified;
mod checked;
mod day;
mod every_alarm;
mod fault_table;
mod groups;
mod guarded;
mod held;
mod held_back;
mod isolated;
mod lagging;
mod luck;
mod meanwhile;
mod mishap;
mod re_enrolled;
mod resources;
mod rolled;
mod tight;
mod turns;
mod unlucky;

use serde_json::{Value, json};
use test_support::installation::{Installation, Processes};
use test_support::kcat::Kcat;
use test_support::left_over::LeftOver;
use test_support::writer::{self, Writer};

const SERVERS: usize = 3;

/// Whether everything is tried, however long it takes.
fn thorough() -> bool {
    std::env::var_os("CASTELLAN_TEST_ALL").is_some()
}

/// Each kind of process is killed so often while a customer writes.
fn kills() -> usize {
    if thorough() { 10 } else { 1 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_grand_tour() {
    let mut castellan = Installation::start().await;
    let before = LeftOver::of(&castellan).await;

    if std::env::var_os("CASTELLAN_OLDEST_RELEASE").is_some() {
        the_oldest_release_has_it_too(&castellan).await;
        return castellan.purge().await;
    }
    let instance = create(&castellan, &json!({})).await;
    let id = instance["id"].as_i64().unwrap();
    if luck::chosen().is_some() {
        unlucky::survives_bad_luck(&mut castellan, &instance).await;
        return castellan.purge().await;
    }
    if fault_table::chosen() {
        fault_table::every_fault_has_its_alarm(&castellan, &instance).await;
        return castellan.purge().await;
    }
    let details = details_agree(&castellan, &instance).await;
    the_instance_key_opens_its_own_instance_alone(&castellan, &instance).await;

    let kcat = Kcat::new(&castellan, &instance).await;
    kcat.write("SCRAM-SHA-256", "one").await;
    kcat.write("SCRAM-SHA-512", "two").await;
    assert_eq!(kcat.read("tour", "SCRAM-SHA-512").await, ["one", "two"]);
    strangers_are_refused(&castellan, &kcat).await;
    isolated::finds_no_way_out(&castellan).await;
    isolated::eats_its_own_memory_alone(&castellan, id).await;

    resources::are_what_kafka_has(&castellan, &instance).await;
    groups::are_what_kafka_has(&castellan, &instance).await;
    let certified = certified::come_in_until_they_are_revoked(&castellan, &instance).await;
    let told = alarmed::of_a_broker_that_hangs(&mut castellan, &instance).await;
    checked::finds_nothing_and_then_what_was_planted(&instance).await;
    told.ends(&castellan).await;
    if thorough() {
        fault_table::every_fault_has_its_alarm(&castellan, &instance).await;
    }
    rolled::goes_in_order(&castellan, &instance).await;
    certified::stay_as_they_were(&castellan, &instance, &certified).await;
    re_enrolled::shuts_a_thief_out_and_restarts_nothing(&castellan, &instance).await;
    lagging::keeps_the_next_from_its_restart(&castellan, &instance).await;
    unlucky::survives_bad_luck(&mut castellan, &instance).await;

    let mut writer = Writer::start(&instance, &details, 1).await;
    for round in 0..kills() {
        survives_the_control_plane(&mut castellan, &mut writer, id).await;
        survives_its_agent(&castellan, &mut writer, id, round % SERVERS).await;
        survives_its_broker(&castellan, &mut writer, id, round % SERVERS).await;
    }
    let acknowledged = writer.stop().await;

    survives_a_reboot(&mut castellan, id).await;
    stops_and_starts(&castellan, id).await;
    assert_eq!(kcat.read("tour", "SCRAM-SHA-256").await, ["one", "two"]);
    kcat.write("SCRAM-SHA-256", "three").await;
    nothing_is_lost(&kcat, acknowledged).await;
    resources::another_password(&castellan, &instance).await;

    delete(&castellan, id).await;
    if thorough() {
        the_oldest_release_has_it_too(&castellan).await;
    }
    let after = LeftOver::of(&castellan).await;
    assert_eq!(before, after, "something of the instance is left");
    castellan.purge().await;
}

/// What people do every day, on the oldest Kafka that can be ordered.
async fn the_oldest_release_has_it_too(castellan: &Installation) {
    let oldest = kafka::versions::all()[0].version.to_string();
    let instance = create(castellan, &json!({"kafka_version": oldest})).await;
    assert_eq!(instance["kafka_version"], oldest.as_str());
    Kcat::new(castellan, &instance).await.write("SCRAM-SHA-256", "one").await;
    isolated::finds_no_way_out(castellan).await;
    resources::are_what_kafka_has(castellan, &instance).await;
    groups::are_what_kafka_has(castellan, &instance).await;
    let certified = certified::come_in_until_they_are_revoked(castellan, &instance).await;
    rolled::goes_in_order(castellan, &instance).await;
    certified::stay_as_they_were(castellan, &instance, &certified).await;
    resources::another_password(castellan, &instance).await;
    delete(castellan, instance["id"].as_i64().unwrap()).await;
}

/// A cluster that differs from the usual one by what is given.
async fn create(castellan: &Installation, more: &Value) -> Value {
    let mut body = json!({"name": "tour", "plan": "mouse-3", "region": "local::this-machine"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    let id = created["id"].as_i64().unwrap();

    // Everything chosen is readable at once, before anything runs.
    let (_, planned) = castellan.get(&format!("/api/instances/{id}")).await;
    for field in ["ca", "apikey", "brokers", "username", "password", "url", "hostname_external"] {
        assert!(!planned[field].as_str().unwrap().is_empty(), "{field} in {planned}");
    }
    let ready = castellan.until_running(id).await;
    for field in ["ca", "apikey", "brokers", "username", "password", "url"] {
        assert_eq!(planned[field], ready[field], "{field} changed on the way");
    }
    ready
}

async fn details_agree(castellan: &Installation, instance: &Value) -> Value {
    let id = &instance["id"];
    let (status, details) = castellan.get(&format!("/api/instances/{id}/details")).await;
    assert_eq!(status, 200, "{details}");
    assert_eq!(details["connections"]["sasl_scram"]["username"], instance["username"]);
    assert_eq!(details["servers"].as_array().unwrap().len(), SERVERS);
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(cluster, json!({"name": "tour", "ready": true, "configured": true}));
    details
}

async fn the_instance_key_opens_its_own_instance_alone(castellan: &Installation, instance: &Value) {
    let key = instance["apikey"].as_str().unwrap();
    let (status, details) = castellan.instance_api("/api/details", key).await;
    assert_eq!((status, &details["name"]), (200, &json!("tour")));
    for noun in ["topics", "users", "acls", "config/kafka", "groups", "quotas", "nodes"] {
        let (status, told) = castellan.instance_api(&format!("/api/{noun}"), key).await;
        let path = format!("/api/instances/{}/{noun}", instance["id"]);
        assert_eq!((status, told), castellan.get(&path).await, "{noun}");
    }
    let (status, _) = castellan.instance_api("/api/details", &castellan.key).await;
    assert_eq!(status, 401);
}

async fn strangers_are_refused(castellan: &Installation, kcat: &Kcat) {
    let refused = kcat.refused_with_password("wrong").await;
    assert!(refused.contains("uthentication failed"), "{refused}");
    let refused = kcat.refused_with_ca(&castellan.fleet_ca()).await;
    assert!(refused.contains("certificate verify failed"), "{refused}");
    let refused = kcat.refused_without_credentials().await;
    assert!(refused.contains("uthorization failed"), "{refused}");
}

async fn survives_the_control_plane(castellan: &mut Installation, writer: &mut Writer, id: i64) {
    let before = castellan.processes();
    castellan.kill_control_plane().await;
    writer.goes_on(5).await;
    castellan.serve().await;
    castellan.until_heard_anew(&before).await;
    castellan.until_running(id).await;
    assert_eq!(before, castellan.processes(), "agents and brokers are found again");
    assert_eq!(castellan.brokers_alive(), SERVERS);
}

async fn survives_its_agent(castellan: &Installation, writer: &mut Writer, id: i64, victim: usize) {
    let before = castellan.processes();
    before[victim].agent.kill();
    writer.goes_on(5).await;
    let mut expected = before.clone();
    expected[victim].agent = castellan.until_agent_is_not(victim, &before[victim].agent).await;
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(id).await;
    assert_eq!(expected, castellan.processes(), "the new agent found the same JVM");
    assert_eq!(castellan.brokers_alive(), SERVERS);
}

async fn survives_its_broker(
    castellan: &Installation,
    writer: &mut Writer,
    id: i64,
    victim: usize,
) {
    let before = castellan.processes();
    before[victim].broker.kill();
    writer.goes_on(5).await;
    let mut expected = before.clone();
    expected[victim].broker = castellan.until_broker_is_not(victim, &before[victim].broker).await;
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(id).await;
    assert_eq!(castellan.brokers_alive(), SERVERS);
    writer.goes_on(5).await;
}

/// All processes end at once, as when the power goes.
async fn survives_a_reboot(castellan: &mut Installation, id: i64) {
    let before = castellan.processes();
    castellan.kill_control_plane().await;
    for Processes { agent, broker } in &before {
        agent.kill();
        broker.kill();
    }
    castellan.serve().await;
    let mut expected = Vec::new();
    for (server, Processes { agent, broker }) in before.iter().enumerate() {
        expected.push(Processes {
            agent: castellan.until_agent_is_not(server, agent).await,
            broker: castellan.until_broker_is_not(server, broker).await,
        });
    }
    castellan.until_heard_anew(&expected).await;
    castellan.until_running(id).await;
}

/// Stopped, no process of it runs; started, it is what it was.
async fn stops_and_starts(castellan: &Installation, id: i64) {
    let actions = format!("/api/instances/{id}/actions");
    let (status, body) = castellan.post(&format!("{actions}/cluster-stop"), &json!({})).await;
    assert_eq!(status, 200, "{body}");
    let (_, stopping) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(stopping, json!({"name": "tour", "ready": false, "configured": false}));
    castellan.until_status(id, "stopped").await;
    assert_eq!(castellan.servers_alive(), 0, "no process runs");
    let (_, stopped) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(stopped, json!({"name": "tour", "ready": false, "configured": true}));

    castellan.post(&format!("{actions}/cluster-start"), &json!({})).await;
    castellan.until_running(id).await;
    assert_eq!(castellan.brokers_alive(), SERVERS);
}

/// Every number that was acknowledged is there, in order but for repeats.
async fn nothing_is_lost(kcat: &Kcat, acknowledged: u64) {
    let mut seen: Vec<u64> = kcat
        .read(writer::TOPIC, "SCRAM-SHA-256")
        .await
        .iter()
        .map(|n| n.parse().unwrap())
        .collect();
    assert!(acknowledged > 20, "the writer wrote {acknowledged}");
    seen.dedup();
    let expected: Vec<u64> = (1..=acknowledged).collect();
    assert_eq!(seen, expected);
}

async fn delete(castellan: &Installation, id: i64) {
    assert_eq!(castellan.delete(&format!("/api/instances/{id}")).await, 204);
    let (status, body) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_eq!((status, body), (404, json!({"error": "Invalid ID"})));
    castellan.until_gone().await;
}
