//! Replicas that are removed while fewer are in sync than min ISR says stay eligible. A change of
//! min ISR clears that, and so does a change of a single replica. Where several replicas remain
//! it stays, and one that is sent again is elected before it has the data: acknowledged writes
//! are lost. A release without ELR waits for the leader instead.

use crate::checks::come_up;
use crate::growing::{Seen, create, delete, move_to, one, reassign, set, until};
use crate::moving::{SLOW, cancel, unthrottle};
use crate::subject::{ALL, NEWCOMER, SOON, Subject};
use kafka::client::{At, SettingsOf, TopicPartition};
use kafka::settings::MIN_IN_SYNC;
use kafka::throttle::{FOLLOWER_RATE, FOLLOWER_REPLICAS};
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
    set_min_in_sync(subject, "2").await;
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

/// Where the partition's log ends; none while it has no leader.
async fn find_end(subject: &dyn Subject) -> Result<Option<i64>, String> {
    let at = [TopicPartition::new(NAME, 0)];
    let groups = subject.admin().groups();
    let found = groups.find_offsets(&subject.grown(), &at, At::Latest).await;
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.get(&at[0]).copied().flatten())
}

async fn end(subject: &dyn Subject) -> i64 {
    let end = subject.until("its end is told", SOON, async || {
        find_end(subject).await?.ok_or("it has no leader".to_owned())
    });
    end.await
}

/// Has copies to these alone go slowly: a throttle of the leader would hold up all.
async fn hold_up(subject: &dyn Subject, followers: &[i32]) {
    for broker in followers {
        let rate = SLOW.to_string();
        set(subject, one(SettingsOf::Broker(*broker), FOLLOWER_RATE, Some(&rate))).await;
    }
    let replicas: Vec<String> = followers.iter().map(|id| format!("0:{id}")).collect();
    let topic = SettingsOf::Topic(NAME.into());
    set(subject, one(topic, FOLLOWER_REPLICAS, Some(&replicas.join(",")))).await;
    until(subject, NAME, "the throttle is there", |seen| seen.topic.is_throttled).await;
}

/// The newcomer leads, and broker 3 is down. Brokers 1 and 2 get copies, which are called back
/// when one is whole and the other is not, and then the first is sent again.
async fn one_is_elected_that_has_nothing(subject: &dyn Subject, before: i64) {
    move_to(subject, NAME, &[NEWCOMER, 3]).await;
    subject.kill(3).await;
    until(subject, NAME, "one replica is left", |it| it.partition.in_sync == [NEWCOMER]).await;
    hold_up(subject, &[2]).await;
    assert_eq!(reassign(subject, NAME, &[NEWCOMER, 3, 1, 2]).await.refused, []);
    until(subject, NAME, "the copy is whole", |it| it.partition.in_sync.contains(&1)).await;
    assert_eq!(cancel(subject, NAME).await.refused, []);
    let expected: &[i32] = if subject.has_elr() { &[1] } else { &[] };
    until(subject, NAME, "it is called back", |seen| {
        seen.partition.replicas == [NEWCOMER, 3] && elr(seen) == expected
    })
    .await;
    hold_up(subject, &[1]).await;
    assert_eq!(reassign(subject, NAME, &[NEWCOMER, 3, 1]).await.refused, []);
    until(subject, NAME, "it is sent again", |seen| {
        seen.partition.replicas.contains(&1) && elr(seen) == expected
    })
    .await;
    subject.kill(NEWCOMER).await;
    let next = if subject.has_elr() { Some(1) } else { None };
    until(subject, NAME, "the dead leader is missed", |it| it.partition.leader == next).await;
    if subject.has_elr() {
        assert!(end(subject).await < before, "acknowledged writes are gone");
    }
    come_up(subject, &[3, NEWCOMER], &ALL).await;
    let leader = next.unwrap_or(NEWCOMER);
    until(subject, NAME, "it is led", |it| it.partition.leader == Some(leader)).await;
    let after = end(subject).await;
    assert_eq!(after < before, subject.has_elr(), "{after} of {before}, for good");
    unthrottle(subject, NAME).await;
}
