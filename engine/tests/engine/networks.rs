//! When a network is removed from its cloud: with the instance whose create made
//! it, or once a customer deleted it and nobody is left in it.

use crate::world::World;
use cloud::{Call, Effect, Fault};
use engine::{Networks, Rest};
use model::*;
use std::sync::Arc;
use store::{instances, pauses, vpcs};

/// An instance that is deleted while its network is kept.
async fn kept(world: &World) -> (VpcId, InstanceId) {
    let id = world.create(1).await;
    let engine = world.engine();
    world.run(&engine, id).await;
    let vpc = world.instance(id).await.unwrap().vpc_id;
    let mut work = world.store.begin().await.unwrap();
    instances::set_deleted(&mut work, id, world.clock.now()).await.unwrap();
    vpcs::release(&mut work, vpc, id, true, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    (vpc, id)
}

async fn delete(world: &World, vpc: VpcId) {
    let mut work = world.store.begin().await.unwrap();
    vpcs::set_deleted(&mut work, vpc, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
}

fn removals(world: &World, vpc: VpcId) -> usize {
    world.cloud.effects().iter().filter(|effect| **effect == Effect::NetworkRemoved(vpc)).count()
}

async fn is_on_record(world: &World, vpc: VpcId) -> bool {
    vpcs::find(&mut world.store.reader(), vpc).await.unwrap().is_some()
}

#[tokio::test]
async fn a_network_that_is_kept_goes_when_the_customer_deletes_it() {
    let world = World::new().await;
    let (vpc, id) = kept(&world).await;
    let engine = Arc::new(world.engine());
    let networks = Networks::new(Arc::clone(&engine));
    assert_eq!(world.run(&engine, id).await, Rest::Gone);
    networks.settle().await.unwrap();
    assert!(is_on_record(&world, vpc).await);
    assert_eq!(removals(&world, vpc), 0, "it stands alone");

    delete(&world, vpc).await;
    let mut work = world.store.begin().await.unwrap();
    pauses::set_all(&mut work, true, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    networks.settle().await.unwrap();
    assert_eq!(removals(&world, vpc), 0, "nothing is done while all is paused");

    let mut work = world.store.begin().await.unwrap();
    pauses::set_all(&mut work, false, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    world.cloud.fail_next(Call::RemoveNetwork, Fault::Retry, 1);
    world.cloud.fail_next(Call::RemoveNetwork, Fault::LostReply, 1);
    for _ in 0..2 {
        networks.settle().await.unwrap();
        assert!(is_on_record(&world, vpc).await, "its range is taken until that is certain");
    }
    networks.settle().await.unwrap();
    assert!(!is_on_record(&world, vpc).await);
    assert_eq!(removals(&world, vpc), 1);
}

#[tokio::test]
async fn a_deleted_network_waits_for_the_last_who_is_torn_down_in_it() {
    let world = World::new().await;
    let (vpc, id) = kept(&world).await;
    delete(&world, vpc).await;
    let engine = Arc::new(world.engine());
    let networks = Networks::new(Arc::clone(&engine));
    networks.settle().await.unwrap();
    assert_eq!(removals(&world, vpc), 0, "servers are still in it");
    assert_eq!(world.run(&engine, id).await, Rest::Gone);
    assert_eq!(removals(&world, vpc), 1);
    assert!(!is_on_record(&world, vpc).await);
    networks.settle().await.unwrap();
    assert_eq!(removals(&world, vpc), 1);
}
