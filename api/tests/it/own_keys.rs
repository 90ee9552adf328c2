//! Keys that people make for themselves, and when they end.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Role, Secret, SignedDuration};
use serde_json::{Value, json};

async fn create(world: &World, key: &Secret, body: &Value) -> Answer {
    Call::post("/api/apikeys").key(key).json(body).send(&world.customer).await
}

/// A key that was made, and its id.
async fn made(world: &World, key: &Secret, body: &Value) -> (Secret, String) {
    let answer = create(world, key, body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text);
    let text = |name: &str| answer.json()[name].as_str().unwrap().to_owned();
    (Secret::new(text("apikey")), text("id"))
}

async fn list(world: &World, key: &Secret) -> Vec<Value> {
    let answer = Call::get("/api/apikeys").key(key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json().as_array().unwrap().clone()
}

async fn delete(world: &World, key: &Secret, id: &str) -> Answer {
    Call::delete(&format!("/api/apikeys/{id}")).key(key).send(&world.customer).await
}

async fn plans(world: &World, key: &Secret) -> u16 {
    Call::get("/api/plans").key(key).send(&world.customer).await.status.as_u16()
}

#[tokio::test]
async fn a_key_is_made_used_listed_and_deleted() {
    let world = World::new().await;
    let (_, ada) = world.user("ada@example.test", Role::Member, &["prod", "eu"]).await;
    let body = json!({"comment": "ci", "role": "monitor", "tags": ["eu"],
                      "expires_at": "2027-01-01T01:00:00+01:00"});
    let answer = create(&world, &ada, &body).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let (secret, id) = made(&world, &ada, &body).await;
    assert_eq!(secret.expose().len(), 43);
    assert_eq!(plans(&world, &secret).await, 200);
    app::apikeys::flush_last_used(&world.app).await.unwrap();

    let listed = list(&world, &ada).await;
    assert_eq!(listed.len(), 3, "the one of the test, and two more");
    let mut one = listed.into_iter().find(|key| key["id"] == *id).unwrap();
    one["id"] = json!("[id]");
    insta::assert_snapshot!("listed_key", serde_json::to_string_pretty(&one).unwrap());
    assert_eq!(
        world.audit().await.last().unwrap(),
        "apikey.create customer-api 192.0.2.7 ada@example.test role=monitor; comment=ci; \
         expires_at=2027-01-01T00:00:00Z"
    );

    assert_eq!(delete(&world, &ada, &id).await.status, 204);
    assert_eq!(plans(&world, &secret).await, 401);
    delete(&world, &ada, &id).await.expect_error(404, "Not Found");
    assert_eq!(
        world.audit().await.last().unwrap(),
        "apikey.revoke customer-api 192.0.2.7 ada@example.test email=ada@example.test; comment=ci"
    );
    // The one in use, too.
    let own = world.key_id(&ada).await.to_string();
    assert_eq!(delete(&world, &ada, &own).await.status, 204);
    assert_eq!(plans(&world, &ada).await, 401);
}

#[tokio::test]
async fn keys_of_others_are_for_admins_of_the_same_account() {
    let world = World::new().await;
    let (_, ada) = world.user("ada@example.test", Role::Member, &[]).await;
    let (_, bob) = world.user("bob@example.test", Role::Devops, &[]).await;
    let (_, id) = made(&world, &ada, &json!({})).await;
    let stranger = world.stranger().await;
    for other in [&bob, &stranger] {
        delete(&world, other, &id).await.expect_error(404, "Not Found");
        assert!(list(&world, other).await.iter().all(|key| key["id"] != *id));
    }
    let emails = async |key: &Secret| -> Vec<String> {
        let email = |key: Value| key["email"].as_str().unwrap().to_owned();
        list(&world, key).await.into_iter().map(email).collect()
    };
    assert_eq!(emails(&bob).await, ["bob@example.test"]);
    assert_eq!(emails(&stranger).await, ["other@example.test"]);
    assert_eq!(emails(&world.key).await.len(), 4);
    // An admin whose key is a lesser one manages nobody.
    let (lesser, _) = made(&world, &world.key, &json!({"role": "devops"})).await;
    assert_eq!(emails(&lesser).await, ["owner@example.test", "owner@example.test"]);
    delete(&world, &lesser, &id).await.expect_error(404, "Not Found");
    assert_eq!(delete(&world, &world.key, &id).await.status, 204);
    for nonsense in ["7", "x", "00000000-0000-0000-0000-000000000000"] {
        delete(&world, &world.key, nonsense).await.expect_error(404, "Not Found");
    }
}

/// Key by key a caller can't climb.
#[tokio::test]
async fn no_key_makes_a_stronger_or_longer_lived_one() {
    let world = World::new().await;
    let body = json!({"role": "member", "tags": ["prod"], "expires_at": "2026-12-01T00:00:00Z"});
    let (key, _) = made(&world, &world.key, &body).await;
    for (body, error) in [
        (json!({"role": "devops"}), "role: devops is more than your own, member"),
        (json!({"tags": ["test"]}), "tags: test is none of your own"),
        (
            json!({"expires_at": "2026-12-01T00:00:01Z"}),
            "expires_at: must not be after 2026-12-01T00:00:00Z, when your own key expires",
        ),
    ] {
        create(&world, &key, &body).await.expect_error(400, error);
    }
    let (_, id) = made(&world, &key, &json!({})).await;
    let listed = list(&world, &world.key).await;
    let one = listed.iter().find(|key| key["id"] == *id).unwrap();
    assert_eq!((&one["role"], &one["tags"]), (&json!("member"), &json!(["prod"])));
    assert_eq!(one["expires_at"], "2026-12-01T00:00:00Z");
}

#[tokio::test]
async fn what_a_new_key_refuses() {
    let world = World::new().await;
    let mut shown = Vec::new();
    for body in [
        json!({"comment": "x".repeat(256)}),
        json!({"comment": "a\nb"}),
        json!({"comment": 7}),
        json!({"role": "root"}),
        json!({"role": "devops", "tags": ["a"]}),
        json!({"role": "member", "tags": "a"}),
        json!({"role": "member", "tags": ["a,b"]}),
        json!({"expires_at": "2026-11-15"}),
        json!({"expires_at": "2026-11-15T12:00:00Z"}),
        json!({"expires_at": 1_800_000_000}),
        json!({"role": "king", "expires_at": "never", "comment": "\u{0}"}),
    ] {
        let answer = create(&world, &world.key, &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        shown.push(format!("{body}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_keys", shown.join("\n"));
    assert_eq!(list(&world, &world.key).await.len(), 1);
}

#[tokio::test]
async fn a_key_stops_when_it_expires_and_a_new_one_in_its_place_as_well() {
    let world = World::new().await;
    let body = json!({"expires_at": "2026-11-15T13:00:00Z"});
    let (rotated, _) = made(&world, &world.key, &body).await;
    let (key, _) = made(&world, &world.key, &body).await;
    let call = Call::post("/api/apikeys/rotate-apikey").key(&rotated);
    let answer = call.send(&world.customer).await;
    let rotated = Secret::new(answer.json()["apikey"].as_str().unwrap());
    world.clock.advance(SignedDuration::from_secs(3599));
    for key in [&key, &rotated] {
        assert_eq!(plans(&world, key).await, 200);
    }
    world.clock.advance(SignedDuration::from_secs(1));
    for key in [&key, &rotated] {
        let call = Call::get("/api/plans").key(key);
        call.send(&world.customer).await.expect_error(401, "Not authorized");
    }
    assert_eq!(list(&world, &world.key).await.len(), 3, "it is listed for a month");
    world.clock.advance(SignedDuration::from_hours(24 * 30));
    app::retention::tidy(&world.app).await.unwrap();
    assert_eq!(list(&world, &world.key).await.len(), 1);
}

#[tokio::test]
async fn a_user_has_fifty_keys_at_most() {
    let world = World::new().await;
    for _ in 1..50 {
        made(&world, &world.key, &json!({})).await;
    }
    let refused = create(&world, &world.key, &json!({})).await;
    let sentence = "A user can have at most 50 API keys; delete those that are not needed";
    refused.expect_error(400, sentence);
    // Of somebody else they are counted apart, and so is one in the place of another.
    let (_, ada) = world.user("ada@example.test", Role::Member, &[]).await;
    made(&world, &ada, &json!({})).await;
    let rotate = Call::post("/api/apikeys/rotate-apikey").key(&world.key);
    assert_eq!(rotate.send(&world.customer).await.status, 200);
}
