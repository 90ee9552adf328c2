//! Control planes that die, and several on one store.

use super::fixture::*;
use crate::exporter::{LIMITS, TAKEOVER};
use crate::turn::LEASE;
use model::{Clock as _, SignedDuration};
use std::time::Duration;
use store::Store;
use tokio::time::timeout;
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
    while first.round.tasks.join_next().await.is_some() {}
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
        world.take_sample(&second, instance, *server, world.now()).await;
    }
    world.pass(LEASE.as_secs());
    second.work().await;
    assert!(world.receiver.take().is_empty(), "what they kept is on its way");
    for server in &world.instances[0].1 {
        for at in (begin..=world.now()).step_by(10) {
            world.take_sample(&second, instance, *server, at).await;
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
async fn the_one_that_hears_the_agents_goes_first_and_another_takes_over() {
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
async fn servers_that_two_control_planes_hear_are_sent_together_after_each_minute() {
    let world = World::new(&[2]).await;
    let (instance, servers) = world.instances[0].clone();
    world.integrate(instance).await;
    let (mut one, mut other) = (world.plane().await, world.plane().await);
    let mut sent = Vec::new();
    // Across the end of a window.
    for _ in 0..90 {
        world.take_sample(&one, instance, servers[0], world.now()).await;
        world.take_sample(&other, instance, servers[1], world.now()).await;
        world.see(&servers).await;
        world.pass(10);
        for plane in [&mut one, &mut other] {
            plane.flush().await;
            plane.work().await;
        }
        for call in world.receiver.take() {
            for minute in call.minutes() {
                let of_minute = call.points.iter().filter(|it| it.at.as_second() == minute);
                let connections: Vec<_> = of_minute
                    .filter(|it| it.name == "castellan.kafka.connections")
                    .map(|it| (it.server.name.clone(), it.value))
                    .collect();
                let mean = mean(minute);
                let expected = [("x-01".to_owned(), mean), ("x-02".to_owned(), mean)];
                assert_eq!(connections, expected, "at {minute}");
                sent.push((minute, call.at.as_second() - minute - 60));
            }
        }
    }
    assert!(sent.len() >= 12, "{sent:?}");
    assert!(sent.iter().all(|(_, delay)| *delay <= 100), "{sent:?}");
    assert!(sent.windows(2).all(|pair| pair[1].0 == pair[0].0 + 60), "{sent:?}");
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
            world.take_sample(&one, *id, servers[0], world.now()).await;
            world.take_sample(&other, *id, servers[0], world.now()).await;
        }
        world.pass(10);
    }
    let (first, second) = tokio::join!(one.round.look(), other.round.look());
    first.unwrap();
    second.unwrap();
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
    plane.round.exporter.patience = Duration::from_mins(1);
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
    let due = store::integration_turns::due(&mut reader, now, LIMITS).await.unwrap();
    let mut work = world.rows.store.begin().await.unwrap();
    let turn = store::integration_turns::take(&mut work, &due[0], now, LEASE).await.unwrap();
    assert!(turn.unwrap().sent_through.is_some());
}

#[tokio::test]
async fn a_history_that_is_away_skips_nothing() {
    let world = World::new(&[1]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut plane = world.plane().await;
    world.live(&plane, 120).await;
    plane.work().await;
    let before: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    world.live(&plane, 300).await;
    // What is on disk now is in memory no more.
    plane.write_everything().await;
    plane.work().await;
    assert!(world.receiver.take().is_empty());
    assert_eq!(world.integration(instance).await.error, "", "it is no fault of the system");

    let mut plane = world.plane().await;
    world.live(&plane, 120).await;
    plane.work().await;
    let after: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    let first = before.last().unwrap() + 60;
    let whole: Vec<_> = (first..=*after.last().unwrap()).step_by(60).collect();
    assert_eq!(after, whole);
    assert!(after.len() >= 6, "{after:?}");
}

#[tokio::test]
async fn on_postgresql_settings_that_another_control_plane_changes_are_sent_with_at_once() {
    let world = World::on_postgres(&[1]).await;
    let (instance, _) = world.instances[0];
    let mut plane = world.plane().await;
    plane.round.exporter.patience = Duration::from_mins(1);
    world.live(&plane, 180).await;
    world.integrate(instance).await;
    world.receiver.answer((instance, FIRST), &[Answer::Wait]);
    plane.round.look().await.unwrap();
    let begun = timeout(Duration::from_secs(30), world.receiver.begun.notified());
    begun.await.expect("it calls");
    let key = world.rows.store.master_key().clone();
    let other = Store::open(&world.history, key).await.unwrap();
    world.set_config_in(&other, instance, config("two")).await;
    let heard = timeout(Duration::from_secs(30), plane.round.under_way.changed());
    heard.await.expect("the change is announced");
    plane.work().await;
    let calls = world.receiver.take();
    let keys: Vec<_> = calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys, ["one", "two"]);
    assert_eq!(calls[0].minutes(), calls[1].minutes());
    let mut reader = other.reader();
    let wait = store::integration_turns::next_due(&mut reader, world.clock().now()).await;
    let wait = wait.unwrap().unwrap();
    assert!(wait <= SignedDuration::from_secs(60) && wait.as_secs() > -60, "{wait:?}");
    other.close().await;
}
