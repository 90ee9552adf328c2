//! Control planes that die, and several on one store.

use super::fixture::*;
use crate::exporter::TAKEOVER;
use crate::turn::LEASE;
use model::{Clock as _, SignedDuration};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn one_that_dies_after_a_call_sends_that_call_again_and_skips_nothing() {
    let world = World::new(&[2]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut first = world.plane().await;
    world.live(&first, 120).await;
    first.work().await;
    world.live(&first, 60).await;
    world.receiver.take();
    // It takes a turn, sends, and is gone before it says so; with it what was in memory.
    first.round.look().await.unwrap();
    while first.round.under_way.join_next().await.is_some() {}
    let sent = world.receiver.take();
    assert_eq!(sent.len(), 1);
    drop(first);
    world.pass(20);

    let mut second = world.plane().await;
    second.work().await;
    assert!(world.receiver.take().is_empty(), "the turn is still the first one's");
    // The agents come back, the newest sample first, and then with all they kept.
    let begin = world.now() - 200;
    for server in &world.instances[0].1 {
        world.say(&second, instance, *server, world.now()).await;
    }
    world.pass(LEASE.as_secs());
    second.work().await;
    assert!(world.receiver.take().is_empty(), "what they kept is on its way");
    for server in &world.instances[0].1 {
        for at in (begin..=world.now()).step_by(10) {
            world.say(&second, instance, *server, at).await;
        }
    }
    for _ in 0..6 {
        world.live(&second, 10).await;
        second.work().await;
    }
    let minutes: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    assert_eq!(minutes[0], sent[0].minutes()[0], "the same again");
    let whole: Vec<_> = (minutes[0]..=*minutes.last().unwrap()).step_by(60).collect();
    assert_eq!(minutes, whole, "nothing is skipped, nothing else twice");
}

#[tokio::test]
async fn who_hears_the_agents_goes_first_and_another_takes_over() {
    let world = World::new(&[1]).await;
    let (instance, servers) = world.instances[0].clone();
    world.integrate(instance).await;
    let mut near = world.plane().await;
    let mut far = world.plane().await;
    world.live(&near, 120).await;
    near.work().await;
    assert_eq!(world.receiver.take().len(), 1);
    world.live(&near, 60).await;
    far.work().await;
    assert!(world.receiver.take().is_empty(), "it is the other one's");
    near.work().await;
    assert_eq!(world.receiver.take().len(), 1);

    // The one that hears them does not send any more. What it hears is in its memory, so the
    // other waits until it is written.
    world.live(&near, 300).await;
    far.work().await;
    assert!(world.receiver.take().is_empty());
    for _ in 0..72 {
        world.live(&near, 10).await;
        far.work().await;
    }
    let minutes: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    assert_eq!(minutes.len(), 8, "the rest of the window: {minutes:?}");

    // It stops, and writes what it has; its agents are gone as well.
    near.write_everything().await;
    world.see(&servers).await;
    world.pass(TAKEOVER.as_secs() + 60);
    far.work().await;
    let rest: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    let from = minutes.last().unwrap() + 60;
    assert!(rest.len() >= 5, "{rest:?}");
    let whole: Vec<_> = (from..=*rest.last().unwrap()).step_by(60).collect();
    assert_eq!(rest, whole);
}

#[tokio::test]
async fn of_two_that_look_at_once_one_sends() {
    let world = World::new(&[1, 1, 1]).await;
    for (id, _) in &world.instances {
        world.integrate(*id).await;
    }
    let (mut one, mut other) = (world.plane().await, world.plane().await);
    // Both hear everything.
    for _ in 0..12 {
        for (id, servers) in &world.instances {
            world.say(&one, *id, servers[0], world.now()).await;
            world.say(&other, *id, servers[0], world.now()).await;
        }
        world.pass(10);
    }
    let (first, second) = tokio::join!(one.round.look(), other.round.look());
    (first.unwrap(), second.unwrap());
    one.work().await;
    other.work().await;
    let mut called: Vec<_> = world.receiver.take().iter().map(|call| call.instance).collect();
    called.sort_unstable();
    assert_eq!(called, [0, 1, 2].map(|at| world.instances[at].0));
}

#[tokio::test]
async fn a_stop_saves_what_was_sent() {
    let world = World::new(&[1]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut plane = world.plane().await;
    plane.round.exporter.patience = Duration::from_secs(60);
    world.live(&plane, 120).await;
    let stop = CancellationToken::new();
    world.receiver.answer((instance, FIRST), &[Answer::Wait]);
    let running = tokio::spawn(plane.round.exporter.clone().run(stop.clone()));
    let begun = tokio::time::timeout(Duration::from_secs(30), world.receiver.begun.notified());
    begun.await.expect("it calls");
    stop.cancel();
    world.receiver.go_on.notify_one();
    running.await.unwrap();
    assert_eq!(world.receiver.take().len(), 1);
    let now = world.clock().now() + SignedDuration::from_hours(1);
    let mut reader = world.rows.store.reader();
    let due = store::integration_turns::due(&mut reader, now, 10).await.unwrap();
    let mut work = world.rows.store.begin().await.unwrap();
    let turn = store::integration_turns::take(&mut work, &due[0], now, LEASE).await.unwrap();
    assert!(turn.unwrap().sent_through.is_some());
}
