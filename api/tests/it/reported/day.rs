//! A day in which nothing is wrong, and the same day with one server that is silent.

use super::{Cluster, Values};
use model::{AlarmType, Measure, NotificationState};
use serde_json::{Value, json};

const HOUR: u16 = 360;

/// Every type that an instance does not begin with.
fn every_other_alarm() -> Vec<Value> {
    let first = [AlarmType::Cpu, AlarmType::Memory, AlarmType::Disk, AlarmType::Notice];
    let others = AlarmType::ALL.into_iter().filter(|kind| !first.contains(kind));
    let alarm = |kind: AlarmType| {
        let threshold = kind.measure().map(|measure| match measure {
            Measure::Percent => 90,
            Measure::Gigabytes => 5,
            Measure::Seconds => 60,
            Measure::Days => 14,
            Measure::Hours => 24,
        });
        match threshold {
            Some(threshold) => json!({"type": kind.as_str(), "value_threshold": threshold}),
            None => json!({"type": kind.as_str()}),
        }
    };
    others.map(alarm).collect()
}

#[tokio::test]
async fn a_quiet_day_tells_nothing() {
    let mut cluster = Cluster::with(&every_other_alarm()).await;
    for step in 0..24 * HOUR {
        // The control plane is away for ten minutes, and has forgotten what it saw.
        match step {
            4320 => cluster.kill_control_plane(),
            4380 => cluster.start_control_plane().await,
            _ => {}
        }
        cluster.lives(|_, healthy| Some(healthy)).await;
    }
    assert_eq!(cluster.told().await, []);
}

#[tokio::test]
async fn of_a_day_on_which_one_server_is_silent_that_alone_is_told() {
    let mut cluster = Cluster::with(&every_other_alarm()).await;
    for step in 0..HOUR {
        let is_silent = (100..130).contains(&step);
        let measures =
            |server: usize, healthy: Values| (server != 2 || !is_silent).then_some(healthy);
        cluster.lives(measures).await;
    }
    let of_third = |state| ("server_unreachable".to_owned(), state, Some(cluster.name(2)));
    let expected = [NotificationState::Triggered, NotificationState::Resolved].map(of_third);
    assert_eq!(cluster.told().await, expected);
}
