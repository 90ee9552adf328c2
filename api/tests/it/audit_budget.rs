//! One key can't fill the audit log, and hides nothing by trying.

use crate::call::Call;
use crate::resources::{cluster, send};
use crate::world::World;
use app::{Limits, Operator, Settings};
use model::{Instance, Role, SignedDuration};
use serde_json::{Value, json};

/// All that the lines say, in bytes.
async fn bytes(world: &World) -> usize {
    world.audit().await.iter().map(String::len).sum()
}

fn rules(count: usize) -> Value {
    let rule = |n| {
        json!({"operation": "read", "resource": "topic",
            "resource_pattern": format!("{n}-{}", "x".repeat(1900))})
    };
    (0..count).map(rule).collect()
}

#[tokio::test]
async fn a_call_that_changes_nothing_leaves_no_line_however_often_it_is_repeated() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let before = bytes(&world).await;
    let asked = json!({"user": "ada", "rules": rules(100)});
    let first = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!(first.status, 201, "{}", first.text);
    let after = bytes(&world).await;
    assert!(after - before < 3000, "{}", after - before);
    let log = world.audit().await;
    let [attempted, done] = log.last_chunk().unwrap();
    assert!(attempted.contains("outcome=attempted; rest=19"), "{attempted}");
    assert!(attempted.contains(" bytes more, sha256:"), "{attempted}");
    assert!(done.contains("outcome=done; rest=19") && done.len() < 700, "{done}");
    for _ in 0..50 {
        let again = send(&world, "POST", &instance, "acls", &asked).await;
        assert_eq!((again.status, again.json()), (first.status, first.json()));
    }
    assert_eq!(bytes(&world).await, after);
    // One that is new is told, with those that were there.
    let more = json!({"user": "ada", "rules": rules(101).as_array().unwrap()[1..]});
    assert_eq!(send(&world, "POST", &instance, "acls", &more).await.status, 201);
    assert!(bytes(&world).await > after);
}

#[tokio::test]
async fn what_is_as_asked_for_is_not_written_again() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let topic = json!({"name": "orders", "config": {"retention.ms": "1000"}});
    assert_eq!(send(&world, "POST", &instance, "topics", &topic).await.status, 201);
    world.use_cluster(&instance).await;
    let recipient = json!({"type": "slack", "value": "https://hooks.slack.com/services/x"});
    let made = send(&world, "POST", &instance, "alarms/recipients", &recipient).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let token = json!({"token": "a"});
    let made = send(&world, "POST", &instance, "integrations/logs/loggly", &token).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let mut renamed = recipient;
    renamed["name"] = "ops".into();
    let calls = [
        ("PUT", "topics/orders", json!({"config": {"retention.ms": "2000"}}), 2),
        ("PUT", "quotas", json!({"user": "ada", "producer_byte_rate": 4096}), 2),
        ("POST", "groups/billing/reset", json!({"strategy": "to-latest"}), 2),
        ("PUT", "alarms/recipients/2", renamed, 1),
        ("PUT", "integrations/logs/1", json!({"token": "b"}), 1),
        ("PUT", "security/firewall", json!([{"ip": "203.0.113.0/24", "ports": [9094]}]), 1),
    ];
    for (method, path, body, lines) in calls {
        let mut counts = vec![world.audit().await.len()];
        for _ in 0..3 {
            let answer = send(&world, method, &instance, path, &body).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.text);
            world.pass_time();
            counts.push(world.audit().await.len());
        }
        let written: Vec<usize> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(written, [lines, 0, 0], "{path}");
    }
}

/// Renames it back and forth.
async fn flood(world: &World, instance: &Instance, calls: usize) {
    for n in 0..calls {
        let body = format!("name=orders-{}", n % 2);
        let call = Call::put(&format!("/api/instances/{}", instance.id)).key(&world.key);
        assert_eq!(call.form(&body).send(&world.customer).await.status, 200);
    }
}

