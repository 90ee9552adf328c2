//! What is sent when everything works.

use super::fixture::*;
use model::IntegrationSystem;
use std::collections::BTreeMap;

#[tokio::test]
async fn a_minute_is_sent_once_and_whole_as_soon_as_it_is_settled() {
    let world = World::new(&[3]).await;
    let (instance, _) = world.instances[0];
    let mut plane = world.plane().await;
    // From the beginning of a minute on.
    let begin = world.now();
    world.live(&plane, 60).await;
    world.integrate(instance).await;
    plane.work().await;
    assert!(world.receiver.take().is_empty(), "the minute is over, but not settled");
    world.live(&plane, 10).await;
    plane.work().await;
    assert!(world.receiver.take().is_empty());

    world.live(&plane, 60).await;
    plane.work().await;
    let calls = world.receiver.take();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    assert_eq!(call.minutes(), [begin]);
    assert_eq!((call.origin.id, call.origin.name.as_str()), (instance, "orders"));
    let of_connections: Vec<_> =
        call.points.iter().filter(|it| it.name == "castellan.kafka.connections").collect();
    let servers: Vec<_> = of_connections.iter().map(|it| it.server.name.as_str()).collect();
    assert_eq!(servers, ["x-01", "x-02", "x-03"]);
    for point in of_connections {
        assert_eq!((point.unit, point.value, &point.label), ("connections", mean(begin), &None));
    }

    // From then on each minute in its turn.
    let mut sent = Vec::new();
    for _ in 0..30 {
        world.live(&plane, 10).await;
        plane.work().await;
        let calls = world.receiver.take();
        sent.extend(calls.iter().flat_map(Call::minutes));
    }
    assert_eq!(sent, (1..=5).map(|minute| begin + minute * 60).collect::<Vec<_>>());
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn what_was_missed_comes_in_order_in_calls_of_ten_minutes() {
    let check = async |system, hours: i64, expected: i64| {
        let world = World::new(&[1]).await;
        let (instance, _) = world.instances[0];
        world.integrate_with(instance, system).await;
        let mut plane = world.plane().await;
        let begin = world.now();
        world.live(&plane, 120).await;
        plane.work().await;
        world.live(&plane, 60).await;
        plane.work().await;
        assert!(!world.receiver.take().is_empty());
        // No control plane sends meanwhile, and all that was in memory goes.
        world.live(&plane, hours * 3600).await;
        plane.write_everything().await;
        let mut plane = world.plane().await;
        world.live(&plane, 120).await;
        plane.work().await;
        let calls = world.receiver.take();
        assert!(calls.iter().all(|call| call.minutes().len() <= 10), "{system}");
        let sent: Vec<_> = calls.iter().flat_map(Call::minutes).collect();
        let last = series::align(world.now() - 20, 60) - 60;
        let first = (last - (expected - 1) * 60).max(begin);
        let due: Vec<_> = (first..=last).step_by(60).collect();
        assert_eq!(sent, due, "{system}");
        for point in calls.iter().flat_map(|call| &call.points) {
            if point.name == "castellan.kafka.connections" {
                assert!((point.value - mean(point.at.as_second())).abs() < 1e-9, "{point:?}");
            }
        }
    };
    check(IntegrationSystem::Librato, 1, 62).await;
    check(IntegrationSystem::Datadog, 3, 58).await;
    check(IntegrationSystem::Newrelic, 25, 24 * 60 - 1).await;
}

#[tokio::test]
async fn a_pause_of_the_instance_is_no_gap_that_stops_the_rest() {
    let world = World::new(&[1]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let mut plane = world.plane().await;
    world.live(&plane, 180).await;
    plane.work().await;
    let before = world.receiver.take().iter().flat_map(Call::minutes).next_back().unwrap();
    world.pass(1800);
    plane.work().await;
    // What had been heard up to there is sent, and nothing of the pause.
    let rest = world.receiver.take().iter().flat_map(Call::minutes).collect::<Vec<_>>();
    assert!(rest.iter().all(|minute| *minute > before && *minute <= before + 120), "{rest:?}");
    let again = world.now();
    world.live(&plane, 180).await;
    plane.work().await;
    let sent: Vec<_> = world.receiver.take().iter().flat_map(Call::minutes).collect();
    assert!(sent.len() >= 2 && sent[0] >= series::align(again, 60), "{sent:?}");
}

#[tokio::test]
async fn a_fleet_is_spread_and_no_point_comes_late() {
    const COUNT: usize = 60;
    let world = World::new(&[1; COUNT]).await;
    for (id, _) in &world.instances {
        world.integrate(*id).await;
    }
    let mut plane = world.plane().await;
    world.live(&plane, 120).await;
    plane.work().await;
    world.receiver.take();
    let mut delays = Vec::new();
    let mut seconds: BTreeMap<i64, usize> = BTreeMap::new();
    let begin = world.now();
    for _ in 0..180 {
        world.pass(1);
        if world.now() % 10 == 0 {
            for (id, servers) in &world.instances {
                world.take_sample(&plane, *id, servers[0], world.now()).await;
            }
        }
        plane.work().await;
        for call in world.receiver.take() {
            *seconds.entry(call.at.as_second() - begin).or_default() += 1;
            delays.extend(call.minutes().iter().map(|minute| call.at.as_second() - minute - 60));
        }
    }
    assert_eq!(delays.len(), 3 * COUNT, "each minute of each instance");
    assert!(delays.iter().all(|delay| (20..=90).contains(delay)), "{delays:?}");
    assert!(seconds.values().all(|calls| *calls <= 8), "{seconds:?}");
}
