//! Clients that log in with certificates: made by openssl and keytool, signed through
//! the API, without rights until an ACL gives them some, and out within seconds of
//! being revoked, while every broker runs on. What is ours they never see.

use crate::day::Day;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use test_support::clients::{Clients, P256, REFUSED, REFUSED_WITHIN};
use test_support::installation::Installation;

const TOPIC: &str = "certified";
/// All of them are this user.
const USER: &str = "orders";
const PATIENCE: Duration = Duration::from_mins(1);
/// Every client, by what its key is or who made it.
const NAMES: [&str; 5] = ["p256", "p384", "rsa", "ed25519", "keytool"];

/// On return one of them is revoked, and the others are not.
pub async fn come_in_until_they_are_revoked(castellan: &Installation, instance: &Value) -> Clients {
    let day = Day::of(castellan, instance);
    let clients = Clients::new(castellan, instance, TOPIC).await;
    let before = castellan.processes();
    let user = json!({"name": USER, "type": "ssl"});
    assert_eq!(day.post("users", &user, 201).await, user, "it has no password");
    let users = day.get("users").await;
    assert!(users.as_array().unwrap().contains(&user), "{user} in {users}");
    // Every kind of key that is taken, as the brokers' Java takes it.
    let mut serials = Vec::new();
    for (name, key) in [
        ("p256", P256.as_slice()),
        ("p384", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
        ("rsa", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
        ("ed25519", &["-algorithm", "ED25519"]),
    ] {
        serials.push(clients.request(castellan, name, key, USER).await);
        let refused = clients.produce(name, "too early").await;
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("uthorization failed"), "{said}");
    }
    clients.request_by_keytool(castellan, "keytool", USER).await;
    clients.allow(castellan, USER).await;
    for name in NAMES {
        clients.write(name).await;
    }
    for listener in our_listeners(castellan) {
        let refused = clients.refusal_at(&listener, "p256").await;
        assert!(refused.is_ok(), "a customer's certificate at {listener}: {refused:?}");
    }
    // One that is connected when it happens, and does nothing but wait for more.
    let mut reader = clients.start_reading("p256");
    for name in NAMES {
        let heard = tokio::time::timeout(PATIENCE, reader.hear()).await.expect("it reads");
        assert_eq!(heard.unwrap().as_deref(), Some(name));
    }
    let path = format!("{}/ca/certificates/{}", clients.path, serials[0]);
    assert_eq!(castellan.delete(&path).await, 204);
    let revoked = Instant::now();
    let heard = tokio::time::timeout(REFUSED_WITHIN, reader.hear()).await;
    let said = std::fs::read_to_string(clients.file("reader", "log")).unwrap();
    assert_eq!(heard.unwrap_or_else(|_| panic!("it is still in: {said}")).unwrap(), None);
    assert!(said.contains(REFUSED), "{said}");
    assert!(!reader.end().await.unwrap().success());
    eprintln!("a revoked client was thrown out after {:?}", revoked.elapsed());
    let last = clients.until_refused("p256", revoked).await;
    eprintln!("a revoked certificate was refused after {:?}: {last}", revoked.elapsed());

    clients.write("ed25519").await;
    assert_eq!(castellan.processes(), before, "no broker was restarted for it");
    assert_eq!(day.get("cluster/status").await["configured"], true);
    assert_eq!(certificates(&day).await, (NAMES.len(), NAMES.len() - 1));
    clients
}

/// Brokers that were restarted since take and refuse whom they did before, and nobody
/// any more once the user is deleted.
pub async fn stay_as_they_were(castellan: &Installation, instance: &Value, clients: &Clients) {
    let day = Day::of(castellan, instance);
    let refused = clients.refusal("p256").await;
    assert!(refused.is_ok(), "it was revoked before servers were restarted: {refused:?}");
    clients.write("ed25519").await;

    day.delete(&format!("users/{USER}"), 200).await;
    clients.until_refused("ed25519", Instant::now()).await;
    assert_eq!(certificates(&day).await, (NAMES.len(), 0));
    let users = day.get("users").await;
    assert!(users.as_array().unwrap().iter().all(|it| it["name"] != USER), "{users}");
    let seen = day.witness.everything().await;
    assert!(!seen["acls"].to_string().contains(&format!("User:{USER}")), "{seen}");
}

/// How many certificates of the user are listed, and how many of them are good.
async fn certificates(day: &Day<'_>) -> (usize, usize) {
    let listed = day.get("ca/certificates").await;
    let all: Vec<&Value> =
        listed.as_array().unwrap().iter().filter(|it| it["cn"] == USER).collect();
    let good = all.iter().filter(|it| it["revoked_at"].is_null()).count();
    (all.len(), good)
}

/// Where one server listens to the others and to the control plane.
fn our_listeners(castellan: &Installation) -> Vec<String> {
    let servers = std::fs::read_dir(castellan.data().join("servers")).unwrap();
    let mut files: Vec<PathBuf> =
        servers.map(|entry| entry.unwrap().path().join("server.properties")).collect();
    files.sort();
    let settings = std::fs::read_to_string(&files[0]).unwrap();
    let all = settings.lines().find_map(|line| line.strip_prefix("listeners=")).unwrap();
    let ours = |it: &str| {
        let (name, place) = it.split_once("://").unwrap();
        ["INTERNAL", "CONTROLLER"].contains(&name).then(|| place.to_owned())
    };
    let ours: Vec<String> = all.split(',').filter_map(ours).collect();
    assert_eq!(ours.len(), 2, "{all}");
    ours
}
