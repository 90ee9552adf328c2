//! Addresses that a cloud gives to servers, whatever is on record.

use crate::world::World;
use cloud::conformance::addresses;
use cloud::{Addresses, Call, Fault};
use engine::Engine;
use model::{InstanceId, Server};
use store::servers;

const SERVERS: u32 = 3;

/// What the cloud gives a server, in a network of its own.
fn given(server: &Server, network: u8) -> Addresses {
    addresses(&format!("10.{network}.0.{}", server.number))
}

async fn assign(world: &World, id: InstanceId, network: u8) {
    for record in world.servers(id).await {
        world.cloud.assign(record.server.id, given(&record.server, network));
    }
}

/// A few passes, with the agents at work. Nobody can log in where these servers are.
async fn pass(world: &World, engine: &Engine, id: InstanceId) {
    for _ in 0..6 {
        engine.pass(id).await.unwrap();
        world.agents(id).await;
        world.clock.advance(model::SignedDuration::from_secs(2));
    }
}

async fn assert_all_in(world: &World, id: InstanceId, network: u8) {
    let mut taken = servers::taken_listeners(&mut world.store.reader()).await.unwrap();
    for record in world.servers(id).await {
        let given = given(&record.server, network);
        assert_eq!(record.server.private_ip, given.private_ip);
        assert_eq!(record.server.listeners, given.listeners);
        taken.retain(|(host, _)| *host != given.private_ip);
        let properties = record.parse_desired().unwrap().unwrap().broker.unwrap().properties;
        assert!(!properties.contains("127.64."), "{properties}");
        for number in 1..=SERVERS {
            let controller = format!("10.{network}.0.{number}:9090");
            assert!(properties.contains(&controller), "{controller} in {properties}");
        }
    }
    assert_eq!(taken, [], "what was chosen before is free");
}

#[tokio::test]
async fn a_new_server_is_where_its_cloud_says() {
    let world = World::new().await;
    let id = world.create(SERVERS).await;
    assign(&world, id, 1).await;
    // The first of them is made, and nobody hears of it.
    world.cloud.fail_next(Call::EnsureServer, Fault::LostReply, 1);
    pass(&world, &world.engine(), id).await;
    assert_all_in(&world, id, 1).await;
    assert_eq!(world.cloud.made_twice(), []);
}

#[tokio::test]
async fn a_server_that_was_made_before_stays_where_it_is_on_record() {
    let world = World::new().await;
    let id = world.create(SERVERS).await;
    assign(&world, id, 1).await;
    pass(&world, &world.engine(), id).await;
    assign(&world, id, 2).await;
    pass(&world, &world.engine(), id).await;
    assert_all_in(&world, id, 1).await;
}
