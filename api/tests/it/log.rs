//! What the log tells. In a program of its own, because a subscriber that is
//! set for one thread misses what other tests have switched off.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

#[expect(dead_code, reason = "the other tests use the rest of it")]
mod call;
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod keys_of_systems;
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod world;

use call::Call;
use keys_of_systems::{Filled, KEY};
use serde_json::json;
use std::sync::{Arc, Mutex};
use world::World;

#[derive(Default)]
struct Log(Mutex<Vec<u8>>);

impl std::io::Write for &Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn logs_hold_no_query_no_body_and_no_key() {
    let log = Arc::new(Log::default());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let world = World::new().await;
    let instance = world.create("named-in-the-body", &[]).await;
    let path = "/api/plans?backend=asked-in-the-query";
    Call::get(path).key(&world.key).send(&world.customer).await;
    Call::get("/api/details").key(&instance.apikey).send(&world.instance).await;
    let invite = Call::post("/api/team/invite").key(&world.key).form("email=ada@example.test");
    invite.send(&world.customer).await;
    let mail = world.mails().await.remove(0).text;
    let token = mail.split("/invitations/").nth(1).unwrap().split_whitespace().next().unwrap();
    let link = format!("/invitations/{token}");
    Call::get(&link).send(&world.customer).await;
    Call::post(&link).form("name=Ada&password=a-secret-of-ada").send(&world.customer).await;
    let path = format!("/api/instances/{}/alarms/recipients", instance.id);
    let recipient = Call::post(&path).key(&world.key).form("type=email&value=eve@example.com");
    recipient.send(&world.customer).await;
    let integrations = format!("/api/instances/{}/integrations", instance.id);
    for Filled { kind, system, settings, .. } in keys_of_systems::all() {
        let create = Call::post(&format!("{integrations}/{kind}/{system}")).key(&world.key);
        let made = create.json(&json!(settings)).send(&world.customer).await;
        assert_eq!(made.status, 201, "{}", made.text);
        let one = format!("{integrations}/{kind}/{}", made.json()["id"]);
        let again = Call::put(&one).key(&world.key).json(&json!(settings));
        assert_eq!(again.send(&world.customer).await.status, 204);
        let test = Call::post(&format!("{one}/test")).key(&world.key);
        assert_eq!(test.send(&world.customer).await.status, 200);
    }
    let mail = world.mails().await.remove(0).text;
    let other = mail.split("/confirmations/").nth(1).unwrap().split_whitespace().next().unwrap();
    Call::post(&format!("/confirmations/{other}")).form("answer=allow").send(&world.customer).await;
    // Mistyped, or sent to where no such page is.
    for path in [
        format!("/api/confirmations/{other}"),
        format!("/Confirmations%2F{other}"),
        format!("{link}/"),
        format!("{link}/x"),
        format!("/{link}"),
        format!("/api{link}"),
        format!("/invitations//{token}"),
        format!("/invitations%2F{token}"),
        format!("/Invitations/{token}"),
    ] {
        Call::get(&path).send(&world.customer).await;
        Call::get(&path).send(&world.instance).await;
    }
    for router in [&world.instance, &world.agent] {
        Call::get(&link).send(router).await;
    }

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("/api/plans") && log.contains("192.0.2.7"), "{log}");
    assert!(log.contains("/invitations/{token}"), "{log}");
    for hidden in [
        "named-in-the-body",
        "asked-in-the-query",
        "Basic",
        token,
        other,
        "a-secret-of-ada",
        KEY,
        world.key.expose(),
        instance.apikey.expose(),
        instance.password.expose(),
    ] {
        assert!(!log.contains(hidden), "{hidden} is in the log: {log}");
    }
}
