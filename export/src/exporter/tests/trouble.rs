//! A system that fails, refuses, hangs or takes a part, and settings that change meanwhile.

use super::fixture::*;
use crate::exporter::LIMITS;
use crate::turn::LEASE;
use model::{
    Clock as _, InstanceId, Integration, IntegrationConfig, IntegrationId, SignedDuration,
    Timestamp, TopicSeries,
};
use series::{Sample, align};
use ship::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::{integration_turns, integrations};
use watch::metrics;

const RETRY: Verdict = Verdict::Retry { after: None };

/// An instance whose minutes have been sent so far, at the beginning of a minute.
async fn sending() -> (World, Plane, InstanceId) {
    let world = World::new(&[1]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut plane = world.plane().await;
    for _ in 0..2 {
        world.live(&plane, 120).await;
        plane.work().await;
    }
    assert!(!world.receiver.take().is_empty());
    (world, plane, instance)
}

/// Lets time pass in steps of a second until there is a call; how many seconds that took.
async fn until_call(world: &World, plane: &mut Plane) -> i64 {
    for second in 1..=7200 {
        world.pass(1);
        if world.now() % 10 == 0 {
            let (instance, servers) = &world.instances[0];
            world.take_sample(plane, *instance, servers[0], world.now()).await;
        }
        if world.now() % 600 == 40 {
            plane.flush().await;
        }
        plane.work().await;
        if !world.receiver.calls.lock().unwrap().is_empty() {
            return second;
        }
    }
    panic!("there is no call for two hours");
}

async fn next_due(world: &World) -> SignedDuration {
    let now = world.clock().now();
    integration_turns::next_due(&mut world.rows.store.reader(), now).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_failure_is_told_at_once_and_tried_again_ever_later() {
    let (world, mut plane, instance) = sending().await;
    let of = (instance, FIRST);
    world.receiver.answer(of, &[const { Answer::Trouble(RETRY, "it answered 500") }; 9]);
    until_call(&world, &mut plane).await;
    let failed = world.receiver.take();
    assert_eq!(world.integration(instance).await.error, "it answered 500");
    let mut pauses = Vec::new();
    for _ in 0..8 {
        pauses.push(until_call(&world, &mut plane).await);
        let again = world.receiver.take();
        assert_eq!(again[0].minutes(), failed[0].minutes(), "the same minute alone");
    }
    let longest = [5, 10, 20, 40, 80, 160, 300, 300];
    for (pause, longest) in pauses.iter().zip(longest) {
        assert!((longest * 3 / 4..=longest).contains(pause), "{pauses:?}");
    }
    // Then it works: the rest comes at once, in order.
    until_call(&world, &mut plane).await;
    let calls = world.receiver.take();
    assert_eq!(calls[0].minutes(), failed[0].minutes());
    let all: Vec<_> = calls.iter().flat_map(Call::minutes).collect();
    let expected: Vec<_> = (all[0]..=*all.last().unwrap()).step_by(60).collect();
    assert_eq!(all, expected);
    assert!(all.len() > 10 && calls.iter().all(|call| call.minutes().len() <= 10), "{all:?}");
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn a_system_that_wants_a_pause_gets_it_and_one_that_refuses_is_asked_every_five_minutes() {
    let (world, mut plane, instance) = sending().await;
    let of = (instance, FIRST);
    let after = |seconds| Verdict::Retry { after: Some(Duration::from_secs(seconds)) };
    world.receiver.answer(
        of,
        &[
            Answer::Trouble(after(90), "busy"),
            Answer::Trouble(after(100_000), "busy"),
            Answer::Trouble(Verdict::Refused, "the key is wrong"),
            Answer::Trouble(Verdict::Refused, "the key is wrong"),
        ],
    );
    until_call(&world, &mut plane).await;
    let mut pauses = Vec::new();
    let mut errors = Vec::new();
    for _ in 0..4 {
        errors.push(world.integration(instance).await.error);
        world.receiver.take();
        pauses.push(until_call(&world, &mut plane).await);
    }
    assert_eq!(pauses, [90, 3600, 300, 300]);
    assert_eq!(errors, ["busy", "busy", "the key is wrong", "the key is wrong"]);
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn of_a_call_that_breaks_off_whole_minutes_count() {
    let (world, mut plane, instance) = sending().await;
    world.live(&plane, 300).await;
    // A minute has one point of the agent, and those that follow from it.
    world.receiver.answer((instance, FIRST), &[Answer::Trouble(RETRY, "it answered 500")]);
    plane.work().await;
    let before = world.receiver.take();
    assert!(before[0].minutes().len() >= 4, "{before:?}");
    let each = before[0].points.len() / before[0].minutes().len();
    world.set_config(instance, config("one")).await;
    world.receiver.answer((instance, FIRST), &[Answer::Part(2 * each)]);
    plane.work().await;
    let part = world.receiver.take();
    assert_eq!(part[0].minutes(), before[0].minutes());
    assert_eq!(world.integration(instance).await.error, "it broke off");
    assert!(next_due(&world).await <= SignedDuration::from_secs(5), "it goes on");
    until_call(&world, &mut plane).await;
    let rest: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    assert_eq!(rest, before[0].minutes()[2..], "two minutes had been taken");
}

#[tokio::test]
async fn minutes_that_no_system_could_take_hold_up_no_later_ones() {
    let (world, mut plane, instance) = sending().await;
    let server = world.instances[0].1[0];
    // A whole window, and the samples say nothing that is a number.
    let begin = world.now();
    for _ in 0..70 {
        let values = BTreeMap::from([(TopicSeries::BytesIn, f32::INFINITY)]);
        let topics = BTreeMap::from([("orders".into(), values)]);
        let sample = Sample { topics, values: BTreeMap::new(), ..sample(world.now()) };
        metrics::take(&plane.context, instance, server, vec![sample]).await.unwrap();
        world.pass(10);
    }
    let end = world.now();
    world.live(&plane, 180).await;
    // What fails is tried minute by minute.
    world.receiver.answer((instance, FIRST), &[Answer::Trouble(RETRY, "it answered 500")]);
    for _ in 0..12 {
        world.live(&plane, 10).await;
        plane.work().await;
    }
    let calls = world.receiver.take();
    let minutes: Vec<_> = calls.iter().flat_map(Call::minutes).collect();
    let wrong = align(begin + 59, 60)..align(end - 59, 60);
    assert!(minutes.iter().all(|minute| !wrong.contains(minute)), "{minutes:?}");
    assert!(minutes.iter().any(|minute| *minute >= end), "{minutes:?} of {end}");
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn a_system_that_hangs_holds_up_no_other() {
    let world = World::new(&[1, 1]).await;
    let [(first, _), (second, _)] = [0, 1].map(|at| world.instances[at].clone());
    for instance in [first, first, second] {
        world.integrate(instance).await;
    }
    world.receiver.answer((first, FIRST), &[Answer::Wait]);
    let mut plane = world.plane().await;
    plane.round.exporter.patience = Duration::from_mins(1);
    world.live(&plane, 120).await;
    plane.work_beside(1).await;
    let due = async || {
        let at = world.clock().now() + LEASE - SignedDuration::from_secs(1);
        let mut reader = world.rows.store.reader();
        let due = integration_turns::due(&mut reader, at, LIMITS).await.unwrap();
        due.into_iter().map(|it| (it.instance_id, it.id)).collect::<BTreeSet<_>>()
    };
    let others = [(first, IntegrationId(2)), (second, FIRST)];
    assert_eq!(
        due().await,
        BTreeSet::from(others),
        "the others are saved, and due again in a minute"
    );
    let mut called: Vec<_> =
        world.receiver.take().iter().map(|call| (call.instance, call.id)).collect();
    called.sort_unstable();
    assert_eq!(called, [(first, FIRST), (first, IntegrationId(2)), (second, FIRST)]);

    // A minute later the others have their next turn.
    world.live(&plane, 60).await;
    plane.work_beside(1).await;
    let again: BTreeSet<_> =
        world.receiver.take().iter().map(|call| (call.instance, call.id)).collect();
    assert_eq!(again, BTreeSet::from(others));
    world.receiver.go_on.notify_one();
    plane.work().await;
    assert_eq!(plane.round.under_way.count(), 0);
}

#[tokio::test]
async fn a_system_that_hangs_is_given_up() {
    let (world, mut plane, instance) = sending().await;
    world.receiver.answer((instance, FIRST), &[Answer::Hang]);
    world.live(&plane, 60).await;
    plane.work().await;
    assert_eq!(world.receiver.take().len(), 1);
    let hung = world.integration(instance).await;
    assert_eq!(hung.error, "it did not take what was sent in time");
    assert_eq!(plane.round.under_way.count(), 0);
}

#[tokio::test]
async fn nothing_is_sent_with_settings_that_cant_be_read() {
    let (world, mut plane, instance) = sending().await;
    // As if they were sealed with another key.
    world.set_config(instance, IntegrationConfig::new()).await;
    world.live(&plane, 60).await;
    plane.work().await;
    assert!(world.receiver.take().is_empty(), "nothing is sent without a key");
    assert_eq!(world.integration(instance).await.error, Integration::UNREADABLE);
    let wait = next_due(&world).await;
    assert_eq!(wait, SignedDuration::from_mins(5), "it is as if the key were refused");
    world.set_config(instance, config("two")).await;
    plane.work().await;
    assert_eq!(world.receiver.take()[0].key, "two");
    assert_eq!(world.integration(instance).await.error, "");
}

/// Begins a call that waits.
async fn begin_call() -> (World, Plane, InstanceId) {
    let world = World::new(&[1]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut plane = world.plane().await;
    plane.round.exporter.patience = Duration::from_mins(1);
    world.live(&plane, 120).await;
    world.receiver.answer((instance, FIRST), &[Answer::Wait]);
    plane.round.look().await.unwrap();
    world.receiver.begun.notified().await;
    (world, plane, instance)
}

#[tokio::test]
async fn settings_that_change_during_a_call_get_the_same_minutes() {
    let (world, mut plane, instance) = begin_call().await;
    world.set_config(instance, config("two")).await;
    // The call with the old ones would last for a minute.
    plane.work().await;
    let calls = world.receiver.take();
    let keys: Vec<_> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys, ["one", "two"]);
    assert_eq!(calls[0].minutes(), calls[1].minutes());
}

#[tokio::test]
async fn a_change_of_one_integration_ends_no_call_of_another() {
    let (world, mut plane, instance) = begin_call().await;
    let second = world.integrate(instance).await;
    plane.work_beside(1).await;
    world.receiver.go_on.notify_one();
    plane.work().await;
    let called: Vec<_> = world.receiver.take().iter().map(|call| call.id).collect();
    assert_eq!(called, [FIRST, second], "one call of each");
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn one_that_is_deleted_during_a_call_does_not_come_back() {
    let (world, mut plane, instance) = begin_call().await;
    let mut work = world.rows.store.begin().await.unwrap();
    assert!(integrations::delete(&mut work, instance, FIRST).await.unwrap());
    work.commit().await.unwrap();
    plane.work().await;
    let kind = model::IntegrationKind::Metrics;
    let left = integrations::list(&mut world.rows.store.reader(), instance, kind).await.unwrap();
    assert_eq!((left, world.receiver.take().len()), (vec![], 1));
}

#[tokio::test]
async fn a_clock_that_is_set_back_stops_nothing() {
    let (world, mut plane, instance) = sending().await;
    world.clock().advance(SignedDuration::from_hours(-2));
    let mut work = world.rows.store.begin().await.unwrap();
    let host = world.rows.installation.host_id;
    let now: Timestamp = world.clock().now();
    store::set_back::look_again(&mut work, host, now).await.unwrap();
    work.commit().await.unwrap();
    let waited = until_call(&world, &mut plane).await;
    assert!(waited <= 3660, "{waited}");
    let minutes = world.receiver.take()[0].minutes();
    assert!(world.now() - minutes[0] <= 150, "{minutes:?} at {}", world.now());
    assert_eq!(world.integration(instance).await.error, "");
}
