//! What is asked of servers. There is no engine here: what is asserted are rows
//! and answers, and the tests do what the engine would.

mod cancel;
mod journal;
mod open;
mod restart;
mod servers;
mod stop;

use crate::call::{Answer, Call};
use crate::documents;
use crate::world::World;
use model::{Action, Instance};
use serde_json::{Value, json};

/// A cluster of three servers that is ready.
async fn cluster(world: &World) -> Instance {
    let instance = world.create_of("mouse-3", "orders", &["prod"]).await;
    world.make_ready(instance.id).await;
    world.load(instance.id.0).await
}

fn name(instance: &Instance, number: u32) -> String {
    format!("{}-{number:02}", instance.username)
}

fn named(instance: &Instance, numbers: &[u32]) -> Value {
    let names: Vec<String> = numbers.iter().map(|number| name(instance, *number)).collect();
    json!({"nodes": names})
}

fn path(instance: &Instance, rest: &str) -> String {
    format!("/api/instances/{}/{rest}", instance.id)
}

async fn post(world: &World, instance: &Instance, rest: &str) -> Answer {
    Call::post(&path(instance, rest)).key(&world.key).send(&world.customer).await
}

async fn post_json(world: &World, instance: &Instance, rest: &str, body: &Value) -> Answer {
    let call = Call::post(&path(instance, rest)).key(&world.key).json(body);
    call.send(&world.customer).await
}

/// Of each server, the start that it shall have.
async fn launches(world: &World, instance: &Instance) -> Vec<i64> {
    world.servers(instance.id).await.iter().map(|server| server.wanted.launch()).collect()
}

async fn stopped(world: &World, instance: &Instance) -> Vec<bool> {
    world.servers(instance.id).await.iter().map(|server| server.wanted.is_stopped()).collect()
}

/// What an agent reports of its broker. One that runs may not have answered since then.
async fn report(
    world: &World,
    instance: &Instance,
    number: u32,
    phase: &str,
    silent_since: Option<&str>,
) {
    let servers = world.servers(instance.id).await;
    let server = servers.iter().find(|server| server.number == number).unwrap();
    let fields =
        json!({"phase": phase, "launch": server.wanted.launch(), "silent_since": silent_since});
    let report = documents::report(server, &fields);
    let mut work = world.app.store().begin().await.unwrap();
    store::servers::set_report(&mut work, server.id, &report, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
}

async fn actions(world: &World, instance: &Instance) -> usize {
    let mut reader = world.app.store().reader();
    store::actions::list(&mut reader, instance.id, 100).await.unwrap().len()
}

/// Why something else is refused while a restart goes on that no server has followed
/// as yet: to a customer key, and to the instance's own, which sees nobody.
fn busy(instance: &Instance, restart: &Action) -> [String; 2] {
    let Action { id, asked_by, asked_at, .. } = restart;
    let awaited = (1..=3).filter(|number| restart.is_about(*number));
    let status: Vec<String> =
        awaited.map(|number| format!("waiting: server {number} is to be restarted")).collect();
    let beginning = |by: &str| {
        let (title, status) = (restart.title(), status.join("; "));
        format!(
            "The cluster follows another change: action {id} ({title}, asked for{by} \
             at {asked_at:.0}; {status})"
        )
    };
    let customer = format!(
        "{}; wait for it (castellan instance watch {instance}) \
         or cancel it (POST /api/instances/{instance}/actions/{id}/cancel)",
        beginning(&format!(" by {asked_by}")),
        instance = instance.id,
    );
    [customer, format!("{}; try again once `configured` reads true", beginning(""))]
}

/// The last line of the audit log, with the instance's own name for its servers.
async fn last_line(world: &World, instance: &Instance) -> String {
    world.audit().await.pop().unwrap().replace(&instance.username, "[username]")
}
