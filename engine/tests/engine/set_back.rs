//! A clock that is set back keeps nobody waiting for as long as it went back.

use crate::world::World;
use engine::Runner;
use model::*;
use std::sync::Arc;
use std::time::Duration;
use store::instances;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);

/// Waits until the instance is due, or is no more.
async fn until_due(world: &World, id: InstanceId, wanted: bool) {
    let seen = async {
        loop {
            let due = instances::due(&mut world.store.reader(), world.clock.now()).await.unwrap();
            if due.contains(&id) == wanted {
                return;
            }
            sleep(LOOK).await;
        }
    };
    let is_seen = timeout(PATIENCE, seen).await.is_ok();
    assert!(is_seen, "whether it is due is not {wanted}: {:?}", world.instance(id).await);
}

#[tokio::test]
async fn every_instance_is_looked_at_anew() {
    let world = World::new().await;
    let id = world.create(1).await;
    let engine = Arc::new(world.engine());
    world.run(&engine, id).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(Runner::new(engine).run(stop.clone()));
    until_due(&world, id, false).await;
    let wakes = instances::wakes(&mut world.store.reader(), id).await.unwrap();

    world.clock.advance(-SignedDuration::from_hours(1));
    let looked = async {
        while instances::wakes(&mut world.store.reader(), id).await.unwrap() == wakes {
            sleep(LOOK).await;
        }
    };
    timeout(PATIENCE, looked).await.expect("the instance is looked at anew");
    until_due(&world, id, false).await;
    let again = instances::wakes(&mut world.store.reader(), id).await.unwrap();
    let soon = world.clock.now() + SignedDuration::from_mins(10);
    let due = instances::due(&mut world.store.reader(), soon).await.unwrap();
    assert_eq!(due, [id], "it rests by the clock as it is now");
    assert_eq!(again, wakes + 1, "once is enough");
    stop.cancel();
    running.await.unwrap();
}
