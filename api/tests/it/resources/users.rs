//! Kafka users, and the default user's password.

use super::{cluster, get, lines, send};
use crate::call::Call;
use crate::world::World;
use futures::future::join_all;
use kafka::client::{Admin as _, Broker, Login, Mechanism};
use model::{Certificate, Instance, Secret, SignedDuration, UserName};
use serde_json::{Value, json};

#[tokio::test]
async fn made_once_and_deleted_with_their_rights() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let made = send(&world, "POST", &instance, "users", &json!({"name": "bob"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.header("cache-control"), "no-store");
    let password = made.json()["password"].as_str().unwrap().to_owned();
    assert_eq!(password.len(), 32);
    assert_eq!(made.json()["type"], "sasl");
    let by_certificate = json!({"name": "Eve.1", "type": "ssl"});
    let made = send(&world, "POST", &instance, "users", &by_certificate).await;
    assert_eq!(made.json(), by_certificate, "without a password");
    let rights = json!({"user": "bob", "rules": [
        {"operation": "write", "resource": "topic", "resource_pattern": "orders"}]});
    send(&world, "POST", &instance, "acls", &rights).await;

    let mut expected = vec![
        by_certificate.clone(),
        json!({"name": "ada", "type": "sasl"}),
        json!({"name": "bob", "type": "sasl"}),
        json!({"name": instance.username, "type": "sasl"}),
    ];
    expected.sort_by_key(|user| user["name"].as_str().unwrap().to_owned());
    assert_eq!(get(&world, &instance, "users").await, json!(expected));
    assert_eq!(get(&world, &instance, "acls").await.as_array().unwrap().len(), 2);
    for name in ["bob", "Eve.1"] {
        let rest = format!("users/{name}");
        let gone = send(&world, "DELETE", &instance, &rest, &Value::Null).await;
        assert_eq!(gone.status, 200, "{}", gone.text);
        send(&world, "DELETE", &instance, &rest, &Value::Null).await.expect_error(404, "Not Found");
    }
    assert_eq!(get(&world, &instance, "users").await.as_array().unwrap().len(), 2);
    assert_eq!(get(&world, &instance, "acls").await.as_array().unwrap().len(), 1);
    assert!(!world.audit().await.join("\n").contains(&password));
    assert_eq!(lines(&world, 1).await, ["user.delete user=Eve.1; outcome=done"]);
}

#[tokio::test]
async fn names_that_are_taken_or_ours() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    send(&world, "POST", &instance, "users", &json!({"name": "eve", "type": "ssl"})).await;
    for (asked, says) in [
        (json!({}), "Field is required"),
        (json!({"name": "ada"}), "exists already"),
        (json!({"name": "ada", "type": "ssl"}), "exists already"),
        (json!({"name": "eve"}), "exists already"),
        (json!({"name": instance.username}), "exists already"),
        (json!({"name": "castellan-x"}), "is reserved"),
        (json!({"name": "Admin"}), "is reserved"),
        (json!({"name": "ANONYMOUS"}), "is reserved"),
        (json!({"name": "*"}), "letters, digits"),
        (json!({"name": "."}), "must not be . or .."),
        (json!({"name": "..", "type": "ssl"}), "must not be . or .."),
        (json!({"name": "a,b"}), "letters, digits"),
        (json!({"name": "bob", "type": "ldap"}), "sasl or ssl"),
    ] {
        let refused = send(&world, "POST", &instance, "users", &asked).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{asked} {}", refused.text);
    }
    let rest = format!("users/{}", instance.username);
    let refused = send(&world, "DELETE", &instance, &rest, &Value::Null).await;
    assert!(refused.status == 400 && refused.text.contains("default user"), "{}", refused.text);
    for name in ["bob", "castellan", "broker-1", "a%2Cb"] {
        let rest = format!("users/{name}");
        send(&world, "DELETE", &instance, &rest, &Value::Null).await.expect_error(404, "Not Found");
    }
}

