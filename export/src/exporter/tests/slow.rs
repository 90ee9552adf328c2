//! Systems that take what they are sent, and are slow.

use super::fixture::*;
use std::time::Duration;
use tokio::time::timeout;

#[tokio::test]
async fn slow_ones_hold_fewer_places_the_next_time() {
    let world = World::new(&[1, 1, 1]).await;
    for (instance, _) in &world.instances {
        world.integrate(*instance).await;
        world.receiver.answer((*instance, FIRST), &[const { Answer::Wait }; 2]);
    }
    let mut plane = world.plane().await;
    plane.round.exporter.patience = Duration::from_mins(1);
    world.live(&plane, 120).await;
    plane.round.look().await.unwrap();
    let begun = async {
        while world.receiver.calls.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), begun).await.expect("all are called");
    world.pass(6);
    world.receiver.go_on.notify_waiters();
    plane.work().await;
    assert_eq!(world.integration(world.instances[0].0).await.error, "");

    world.live(&plane, 60).await;
    plane.round.look().await.unwrap();
    assert_eq!(plane.round.under_way.count(), 2, "of one account at one system");
}
