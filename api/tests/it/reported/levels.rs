//! Alarms on partitions and certificates: reported, told, and over again.

use super::{Cluster, Told, Values};
use model::{NotificationState, Series};
use serde_json::{Value, json};

/// What is told next, and after how many samples.
async fn until_told(
    cluster: &mut Cluster,
    measures: impl Fn(usize, Values) -> Option<Values>,
) -> (usize, Vec<Told>) {
    for sample in 1..=30 {
        cluster.lives(&measures).await;
        let told = cluster.told().await;
        if !told.is_empty() {
            return (sample, told);
        }
    }
    panic!("nobody is told of anything")
}

/// One server measures something bad and then something good: that is told of it, after
/// so many samples, and nothing else.
async fn check(alarm: Value, (series, bad, good): (Series, f32, f32), fires_after: usize) {
    let kind = alarm["type"].as_str().unwrap().to_owned();
    let mut cluster = Cluster::with(&[alarm]).await;
    let with = |value: f32| {
        move |server: usize, mut values: Values| {
            if server == 1 {
                values.insert(series, value);
            }
            Some(values)
        }
    };
    for _ in 0..10 {
        cluster.lives(with(good)).await;
    }
    assert_eq!(cluster.told().await, [], "{kind}");
    let about = Some(cluster.name(1));
    let told = until_told(&mut cluster, with(bad)).await;
    let began = (kind.clone(), NotificationState::Triggered, about.clone());
    assert_eq!(told, (fires_after, vec![began]));
    for _ in 0..10 {
        cluster.lives(with(bad)).await;
    }
    assert_eq!(cluster.told().await, [], "{kind} goes on");
    let told = until_told(&mut cluster, with(good)).await;
    let over = (kind, NotificationState::Resolved, about);
    assert_eq!(told, (4, vec![over]), "after half a minute");
}

#[tokio::test]
async fn partitions_with_too_few_replicas_are_told_with_their_server() {
    let alarm = json!({"type": "under_min_isr"});
    Box::pin(check(alarm, (Series::UnderMinIsr, 3.0, 0.0), 4)).await;
}

#[tokio::test]
async fn a_certificate_that_expires_soon_is_told_at_once() {
    let alarm = json!({"type": "certificate_expiry", "value_threshold": 14});
    Box::pin(check(alarm, (Series::CertificateDays, 13.9, 60.0), 1)).await;
}

/// The active controller counts them for the cluster, and may be another one meanwhile.
#[tokio::test]
async fn partitions_without_a_leader_are_told_of_the_cluster() {
    let mut cluster = Cluster::with(&[json!({"type": "offline_partitions"})]).await;
    let counted = |by: usize, value: f32| {
        move |server: usize, mut values: Values| {
            values.remove(&Series::OfflinePartitions);
            if server == by {
                values.insert(Series::OfflinePartitions, value);
            }
            Some(values)
        }
    };
    let of_cluster = |state| vec![("offline_partitions".to_owned(), state, None)];
    let told = until_told(&mut cluster, counted(0, 2.0)).await;
    assert_eq!(told, (4, of_cluster(NotificationState::Triggered)));
    for _ in 0..10 {
        cluster.lives(counted(2, 2.0)).await;
    }
    assert_eq!(cluster.told().await, [], "it is the same");
    let told = until_told(&mut cluster, counted(2, 0.0)).await;
    assert_eq!(told, (4, of_cluster(NotificationState::Resolved)));
}