/// The first that is asked was just restarted and still reads what it missed.
#[tokio::test]
async fn a_name_that_any_server_knows_is_taken() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-3").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    world.kafka.hold_view(servers[0].node_id, SignedDuration::from_hours(1));
    let another = at.through(&at.brokers[1]);
    world.kafka.set_scram_user(&another, "bob", &Secret::new("a password")).await.unwrap();
    world.pass_time();
    for kind in ["sasl", "ssl"] {
        let asked = json!({"name": "bob", "type": kind});
        let refused = send(&world, "POST", &instance, "users", &asked).await;
        let says = refused.text.contains("exists already");
        assert!(refused.status == 400 && says, "{kind}: {}", refused.text);
    }
    let sign = async |name: &str| {
        let csr = pki::request(&pki::KeyPair::generate(), name).unwrap();
        send(&world, "POST", &instance, "ca/sign", &json!({"csr": csr})).await
    };
    let refused = sign("bob").await;
    let says = refused.text.contains("is a user with a password");
    assert!(refused.status == 400 && says, "{}", refused.text);
    // Who does not answer is in nobody's way.
    world.kafka.kill(servers[0].node_id);
    world.pass_time();
    assert_eq!(sign("bob").await.status, 400);
    assert_eq!(sign("carol").await.status, 200);
    let made = send(&world, "POST", &instance, "users", &json!({"name": "dave"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
}

/// Kafka's own protocol takes names that are refused here; what it made can go.
#[tokio::test]
async fn names_that_only_kafka_gives_are_told_and_go_like_others() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    // Ours stay hidden, whatever else is in their names.
    for name in ["alice@corp", "castellan@corp"] {
        world.admit(&instance, name).await;
    }
    let names = async |rest: &str| -> Vec<String> {
        let list = get(&world, &instance, rest).await;
        let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
        let names = list.as_array().unwrap().iter().map(name);
        names.filter(|name| *name != instance.username).collect()
    };
    assert_eq!(names("users").await, ["ada", "alice@corp"]);
    assert_eq!(names("acls").await, ["ada", "alice@corp"]);
    let acl = get(&world, &instance, "acls").await[1]["id"].to_string();
    let rest = format!("acls/{acl}");
    let gone = send(&world, "DELETE", &instance, &rest, &Value::Null).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(names("acls").await, ["ada"]);

    world.admit(&instance, "alice@corp").await;
    assert_eq!(names("acls").await, ["ada", "alice@corp"]);
    let gone = send(&world, "DELETE", &instance, "users/alice%40corp", &Value::Null).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(lines(&world, 1).await, ["user.delete user=alice@corp; outcome=done"]);
    assert_eq!(names("users").await, ["ada"]);
    assert_eq!(names("acls").await, ["ada"]);
    for name in ["alice%40corp", "castellan%40corp"] {
        let rest = format!("users/{name}");
        send(&world, "DELETE", &instance, &rest, &Value::Null).await.expect_error(404, "Not Found");
    }
}

/// Whether a password is the one that Kafka takes.
pub async fn lets_in(world: &World, instance: &Instance, username: &str, password: &str) -> bool {
    let servers = world.servers(instance.id).await;
    let login = Login {
        instance: instance.id,
        brokers: servers.iter().map(Broker::sasl_scram).collect(),
        trust_pem: String::new(),
        username: username.to_owned(),
        password: Secret::new(password),
        mechanism: Mechanism::ALL[0],
    };
    world.kafka.check_login(&login).await.is_ok()
}

#[tokio::test]
async fn of_several_calls_at_once_one_makes_the_user_and_its_password_is_good() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    for (name, other) in [("bob", "sasl"), ("eve", "ssl")] {
        let kinds = ["sasl", other, "sasl", other];
        let bodies = kinds.map(|kind| json!({"name": name, "type": kind}));
        let calls = bodies.iter().map(|body| send(&world, "POST", &instance, "users", body));
        let (made, refused): (Vec<_>, Vec<_>) =
            join_all(calls).await.into_iter().partition(|answer| answer.status == 201);
        assert_eq!(made.len(), 1, "{name}");
        for answer in refused {
            let says = ["is being given out by another call", "exists already"];
            let known = says.iter().any(|says| answer.text.contains(says));
            assert!(answer.status == 400 && known, "{name}: {}", answer.text);
        }
        if let Some(password) = made[0].json()["password"].as_str() {
            assert!(lets_in(&world, &instance, name, password).await, "{name}");
        }
        let listed = get(&world, &instance, "users").await;
        let named = listed.as_array().unwrap().iter().filter(|user| user["name"] == name);
        assert_eq!(named.count(), 1, "{listed}");
    }
}

