//! Minutes of more points than one call takes.

use super::fixture::*;
use crate::turn::CALLS;
use model::{InstanceId, Timestamp, TopicSeries};
use series::Sample;
use ship::{Point, Verdict};
use std::collections::BTreeMap;
use watch::metrics;

/// Agents of the first instance sample a hundred topics each for so many seconds.
async fn live_with_topics(world: &World, plane: &Plane, seconds: i64) {
    let (instance, servers) = &world.instances[0];
    let values: BTreeMap<TopicSeries, f32> = TopicSeries::ALL.iter().map(|it| (*it, 1.0)).collect();
    let topics = (0..100).map(|number| (format!("t{number}").into(), values.clone()));
    let topics: BTreeMap<_, _> = topics.collect();
    for _ in 0..seconds / 10 {
        for server in servers {
            let sample = Sample { topics: topics.clone(), ..sample(world.now()) };
            metrics::take(&plane.context, *instance, *server, vec![sample]).await.unwrap();
        }
        world.pass(10);
    }
    world.see(servers).await;
}

/// An instance of so many servers with an integration, and two minutes of many points.
async fn with_topics(servers: u32) -> (World, InstanceId, Plane) {
    let world = World::new(&[servers]).await;
    let (instance, _) = world.instances[0];
    world.integrate(instance).await;
    let plane = world.plane().await;
    live_with_topics(&world, &plane, 120).await;
    (world, instance, plane)
}

/// What each point of a call is of.
fn names(call: &Call) -> Vec<(Timestamp, String, String)> {
    let name = |it: &Point| format!("{} {:?}", it.name, it.label);
    call.points.iter().map(|it| (it.at, it.server.name.clone(), name(it))).collect()
}

#[tokio::test]
async fn a_turn_of_many_points_has_time_for_them() {
    let (world, instance, mut plane) = with_topics(5).await;
    plane.round.exporter.patience = CALLS;
    world.receiver.answer((instance, FIRST), &[Answer::Slow]);
    plane.work().await;
    let calls = world.receiver.take();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].points.len() > 2000, "{}", calls[0].points.len());
    assert_eq!(world.integration(instance).await.error, "");
}

#[tokio::test]
async fn of_a_minute_that_is_taken_in_part_the_rest_is_sent() {
    let (world, instance, mut plane) = with_topics(2).await;
    world.receiver.answer((instance, FIRST), &[const { Answer::Part(300) }; 2]);
    plane.work().await;
    let whole = world.receiver.take();
    let all = names(&whole[0]);
    assert!(whole.len() == 1 && all.len() > 800, "{} calls, {} points", whole.len(), all.len());
    assert_eq!(whole[0].minutes().len(), 1, "one minute");
    world.pass(5);
    plane.work().await;
    let rest = world.receiver.take();
    assert_eq!(names(&rest[0]), all[300..], "what was taken is not sent again");

    // With other settings it may be another account over there.
    world.set_config(instance, config("two")).await;
    plane.work().await;
    let calls = world.receiver.take();
    assert_eq!(names(&calls[0]), all);
    assert_eq!(world.integration(instance).await.error, "");
}

/// If only what is refused is left of a minute, nothing shows that it is alone in that.
#[tokio::test]
async fn a_rest_that_is_refused_is_sent_with_its_minute_again() {
    let (world, instance, mut plane) = with_topics(1).await;
    let refused = Answer::Trouble(Verdict::Refused, "it makes nothing of what it is sent");
    world.receiver.answer((instance, FIRST), &[Answer::Part(300), refused]);
    plane.work().await;
    world.pass(5);
    plane.work().await;
    let calls = world.receiver.take();
    let all = names(&calls[0]);
    assert_eq!(calls.len(), 2);
    assert_eq!(names(&calls[1]), all[300..]);
    // Its agents are heard no more, so it is taken a minute late.
    world.pass(400);
    plane.work().await;
    assert_eq!(names(&world.receiver.take()[0]), all);
}
