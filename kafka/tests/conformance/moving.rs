//! Replicas are moved, held up, called back, and outlive the broker they go to.

use crate::checks::come_up;
use crate::growing::{
    create, delete, look, move_to, reassign, refusals, set, until, until_settled, write,
};
use crate::subject::{ALL, NEWCOMER, SOON, Subject};
use kafka::client::{Altered, Assignment, SettingsOf, TopicPartition};
use kafka::throttle::{self, Copies};

const BYTES: usize = 5_000_000;
/// Bytes per second at which that is not copied within a check.
pub const SLOW: u64 = 5_000;

pub async fn replicas_move(subject: &dyn Subject) {
    let placement = subject.admin().placement();
    create(subject, "moving", 1, Some("1")).await;
    move_to(subject, "moving", &[1]).await;
    write(subject, 1, "moving", 0).await;

    for wrong in [&[1, 1][..], &[1, 9], &[]] {
        let refused = reassign(subject, "moving", wrong).await;
        assert_eq!(refusals(&refused), ["InvalidReplicaAssignment"], "{wrong:?}");
    }
    let gone = Assignment { at: TopicPartition::new("gone", 0), replicas: vec![1] };
    let refused = placement.reassign(&subject.cluster(), &[gone]).await.unwrap();
    assert_eq!(refused.gone().count(), 1);
    let cancelled = cancel(subject, "moving").await;
    assert_eq!((cancelled.done.len(), cancelled.nothing_under_way().count()), (0, 1));
    assert_eq!(reassign(subject, "moving", &[1]).await.done.len(), 1, "it is so already");

    let moved = move_to(subject, "moving", &[NEWCOMER, 1, 2]).await;
    assert_eq!(moved.partition.leader, Some(1), "no leader moves without need");
    assert_eq!(placement.list_reassignments(&subject.cluster()).await, Ok(vec![]));
    let left = move_to(subject, "moving", &[3]).await;
    assert_eq!(left.partition.leader, Some(3));
    write(subject, 3, "moving", 0).await;
    delete(subject, "moving").await;
}

pub async fn cancel(subject: &dyn Subject, name: &str) -> Altered {
    let placement = subject.admin().placement();
    let at = [TopicPartition::new(name, 0)];
    placement.cancel_reassignments(&subject.grown(), &at).await.unwrap()
}

/// Has copies to these go slowly.
async fn throttle_from(subject: &dyn Subject, name: &str, from: i32, to: &[i32]) {
    let at = TopicPartition::new(name, 0);
    let copies = Copies { at, from: vec![from], to: to.to_vec() };
    set(subject, throttle::throttle(&[copies], SLOW)).await;
    until(subject, name, "the throttle is there", |seen| {
        let own = |id: &i32| seen.view.broker(*id).and_then(|it| it.own.as_ref());
        let is_slow = |id: &i32| own(id).is_some_and(|own| own.throttle == Some(SLOW));
        seen.topic.is_throttled && is_slow(&from) && to.iter().all(is_slow)
    })
    .await;
}

pub async fn unthrottle(subject: &dyn Subject, name: &str) {
    let view = look(subject, name).await.unwrap().view;
    let changes = throttle::unthrottle(&view);
    assert!(!changes.is_empty());
    set(subject, changes).await;
    until(subject, name, "no throttle is left", |it| throttle::unthrottle(&it.view).is_empty())
        .await;
}

pub async fn a_throttled_copy_waits_and_outlives_its_broker(subject: &dyn Subject) {
    create(subject, "slow", 1, Some("1")).await;
    move_to(subject, "slow", &[1]).await;
    subject.fill(1, "slow", 0, BYTES).await;
    until(subject, "slow", "its size is told", |it| it.partition.bytes >= BYTES as u64).await;
    throttle_from(subject, "slow", 1, &[NEWCOMER]).await;

    assert_eq!(reassign(subject, "slow", &[NEWCOMER]).await.refused, []);
    begun(subject).await;
    assert_eq!(cancel(subject, "slow").await.refused, []);
    let back = until_settled(subject, "slow", &[1]).await;
    assert!(back.partition.leader == Some(1) && back.partition.elr.is_empty());

    assert_eq!(reassign(subject, "slow", &[NEWCOMER, 1]).await.refused, []);
    begun(subject).await;
    subject.kill(NEWCOMER).await;
    until(subject, "slow", "the broker that copies is missed", |it| {
        it.view.broker(NEWCOMER).is_none_or(|broker| !broker.is_up())
    })
    .await;
    begun(subject).await;
    come_up(subject, &[NEWCOMER], &ALL).await;
    begun(subject).await;
    unthrottle(subject, "slow").await;
    let moved = until_settled(subject, "slow", &[NEWCOMER, 1]).await;
    assert!(moved.partition.bytes >= BYTES as u64, "{:?}", moved.partition);
    let settings = subject.admin().settings();
    let of = [SettingsOf::Topic("slow".into()), SettingsOf::Broker(NEWCOMER)];
    let left = settings.describe_settings_of(&subject.grown(), &of).await.unwrap();
    assert_eq!((left[&of[0]].len(), left[&of[1]].len()), (1, 0), "min ISR alone: {left:?}");
    delete(subject, "slow").await;
}

/// It is copied, and not all of it.
async fn begun(subject: &dyn Subject) {
    let at = TopicPartition::new("slow", 0);
    let seen = until(subject, "slow", "the copy is under way", |seen| {
        let under_way = seen.partition.reassignment.as_ref();
        under_way.is_some_and(|it| it.adding == [NEWCOMER])
    })
    .await;
    let under_way = seen.partition.reassignment.unwrap();
    assert!(under_way.copied_bytes < BYTES as u64, "{under_way:?}");
    assert!(!seen.partition.in_sync.contains(&NEWCOMER), "{:?}", seen.partition.in_sync);
    let listed = subject.until("it is listed", SOON, async || {
        let listed = subject.admin().placement().list_reassignments(&subject.cluster()).await;
        listed.map_err(|error| error.to_string())
    });
    let listed = listed.await;
    assert!(listed.iter().any(|it| it.at == at && it.adding == [NEWCOMER]), "{listed:?}");
}
