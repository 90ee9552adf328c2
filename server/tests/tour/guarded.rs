//! The guard of a disk, on the real cluster: nearly full, producers are slowed down,
//! which `status` and Kafka itself say; full, the broker ends and is started again in
//! the place of the ballast; with room again everything is as it was.

use crate::day::Day;
use serde_json::{Value, json};
use test_support::installation::Installation;
use test_support::tight::Tight;

/// Of a disk of 1.6 GB: more than 95 % of it are taken.
const LEFT: u64 = 60_000_000;

pub async fn slows_producers_down_and_starts_again(
    castellan: &Installation,
    instance: &Value,
    tight: &Tight,
) {
    let day = Day::of(castellan, instance);
    let id = instance["id"].as_i64().unwrap();
    let slowed = format!(
        "running, but producers are slowed down: the disk of server {} is nearly full",
        tight.server + 1
    );
    let ballast = castellan.disk(tight.server).join("ballast");
    let until_ballast = async |there: bool| {
        castellan
            .until("the ballast is as it should be", async || {
                if ballast.exists() == there { Ok(()) } else { Err(ballast.exists()) }
            })
            .await;
    };
    castellan.until_running(id).await;
    until_ballast(true).await;
    // A limit of one client id would be multiplied by having many.
    let pair = json!({"user": "bob", "client_id": "app", "producer_byte_rate": 1_000_000_000});
    let (status, said) = castellan.put(&day.path("quotas"), &pair).await;
    assert_eq!(status, 200, "{said}");
    let before = day.get("quotas").await;
    let until_as_before = async || {
        castellan.until_running(id).await;
        castellan
            .until("quotas are as they were", async || {
                let quotas = day.get("quotas").await;
                if quotas == before { Ok(()) } else { Err(quotas) }
            })
            .await;
    };

    let mut nearly = tight.filling(LEFT).inject().await.unwrap();
    castellan.until_status(id, &slowed).await;
    let limits = |quotas: &Value| -> Vec<[Value; 3]> {
        let limit = |quota: &Value| {
            ["user", "client_id", "producer_byte_rate"].map(|name| quota[name].clone())
        };
        let all = quotas.as_array().unwrap().iter().map(limit);
        all.filter(|[_, _, rate]| !rate.is_null()).collect()
    };
    castellan
        .until("Kafka has one limit, by user", async || {
            let quotas = day.get("quotas").await;
            let slow = [json!("<default>"), Value::Null, json!(65521)];
            if limits(&quotas) == [slow] { Ok(()) } else { Err(quotas) }
        })
        .await;
    let refused = json!({"user": "bob", "producer_byte_rate": 1000});
    let (status, said) = castellan.put(&day.path("quotas"), &refused).await;
    assert_eq!(status, 400, "{said}");
    nearly.undo().await.unwrap();
    until_as_before().await;

    let broker = castellan.processes()[tight.server].broker.clone();
    let mut full = tight.filled().inject().await.unwrap();
    let again = castellan.until_broker_is_not(tight.server, &broker).await;
    castellan.until_status(id, &slowed).await;
    assert!(!ballast.exists(), "it gave its place");
    assert_eq!(castellan.processes()[tight.server].broker, again, "it stays");
    full.undo().await.unwrap();
    until_as_before().await;
    until_ballast(true).await;
    day.delete("quotas?user=bob&client_id=app", 204).await;
}