#[tokio::test]
async fn a_flood_is_summed_up_and_hides_nothing_that_matters() {
    const BUDGET: i64 = 64 * 1024;
    let settings = Settings { audit_bytes_per_day: BUDGET, ..Settings::default() };
    let mut world = World::with(settings).await;
    let instance = world.create("orders", &[]).await;
    let (member, _) = world.user("ada@example.test", Role::Member, &[]).await;
    let begun = world.audit().await.len();
    flood(&world, &instance, 300).await;
    let written = world.audit().await.len() - begun;
    assert!((30..150).contains(&written), "{written}");

    // What decides who may do what is there in full.
    let change = Call::put(&format!("/api/team/{member}")).key(&world.key).form("role=admin");
    assert!(change.send(&world.customer).await.status.is_success());
    let last = world.audit().await.pop().unwrap();
    assert!(last.starts_with("team.update") && last.contains("ada@example.test"), "{last}");
    for _ in 0..20 {
        let call = Call::post("/api/apikeys/rotate-apikey").key(&world.key);
        let answer = call.send(&world.customer).await;
        world.key = model::Secret::new(answer.json()["apikey"].as_str().unwrap());
    }
    let path = format!("/api/instances/{}", instance.id);
    assert_eq!(Call::delete(&path).key(&world.key).send(&world.customer).await.status, 204);
    let last = world.audit().await.pop().unwrap();
    assert!(last.starts_with("instance.delete"), "{last}");
    // So is what the operator does.
    for n in 0..20 {
        let new = app::apikeys::NewKey { comment: format!("{n}"), ..<_>::default() };
        app::apikeys::create(Operator::of_opened_store(), &world.app, member, new).await.unwrap();
    }
    let keys = world.audit().await.iter().filter(|it| it.starts_with("apikey.create")).count();
    assert!(keys >= 20, "{keys}");
    let rotated = world.audit().await.iter().filter(|it| it.starts_with("apikey.rotate")).count();
    assert!((1..10).contains(&rotated), "{rotated}");

    // The rest is one line once the hour is over, and is told once.
    let count = world.audit().await.len();
    app::retention::tidy(&world.app).await.unwrap();
    assert_eq!(world.audit().await.len(), count, "the hour goes on");
    world.clock.advance(SignedDuration::from_hours(1));
    for _ in 0..2 {
        app::retention::tidy(&world.app).await.unwrap();
    }
    let mut log = world.audit().await;
    assert_eq!(log.len(), count + 1);
    let summary = log.pop().unwrap();
    let (updates, rotations) = (300 - written, 20 - rotated);
    assert_eq!(
        summary,
        format!(
            "audit.summary system system@localhost from=2026-11-15T12:00:00Z; \
             to=2026-11-15T12:00:00Z; apikey.rotate={rotations} ({rotations} by \
             owner@example.test); instance.update={updates} ({updates} by owner@example.test)"
        )
    );
    app::auditlog::seal_due(&world.app).await.unwrap();
    let verified = app::auditlog::verify(&world.app, Some(world.account), None).await.unwrap();
    assert!(verified[0].is_whole(), "{verified:?}");

    // The next day begins with a budget of its own.
    world.clock.advance(SignedDuration::from_hours(24));
    let instance = world.create("other", &[]).await;
    flood(&world, &instance, 1).await;
    assert!(world.audit().await.pop().unwrap().starts_with("instance.update"));
}

#[tokio::test]
async fn instances_are_created_at_a_bounded_rate() {
    let limits = Limits { creates_per_day: 2, ..Limits::NONE };
    let world = World::with(Settings { limits, ..Settings::default() }).await;
    let body = json!({"name": "a", "plan": "mouse-1", "region": "local::this-machine"});
    let create = async || {
        Call::post("/api/instances").key(&world.key).json(&body).send(&world.customer).await
    };
    for _ in 0..2 {
        let made = create().await;
        let path = format!("/api/instances/{}", made.json()["id"]);
        assert_eq!(Call::delete(&path).key(&world.key).send(&world.customer).await.status, 204);
    }
    let refused = create().await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("at most 2 instances within 24 hours"), "{}", refused.text);
    world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(create().await.status, 200);
}
