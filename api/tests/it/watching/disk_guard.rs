//! The guard of disks: notice alarms tell of a disk that is nearly full until there is
//! room again, and producers are slowed down meanwhile.

use super::Post;
use crate::call::Call;
use app::metrics::Sample;
use model::{DiskLevel, NotificationState, Series, SignedDuration};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Post {
    pub(super) async fn level(&self) -> Option<DiskLevel> {
        let mut reader = self.world.app.store().reader();
        let guard = store::disk_guards::find(&mut reader, self.server.id).await.unwrap();
        guard.map(|guard| guard.level)
    }

    /// What people were told of the one alarm.
    async fn history(&self) -> Value {
        let path = format!("/api/instances/{}/alarms/5/history", self.instance.id);
        Call::get(&path).key(&self.world.key).send(&self.world.customer).await.json()
    }
}

#[tokio::test]
async fn a_disk_that_fills_is_told_of_and_slows_producers_down() {
    let post = Post::with(json!({"type": "notice"})).await;
    let mut watch = post.watch();
    let began = post.of_server(NotificationState::Triggered);
    let over = post.of_server(NotificationState::Resolved);
    let path = format!("/api/instances/{}/quotas", post.instance.id);
    let quota = json!({"user": "bob", "producer_byte_rate": 1000});

    for percent in [10.0, 89.0] {
        post.sees(&mut watch, Series::DiskFull, percent).await;
    }
    assert_eq!(post.told().await, []);
    for percent in [90.0, 93.0, 89.0, 91.0] {
        post.sees(&mut watch, Series::DiskFull, percent).await;
    }
    let told = post.tellings().await;
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.notification.message.contains("is 90 % full"), "{told:?}");
    assert_eq!(told.notification.server.as_ref(), Some(&post.server.name));
    assert_eq!(post.level().await, Some(DiskLevel::High), "producers go on");
    for percent in [96.0, 94.0, 99.0] {
        // Another control plane for every sample.
        post.sees(&mut post.watch(), Series::DiskFull, percent).await;
    }
    assert_eq!(post.told().await, [began], "it is worse");
    assert_eq!(post.level().await, Some(DiskLevel::Slowed));
    let call = Call::put(&path).key(&post.world.key).json(&quota);
    let refused = call.send(&post.world.customer).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("Producers are slowed down"), "{}", refused.text);

    post.sees(&mut watch, Series::DiskFull, 92.0).await;
    assert_eq!(post.level().await, Some(DiskLevel::High), "they are let go");
    post.sees(&mut watch, Series::DiskFull, 20.0).await;
    assert_eq!(post.level().await, None);
    assert_eq!(post.told().await, [over], "there is room");
    // Sent again to a control plane that was away.
    post.world.clock.advance(SignedDuration::from_mins(2));
    for (ago, percent) in [(120, 91.0), (110, 99.0)] {
        let values = BTreeMap::from([(Series::DiskFull, percent)]);
        let at = post.world.app.now().as_second() - ago;
        let sample = Sample { at, values, ..<_>::default() };
        watch.sample(post.server.id, &sample).await.unwrap();
    }
    assert_eq!(post.level().await, None, "that is past");
    assert_eq!(post.told().await, []);
    let events =
        Call::get("/api/auditlog/csv").key(&post.world.key).send(&post.world.customer).await;
    let events = events.text.matches("disk_guard.update").count();
    assert_eq!(events, 4, "one line a change");
}

#[tokio::test]
async fn a_disk_is_one_incident_from_its_first_level_until_there_is_room() {
    let post = Post::with(json!({"type": "notice", "reminder_interval": 60})).await;
    let mut watch = post.watch();
    for percent in [91.0, 96.0] {
        post.sees(&mut watch, Series::DiskFull, percent).await;
    }
    let told = post.tellings().await;
    let names: Vec<String> = told.iter().map(|it| it.notification.incident()).collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0], names[1], "a pager takes both for one");
    let history = post.history().await;
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    assert_eq!(
        (&history[0]["server"], &history[0]["value"]),
        (&json!(post.server.name), &json!(96.0))
    );
    assert!(history[0]["resolved_at"].is_null(), "{history}");
    for _ in 0..6 {
        post.sees(&mut watch, Series::DiskFull, 96.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Reminder)]);

    post.sees(&mut watch, Series::DiskFull, 20.0).await;
    let told = post.tellings().await;
    let [over] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(
        (over.notification.state, &over.notification.incident()),
        (NotificationState::Resolved, &names[0])
    );
    assert!(over.notification.message.contains("has room again"), "{over:?}");
    let history = post.history().await;
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    assert!(history[0]["resolved_at"].is_string(), "{history}");
}

/// An incident ends with whoever watches or measures; the disk is as full as it was.
#[tokio::test]
async fn a_disk_that_still_is_full_is_told_of_again_once_somebody_watches() {
    let enabled = |is: bool| Some(json!({"enabled": is}));
    for (stop, start) in [
        (("PUT", "alarms/5", enabled(false)), ("PUT", "alarms/5", enabled(true))),
        (("POST", "actions/cluster-stop", None), ("POST", "actions/cluster-start", None)),
    ] {
        let post = Post::with(json!({"type": "notice"})).await;
        let mut watch = post.watch();
        post.sees(&mut watch, Series::DiskFull, 96.0).await;
        assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
        let path = stop.1;
        assert!(post.call(stop.0, path, stop.2).await < 300, "{path}");
        assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)], "{path}");
        post.sees(&mut watch, Series::DiskFull, 96.0).await;
        assert_eq!(post.told().await, [], "{path}");
        assert!(post.call(start.0, start.1, start.2).await < 300, "{path}");
        for _ in 0..3 {
            post.sees(&mut watch, Series::DiskFull, 96.0).await;
        }
        assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)], "{path}");
        post.sees(&mut watch, Series::DiskFull, 20.0).await;
        assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)], "{path}");
    }
}

/// A disk with room is looked up once a minute: what another control plane wrote of it
/// meanwhile is found then.
#[tokio::test]
async fn a_level_that_another_control_plane_saw_ends_within_a_minute() {
    let post = Post::with(json!({"type": "notice"})).await;
    let mut watch = post.watch();
    post.sees(&mut watch, Series::DiskFull, 10.0).await;
    post.sees(&mut post.watch(), Series::DiskFull, 96.0).await;
    post.sees(&mut watch, Series::DiskFull, 20.0).await;
    assert_eq!(post.level().await, Some(DiskLevel::Slowed), "it is not looked up at every sample");
    for _ in 0..4 {
        post.sees(&mut watch, Series::DiskFull, 20.0).await;
    }
    assert_eq!(post.level().await, None);
    post.sees(&mut watch, Series::DiskFull, 96.0).await;
    assert_eq!(post.level().await, Some(DiskLevel::Slowed), "one that fills is seen at once");
    post.sees(&mut watch, Series::DiskFull, 20.0).await;
    assert_eq!(post.level().await, None, "and so is its end");
}
