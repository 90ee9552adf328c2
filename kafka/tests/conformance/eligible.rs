//! Replicas that are removed while min ISR is above what remains stay eligible, and are elected
//! when they are added again, before they have the data: acknowledged writes are lost. Lowering
//! min ISR clears that. A release without ELR waits for the leader instead.

use crate::checks::come_up;
use crate::growing::{Seen, create, delete, move_to, one, reassign, set, until};
use crate::moving::{throttle_from, unthrottle};
use crate::subject::{ALL, NEWCOMER, SOON, Subject};
use kafka::client::{At, SettingsOf, TopicPartition};
use kafka::settings::MIN_IN_SYNC;
use std::collections::BTreeSet;

const NAME: &str = "eligible";

pub async fn removed_replicas_stay_eligible(subject: &dyn Subject) {
    create(subject, NAME, 3, Some("2")).await;
    move_to(subject, NAME, &[NEWCOMER, 1, 2]).await;
    let first = [TopicPartition::new(NAME, 0)];
    subject
        .until("the newcomer leads", SOON, async || {
            let cluster = subject.grown();
            let elected = subject.admin().elect_preferred_leaders(&cluster, &first).await;
            let elected = elected.map_err(|error| error.to_string())?;
            let led = elected.refused.is_empty() && elected.moved.is_empty();
            if led { Ok(()) } else { Err(format!("{elected:?}")) }
        })
        .await;
    until(subject, NAME, "the newcomer leads", |it| it.partition.leader == Some(NEWCOMER)).await;
    subject.fill(NEWCOMER, NAME, 0, 2_000_000).await;
    let end = end(subject).await;

    let single = move_to(subject, NAME, &[NEWCOMER]).await;
    let expected: &[i32] = if subject.has_elr() { &[1, 2] } else { &[] };
    assert_eq!(elr(&single), expected, "{:?}", single.partition);
    min_in_sync_clears_it(subject).await;
    // The same again, and nothing clears it.
    set_min_in_sync(subject, "2").await;
    move_to(subject, NAME, &[NEWCOMER, 1, 2]).await;
    move_to(subject, NAME, &[NEWCOMER]).await;
    one_is_elected_that_has_nothing(subject, end).await;
    delete(subject, NAME).await;
}

fn elr(seen: &Seen) -> Vec<i32> {
    let sorted: BTreeSet<i32> = seen.partition.elr.iter().copied().collect();
    sorted.into_iter().collect()
}

async fn set_min_in_sync(subject: &dyn Subject, value: &str) {
    set(subject, one(SettingsOf::Topic(NAME.into()), MIN_IN_SYNC, Some(value))).await;
    until(subject, NAME, "min ISR is changed", |seen| {
        seen.topic.min_in_sync.to_string() == value && seen.topic.has_own_min_in_sync
    })
    .await;
}

async fn min_in_sync_clears_it(subject: &dyn Subject) {
    set_min_in_sync(subject, "1").await;
    until(subject, NAME, "the ELR is cleared", |seen| seen.partition.elr.is_empty()).await;
}

/// Where the partition's log ends; none while nobody leads it.
async fn find_end(subject: &dyn Subject) -> Result<Option<i64>, String> {
    let at = [TopicPartition::new(NAME, 0)];
    let groups = subject.admin().groups();
    let found = groups.find_offsets(&subject.grown(), &at, At::Latest).await;
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.get(&at[0]).copied().flatten())
}

async fn end(subject: &dyn Subject) -> i64 {
    let end = subject.until("its end is told", SOON, async || {
        find_end(subject).await?.ok_or("nobody leads it".to_owned())
    });
    end.await
}

async fn one_is_elected_that_has_nothing(subject: &dyn Subject, before: i64) {
    throttle_from(subject, NAME, NEWCOMER, 1).await;
    assert_eq!(reassign(subject, NAME, &[NEWCOMER, 1]).await.refused, []);
    until(subject, NAME, "a copy is begun", |it| it.partition.reassignment.is_some()).await;
    subject.kill(NEWCOMER).await;
    let next = if subject.has_elr() { Some(1) } else { None };
    until(subject, NAME, "the dead leader is missed", |it| it.partition.leader == next).await;
    if subject.has_elr() {
        assert!(end(subject).await < before, "acknowledged writes are gone");
    }
    come_up(subject, &[NEWCOMER], &ALL).await;
    let leader = next.unwrap_or(NEWCOMER);
    until(subject, NAME, "it is led", |it| it.partition.leader == Some(leader)).await;
    let after = end(subject).await;
    assert_eq!(after < before, subject.has_elr(), "{after} of {before}, for good");
    unthrottle(subject, NAME).await;
}
