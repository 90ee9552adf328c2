//! The grand tour: one real cluster, from create to delete, with everything
//! killed on the way. What a person would do by hand, in one go.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod installation;
mod kcat;
mod left_over;

use installation::Installation;
use kcat::Kcat;
use left_over::LeftOver;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_grand_tour() {
    let mut castellan = Installation::start().await;
    let before = LeftOver::of(&castellan).await;

    let instance = create(&castellan).await;
    let id = instance["id"].as_i64().unwrap();
    details_agree(&castellan, &instance).await;
    the_instance_key_opens_its_own_instance_alone(&castellan, &instance).await;

    let kcat = Kcat::new(&castellan, &instance).await;
    kcat.write("SCRAM-SHA-256", "one").await;
    kcat.write("SCRAM-SHA-512", "two").await;
    assert_eq!(kcat.read("SCRAM-SHA-512").await, ["one", "two"]);
    strangers_are_refused(&castellan, &kcat).await;

    survives_the_control_plane(&mut castellan, &kcat, id).await;
    survives_its_agent(&castellan, &kcat, id).await;
    survives_a_reboot(&mut castellan, &kcat, id).await;

    delete(&castellan, id).await;
    let after = LeftOver::of(&castellan).await;
    assert_eq!(before, after, "something of the instance is left");
    castellan.purge().await;
}

async fn create(castellan: &Installation) -> Value {
    let body = json!({"name": "tour", "plan": "mouse-1", "region": "local::this-machine"});
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

async fn details_agree(castellan: &Installation, instance: &Value) {
    let id = &instance["id"];
    let (status, details) = castellan.get(&format!("/api/instances/{id}/details")).await;
    assert_eq!(status, 200, "{details}");
    assert_eq!(details["connections"]["sasl_scram"]["username"], instance["username"]);
    assert_eq!(details["servers"].as_array().unwrap().len(), 1);
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!(cluster, json!({"name": "tour", "ready": true, "configured": true}));
}

async fn the_instance_key_opens_its_own_instance_alone(castellan: &Installation, instance: &Value) {
    let key = instance["apikey"].as_str().unwrap();
    let (status, details) = castellan.instance_api("/api/details", key).await;
    assert_eq!((status, &details["name"]), (200, &json!("tour")));
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

async fn survives_the_control_plane(castellan: &mut Installation, kcat: &Kcat, id: i64) {
    let (agent, broker) = (castellan.agent(id), castellan.broker(id));
    castellan.kill_control_plane().await;
    kcat.write("SCRAM-SHA-256", "three").await;
    castellan.serve().await;
    castellan.until_running(id).await;
    assert_eq!(
        (agent, broker),
        (castellan.agent(id), castellan.broker(id)),
        "both are found again"
    );
}

async fn survives_its_agent(castellan: &Installation, kcat: &Kcat, id: i64) {
    let (agent, broker) = (castellan.agent(id), castellan.broker(id));
    agent.kill();
    kcat.write("SCRAM-SHA-256", "four").await;
    let next = castellan.until_agent_is_not(id, &agent).await;
    assert!(next.is_alive());
    castellan.until_running(id).await;
    assert_eq!(broker, castellan.broker(id), "the new agent found the same JVM");
}

/// All processes end at once, as when the power goes.
async fn survives_a_reboot(castellan: &mut Installation, kcat: &Kcat, id: i64) {
    let (agent, broker) = (castellan.agent(id), castellan.broker(id));
    castellan.kill_control_plane().await;
    agent.kill();
    broker.kill();
    castellan.serve().await;
    let next = castellan.until_agent_is_not(id, &agent).await;
    assert!(next.is_alive());
    castellan.until_broker_is_not(id, &broker).await;
    castellan.until_running(id).await;
    assert_eq!(kcat.read("SCRAM-SHA-256").await, ["one", "two", "three", "four"]);
    kcat.write("SCRAM-SHA-256", "five").await;
}

async fn delete(castellan: &Installation, id: i64) {
    assert_eq!(castellan.delete(&format!("/api/instances/{id}")).await, 204);
    let (status, body) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_eq!((status, body), (404, json!({"error": "Invalid ID"})));
    castellan.until_gone(id).await;
}
