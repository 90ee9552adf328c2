//! Client quotas: set, changed, removed.

use super::{cluster, get, lines, send};
use crate::call::Call;
use crate::world::World;
use kafka::simulated::Fault;
use model::{DiskGuard, DiskLevel};
use serde_json::{Value, json};
use std::time::Duration;
use store::disk_guards;

#[tokio::test]
async fn a_quota_is_set_read_changed_and_removed() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let put = async |body: Value| {
        let answer = send(&world, "PUT", &instance, "quotas", &body).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        answer.json()
    };
    assert_eq!(get(&world, &instance, "quotas").await, json!([]));
    let set =
        put(json!({"user": "ada", "producer_byte_rate": 1_048_576, "request_percentage": 12.5}));
    insta::assert_json_snapshot!("quota", set.await);
    put(json!({"user": "<default>", "controller_mutation_rate": 5})).await;
    put(json!({"client_id": "reports", "consumer_byte_rate": 1000})).await;
    put(json!({"user": "ada", "client_id": "<default>", "consumer_byte_rate": 2000})).await;
    let all = get(&world, &instance, "quotas").await;
    insta::assert_json_snapshot!("quotas", all);
    assert_eq!(get(&world, &instance, "quotas").await, all, "the same order again");
    // Null removes one limit, and what is not named stays.
    let less = put(json!({"user": "ada", "producer_byte_rate": null})).await;
    assert_eq!(
        (&less["producer_byte_rate"], &less["request_percentage"]),
        (&Value::Null, &json!(12.5))
    );
    let half = put(json!({"user": "ada", "request_percentage": 0.5})).await;
    assert_eq!(half["request_percentage"], 0.5, "anything above 0");
    let gone = send(&world, "DELETE", &instance, "quotas?user=ada", &Value::Null).await;
    assert_eq!(gone.status, 204);
    let again = send(&world, "DELETE", &instance, "quotas?user=ada", &Value::Null).await;
    again.expect_error(404, "Not Found");
    let both = "quotas?user=ada&client_id=%3Cdefault%3E";
    assert_eq!(send(&world, "DELETE", &instance, both, &Value::Null).await.status, 204);
    assert_eq!(get(&world, &instance, "quotas").await.as_array().unwrap().len(), 2);
    let audit = lines(&world, 2).await;
    assert_eq!(
        audit[1],
        "quota.update user=ada; client_id=<default>; consumer_byte_rate=none; outcome=done"
    );
}

#[tokio::test]
async fn what_is_no_quota_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let check = async |body: Value, expected: &str| {
        let answer = send(&world, "PUT", &instance, "quotas", &body).await;
        answer.expect_error(400, expected);
    };
    let whose = "user: name a user, a client_id, or both; <default> stands for those without a quota of their own";
    check(json!({"producer_byte_rate": 1}), whose).await;
    check(json!({"user": "ada"}), "Give at least one limit: producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate").await;
    check(
        json!({"user": "ada", "producer_byte_rate": "1"}),
        "producer_byte_rate: must be a number",
    )
    .await;
    let positive = "producer_byte_rate: must be greater than 0; null removes the limit";
    check(json!({"user": "ada", "producer_byte_rate": 0}), positive).await;
    check(json!({"user": "ada", "producer_byte_rate": -5}), positive).await;
    let rounded = "consumer_byte_rate: must be a whole number of bytes a second";
    check(json!({"user": "ada", "consumer_byte_rate": 1.5}), rounded).await;
    for name in ["castellan", "broker-1", "controller", "agent7"] {
        let reserved = "user: is reserved for the cluster itself";
        check(json!({"user": name, "producer_byte_rate": 1}), reserved).await;
    }
    // The control plane's own.
    let reserved = "client_id: is reserved for the cluster itself";
    check(json!({"client_id": "castellan", "request_percentage": 1}), reserved).await;
    assert_eq!(get(&world, &instance, "quotas").await, json!([]));
}

#[tokio::test]
async fn shared_plans_have_none() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let shared = world.share(&instance).await;
    let answer = Call::get("/api/quotas").key(&shared.apikey).send(&world.instance).await;
    answer.expect_error(400, "Not available on shared plans");
}

/// A call that passed the check before a disk was nearly full, and whose change comes after
/// the limits of the engine.
#[tokio::test]
async fn a_quota_that_is_late_does_not_outdo_the_slowing_of_producers() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let server = world.servers(instance.id).await.remove(0);
    // The present quotas are read first.
    world.kafka.fail_after(1, Fault::Refused);
    world.kafka.fail_next(Fault::Refused, 1000);
    let before = world.kafka.calls();
    let fast = json!({"user": "ada", "client_id": "app", "producer_byte_rate": 1_000_000_000});
    let put = send(&world, "PUT", &instance, "quotas", &fast);
    let meanwhile = async {
        let asked = tokio::time::timeout(Duration::from_secs(10), async {
            while world.kafka.calls() < before + 2 {
                tokio::task::yield_now().await;
            }
        });
        assert!(asked.await.is_ok(), "Kafka was not asked");
        let guard = DiskGuard {
            instance_id: instance.id,
            server_id: server.id,
            level: DiskLevel::Slowed,
            since: world.app.now(),
        };
        let mut work = world.app.store().begin().await.unwrap();
        disk_guards::set(&mut work, &guard).await.unwrap();
        work.commit().await.unwrap();
        world.kafka.forget_faults();
    };
    let (set, ()) = tokio::join!(put, meanwhile);
    assert_eq!(set.status, 200, "{}", set.text);
    let after = world.load(instance.id.0).await;
    assert_eq!(after.kafka_generation, instance.kafka_generation + 1, "the engine looks again");
}
