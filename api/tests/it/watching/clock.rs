//! A clock that is set back blinds nobody for as long as it went back.

use super::{Post, cpu};
use model::{DiskLevel, NotificationState, Series, SignedDuration};
use serde_json::json;

const BACK: SignedDuration = SignedDuration::from_hours(3);

#[tokio::test]
async fn an_alarm_fires_and_ends_though_what_it_saw_before_lies_ahead() {
    let (began, over) = (NotificationState::Triggered, NotificationState::Resolved);
    for is_new_watch in [false, true] {
        let post = Post::with(cpu()).await;
        let mut watch = post.watch();
        // What was told, after so many samples and a clock that is set back.
        let mut tells = async |value: f32, samples: usize| {
            for _ in 0..samples {
                post.sees(&mut watch, Series::Cpu, value).await;
            }
            let told: Vec<NotificationState> = post.told().await.iter().map(|it| it.1).collect();
            post.world.set_back(BACK).await;
            if is_new_watch {
                watch = post.watch();
            }
            told
        };
        assert_eq!(tells(99.0, 3).await, [], "it waits for its time");
        assert_eq!(tells(99.0, 7).await, [began]);
        assert_eq!(tells(5.0, 3).await, [], "it settles");
        assert_eq!(tells(5.0, 8).await, [over]);
        assert_eq!(tells(99.0, 7).await, [began], "it was over later than now");
    }
}

#[tokio::test]
async fn a_disk_that_has_room_again_is_let_go_though_it_was_full_later_than_now() {
    let post = Post::with(json!({"type": "notice", "reminder_interval": 60})).await;
    let mut watch = post.watch();
    let mut states = async |percent: f32| {
        for _ in 0..6 {
            post.sees(&mut watch, Series::DiskFull, percent).await;
        }
        let states: Vec<NotificationState> = post.told().await.iter().map(|it| it.1).collect();
        let level = post.level().await;
        post.world.set_back(BACK).await;
        (level, states)
    };
    let slowed = Some(DiskLevel::Slowed);
    assert_eq!(states(96.0).await, (slowed, vec![NotificationState::Triggered]));
    assert_eq!(states(96.0).await, (slowed, vec![NotificationState::Reminder]));
    assert_eq!(states(20.0).await, (None, vec![NotificationState::Resolved]));
    assert_eq!(states(96.0).await, (slowed, vec![NotificationState::Triggered]));
}

#[tokio::test]
async fn a_server_that_is_silent_is_told_of_though_the_watch_began_later_than_now() {
    let post = Post::with(json!({"type": "server_unreachable"})).await;
    let mut watch = post.watch();
    post.world.set_back(BACK).await;
    let mut fired = None;
    for second in (0..120).step_by(5) {
        post.world.clock.advance(SignedDuration::from_secs(5));
        watch.silence().await.unwrap();
        if !post.told().await.is_empty() {
            fired = Some(second);
        }
    }
    assert_eq!(fired, Some(55), "30 s of grace as ever, then 30 s of silence");
}