#[tokio::test]
async fn an_expired_certificate_is_nobody_s() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    // A broker whose clock is late takes one for some hours more.
    for (serial, cn, hours_ago, expected) in [("1", "bob", 1, 400), ("2", "eve", 25, 201)] {
        let expires_at = world.app.now() - SignedDuration::from_hours(hours_ago);
        let certificate = Certificate {
            serial: serial.repeat(32).parse().unwrap(),
            cn: UserName::parse(cn).unwrap(),
            issued_at: expires_at - SignedDuration::from_hours(24 * 397),
            expires_at,
            revoked_at: None,
        };
        let mut work = world.app.store().begin().await.unwrap();
        store::certificates::insert(&mut work, instance.id, &certificate).await.unwrap();
        work.commit().await.unwrap();
        let made = send(&world, "POST", &instance, "users", &json!({"name": cn})).await;
        assert_eq!(made.status.as_u16(), expected, "{cn}: {}", made.text);
    }
}

#[tokio::test]
async fn who_has_a_certificate_gets_no_password_and_loses_it_with_the_user() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    send(&world, "POST", &instance, "users", &json!({"name": "eve", "type": "ssl"})).await;
    let issued_at = world.app.now();
    for (serial, cn) in [("1", "eve"), ("2", "eve"), ("3", "mallory")] {
        let certificate = Certificate {
            serial: serial.repeat(32).parse().unwrap(),
            cn: UserName::parse(cn).unwrap(),
            issued_at,
            expires_at: issued_at + SignedDuration::from_hours(1),
            revoked_at: None,
        };
        let mut work = world.app.store().begin().await.unwrap();
        store::certificates::insert(&mut work, instance.id, &certificate).await.unwrap();
        work.commit().await.unwrap();
    }
    let refused = send(&world, "POST", &instance, "users", &json!({"name": "mallory"})).await;
    assert!(refused.status == 400 && refused.text.contains("revoke it first"), "{}", refused.text);
    let gone = send(&world, "DELETE", &instance, "users/eve", &Value::Null).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    let mut reader = world.app.store().reader();
    let revoked = store::certificates::revoked(&mut reader, instance.id, issued_at).await.unwrap();
    assert_eq!(revoked, ["1".repeat(32), "2".repeat(32)]);
    // Each is in the audit log, as if it had been revoked by itself.
    let line = |digit: &str| format!("certificate.revoke serial={}; cn=eve", digit.repeat(32));
    let done = "user.delete user=eve; outcome=done".to_owned();
    assert_eq!(lines(&world, 3).await, [line("1"), line("2"), done]);
}

#[tokio::test]
async fn another_password_is_told_at_once_and_followed() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let rest = "account/rotate-password";
    let rotated = send(&world, "POST", &instance, rest, &Value::Null).await;
    assert_eq!((rotated.status.as_u16(), rotated.text.as_str()), (204, ""));
    let after = world.load(instance.id.0).await;
    assert_ne!(after.password, instance.password);
    assert!(after.kafka_generation > after.progress.kafka_observed, "the engine follows");
    let details = Call::get("/api/details").key(&instance.apikey).send(&world.instance).await;
    assert!(details.text.contains(after.password.expose()), "{}", details.text);
    assert_eq!(lines(&world, 1).await, ["instance.rotate_password "]);
}
