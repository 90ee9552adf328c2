//! What people do with a running cluster, on a simulated Kafka. What real ones
//! make of it the tour of the server shows.

mod acls;
mod demands;
mod groups;
mod messages;
mod partly;
mod plans;
mod quotas;
mod settings;
mod strain;
mod topics;
mod trouble;
mod unconfirmed;
mod users;

use crate::call::{Answer, Call};
use crate::world::World;
use model::Instance;
use serde_json::Value;

/// A cluster that runs, without topics.
pub(crate) async fn cluster(world: &World, plan: &str) -> Instance {
    let instance = world.create_of(plan, "orders", &[]).await;
    world.make_ready(instance.id).await;
    let instance = world.load(instance.id.0).await;
    world.run_kafka(&instance, &[]).await;
    world.admit(&instance, "ada").await;
    instance
}

fn path(instance: &Instance, rest: &str) -> String {
    format!("/api/instances/{}/{rest}", instance.id)
}

pub(crate) async fn get(world: &World, instance: &Instance, rest: &str) -> Value {
    let answer = Call::get(&path(instance, rest)).key(&world.key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{rest}: {}", answer.text);
    answer.json()
}

pub(crate) async fn send(
    world: &World,
    method: &str,
    instance: &Instance,
    rest: &str,
    body: &Value,
) -> Answer {
    let call = Call::new(method, &path(instance, rest)).key(&world.key);
    let call = if body.is_null() { call } else { call.json(body) };
    call.send(&world.customer).await
}

/// The audit log's last lines, without what is the same in all of them.
async fn lines(world: &World, count: usize) -> Vec<String> {
    let all = world.audit().await;
    let short = |line: &String| {
        let (event, rest) = line.split_once(' ').unwrap();
        let (_, extras) = rest.split_once("name=orders; ").unwrap_or_default();
        format!("{event} {extras}")
    };
    all[all.len() - count..].iter().map(short).collect()
}
