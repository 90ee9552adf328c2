//! Other plans, other numbers of servers and larger disks. There is no engine here: what is
//! asserted are rows and answers, and `finish` does what the engine would.

mod cancelled;
mod disks;
mod dry_run;
mod grown;
mod plans;
mod refused;
mod shrunk;
mod terraform;

use crate::call::{Answer, Call};
use crate::world::World;
use kafka::client::NewTopic;
use model::{Instance, Membership, Resize};
use serde_json::{Value, json};

const BEGUN: &str = "Your cluster is being reconfigured…";

/// A cluster that is ready, with a Kafka that runs.
async fn cluster(world: &World, plan: &str, topics: &[NewTopic]) -> Instance {
    let instance = world.create_of(plan, "orders", &["prod"]).await;
    world.make_ready(instance.id).await;
    world.run_kafka(&instance, topics).await;
    world.load(instance.id.0).await
}

fn topic(name: &str, replicas: i16) -> NewTopic {
    NewTopic { name: name.into(), partitions: 2, replicas, settings: vec![] }
}

async fn put(world: &World, instance: &Instance, body: &Value) -> Answer {
    let path = format!("/api/instances/{}", instance.id);
    Call::put(&path).key(&world.key).json(body).send(&world.customer).await
}

/// An accepted change.
async fn change(world: &World, instance: &Instance, body: &Value) -> Instance {
    let answer = put(world, instance, body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text);
    assert_eq!(answer.json(), json!({"message": BEGUN}), "{body}");
    world.load(instance.id.0).await
}

async fn call(world: &World, instance: &Instance, method: &str, rest: &str) -> Answer {
    let path = format!("/api/instances/{}{rest}", instance.id);
    Call::new(method, &path).key(&world.key).send(&world.customer).await
}

async fn read(world: &World, instance: &Instance, rest: &str) -> Value {
    call(world, instance, "GET", rest).await.json()
}

async fn resize(world: &World, instance: &Instance) -> Option<Resize> {
    store::resizes::find(&mut world.app.store().reader(), instance.id).await.unwrap()
}

/// By number: node id, and whether it comes, stays or goes.
async fn members(world: &World, instance: &Instance) -> Vec<(u32, i32, Membership)> {
    let servers = world.servers(instance.id).await;
    servers.iter().map(|it| (it.number, it.node_id, it.membership)).collect()
}

/// What an instance has been, as bills have it.
async fn prices(world: &World, instance: &Instance) -> Vec<(String, i64)> {
    let (from, to) = ("2026-11-01T00:00:00Z".parse().unwrap(), world.app.now());
    let mut reader = world.app.store().reader();
    let to = to + model::SignedDuration::from_secs(1);
    let all = store::history::list(&mut reader, world.account, from, to).await.unwrap();
    let own = all.iter().filter(|entry| entry.instance_id == instance.id);
    own.map(|entry| (entry.plan.to_string(), entry.price.0)).collect()
}

/// What the engine writes once a change of servers is done, or undone.
async fn finish(world: &World, instance: &Instance) {
    let mut work = world.app.store().begin().await.unwrap();
    let disks = store::disks::list(&mut work, instance.id).await.unwrap();
    for server in store::servers::list_bare(&mut work, instance.id).await.unwrap() {
        if server.is_leaving() {
            let disk = disks.iter().find(|disk| disk.server_id == server.id).unwrap();
            store::disks::remove(&mut work, disk.id).await.unwrap();
            store::servers::remove(&mut work, server.id).await.unwrap();
        }
    }
    if let Some(resize) = store::resizes::find(&mut work, instance.id).await.unwrap() {
        assert!(store::resizes::end(&mut work, instance.id, resize.undo).await.unwrap());
    }
    work.commit().await.unwrap();
    world.make_ready(instance.id).await;
}
