//! The exact body of every success and of every kind of error.

use crate::call::{Answer, Call};
use crate::coverage::Things;
use crate::openapi::{document, filled, operation};
use crate::world::World;
use api::routes::{self, Guard, Route};
use axum::Router;
use model::{Role, Secret};
use serde_json::Value;
use std::time::Duration;
use web::{Options, Rate, RateLimit, RateLimits};

/// What is made at random is named instead; a page for people is left out.
async fn shown(world: &World, answer: &Answer) -> String {
    if answer.header("content-type").starts_with("text/html") {
        return format!("{}\n[page]", answer.status);
    }
    let mut reader = world.app.store().reader();
    let instances = store::instances::list(&mut reader, world.account).await.unwrap();
    let text = answer.shown(&instances.iter().collect::<Vec<_>>());
    let (status, body) = text.split_once('\n').unwrap();
    let Ok(mut body) = serde_json::from_str::<Value>(body) else { return text };
    name_random(&mut body);
    format!("{status}\n{}", serde_json::to_string_pretty(&body).unwrap())
}

fn name_random(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(name_random),
        Value::Object(fields) => fields.values_mut().for_each(name_random),
        Value::String(text) if text.parse::<model::AccountId>().is_ok() => *text = "[uuid]".into(),
        Value::String(text) if is_key(text) => *text = "[key]".into(),
        _ => {}
    }
}

fn is_key(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.len() == 43 && text.bytes().all(plain)
}

/// The call that the document's own example makes.
async fn example(route: &Route, document: &Value, world: &World) -> Call {
    let operation = operation(document, route);
    let things = Things::make_for(world, route).await;
    let path = filled(route, operation, &things);
    let call = Call::new(route.method.as_str(), &path);
    let content = &operation["requestBody"]["content"];
    let body = &content["application/json"]["example"];
    if body.is_null() { call } else { call.json(&things.example(body)) }
}

#[tokio::test]
async fn every_success_of_the_customer_api() {
    let spare = World::new().await;
    let document = document(&spare.customer).await;
    for route in routes::customer() {
        if route.path == "/openapi.json" {
            // It has a snapshot of its own.
            continue;
        }
        let world = World::new().await;
        let call = example(&route, &document, &world).await;
        let answer = call.key(&world.key).send(&world.customer).await;
        assert!(answer.status.is_success(), "{} {}: {}", route.method, route.path, answer.text);
        let name = format!("{}{}", route.method, route.path).replace(['/', '{', '}'], "_");
        insta::assert_snapshot!(format!("success_{name}"), shown(&world, &answer).await);
    }
}

/// Status, the headers that belong to errors, and the body.
fn error(what: &str, answer: &Answer) -> String {
    assert_eq!(answer.header("content-type"), "application/json");
    let mut lines = vec![format!("{what}\n{}", answer.status)];
    for name in ["allow", "www-authenticate", "retry-after"] {
        if !answer.header(name).is_empty() {
            lines.push(format!("{name}: {}", answer.header(name)));
        }
    }
    lines.push(answer.text.clone());
    lines.join("\n")
}

#[tokio::test]
async fn every_kind_of_error() {
    let world = World::new().await;
    let things = Things::make(&world).await;
    let key = &world.key;
    let monitor = world.member(Role::Monitor, &[]).await;
    let wrong = Secret::new("wrong");
    let instance = things.path("/api/instances/{id}");
    let create = || Call::post("/api/instances").key(key);
    let mut errors = Vec::new();
    for (what, call) in [
        ("no key", Call::get("/api/plans")),
        ("a wrong key", Call::get("/api/plans").key(&wrong)),
        ("a role that may not", Call::delete(&instance).key(&monitor)),
        ("no such instance", Call::get("/api/instances/99").key(key)),
        ("no such network", Call::get("/api/vpcs/99").key(key)),
        ("no such path", Call::get("/api/nothing").key(key)),
        ("no such method", Call::new("PATCH", "/api/plans").key(key)),
        ("fields that are missing", create().form("name=orders")),
        ("one field that is wrong", create().form("name=a&plan=mouse-1&region=moon")),
        ("nothing to change", Call::put(&instance).key(key).form("colour=red")),
        ("not available yet", Call::put(&instance).key(key).form("plan=bat-1")),
        ("JSON without its header", create().bytes("{}")),
        ("no JSON", create().body("application/json", "{")),
        ("no object", create().body("application/json", "[]")),
        ("no body that is known", create().body("application/pdf", "%PDF")),
        ("a body that is too large", create().form(&"x".repeat(1024 * 1024 + 1))),
        ("a network in use", Call::delete("/api/vpcs/1").key(key)),
        ("what shared plans don't have", {
            create().form("name=a&plan=ducky&region=local::this-machine&vpc_id=1")
        }),
    ] {
        errors.push(error(what, &call.send(&world.customer).await));
    }
    let details = Call::get("/api/details").send(&world.instance).await;
    errors.push(error("no key for an instance", &details));

    let limits = RateLimits { key: Rate { per_second: 1, burst: 1 }, ..RateLimits::OFF };
    // Its clock stands still.
    let rate_limit = || RateLimit::on(limits, || Duration::ZERO);
    let options = || Options { rate_limit: rate_limit(), ..Options::default() };
    let limited: Router = api::customer_router(world.app.clone(), options());
    let plans = Call::get("/api/plans").key(key);
    plans.send(&limited).await;
    errors.push(error("too many requests", &plans.send(&limited).await));
    let stopping = options();
    stopping.stopping.cancel();
    let stopping = api::customer_router(world.app.clone(), stopping);
    errors.push(error("a stop", &plans.send(&stopping).await));
    world.app.store().close().await;
    errors.push(error("a store that is away", &plans.send(&world.customer).await));
    insta::assert_snapshot!("errors", errors.join("\n\n"));
}

#[tokio::test]
async fn open_routes_need_no_key() {
    let world = World::new().await;
    for (router, table) in
        [(&world.customer, routes::customer()), (&world.instance, routes::instance())]
    {
        for route in table.iter().filter(|route| route.guard == Guard::Open) {
            let answer = Call::get(&route.path).send(router).await;
            assert_eq!(answer.status, 200, "{}", route.path);
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
        }
    }
}
