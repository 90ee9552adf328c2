//! Every route of the table, called by everybody who may not. A new route
//! fails here until its row says who may.

use crate::call::{Answer, Call};
use crate::world::World;
use api::routes::{self, Guard, Route};
use axum::Router;
use model::{Instance, Role, Secret};

const EVERYBODY: [Role; 5] = Role::ALL;
const SEE: [Role; 4] = [Role::Admin, Role::Devops, Role::Member, Role::Monitor];
const CHANGE: [Role; 3] = [Role::Admin, Role::Devops, Role::Member];
const CREATE: [Role; 2] = [Role::Admin, Role::Devops];

/// Who may call a route of the Customer API.
fn roles(route: &Route) -> &'static [Role] {
    match (route.method.as_str(), route.path.as_str()) {
        ("GET", "/api/plans" | "/api/regions") => &EVERYBODY,
        ("GET", path) if path.starts_with("/api/instances") => &SEE,
        ("POST", "/api/instances") | ("DELETE", "/api/instances/{id}") => &CREATE,
        ("PUT", "/api/instances/{id}") => &CHANGE,
        ("POST", path) if path.starts_with("/api/instances/{id}/actions/") => &CHANGE,
        (method, path) => panic!("say who may call {method} {path}"),
    }
}

fn call(route: &Route, instance: &Instance) -> Call {
    let path = route.path.replace("{id}", &instance.id.to_string());
    assert!(!path.contains('{'), "say what stands for the placeholder of {path}");
    Call::new(route.method.as_str(), &path)
}

fn wrong() -> Secret {
    Secret::new("x".repeat(43))
}

fn expect_401(answer: &Answer, realm: &str, route: &Route) {
    assert_eq!(answer.text, r#"{"error":"Not authorized"}"#, "{} {}", route.method, route.path);
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), format!("Basic realm=\"{realm}\""));
}

async fn expect_405_and_404(route: &Route, instance: &Instance, router: &Router) {
    let path = route.path.replace("{id}", &instance.id.to_string());
    for method in ["PATCH", "OPTIONS", "TRACE"] {
        let answer = Call::new(method, &path).send(router).await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(answer.header("allow").contains(route.method.as_str()), "{method} {path}");
        assert!(answer.json()["error"].is_string());
    }
    let missing =
        Call::new(route.method.as_str(), &format!("{path}/nothing/here")).send(router).await;
    missing.expect_error(404, "Not Found");
}

#[tokio::test]
async fn customer_routes_turn_away_everybody_who_may_not() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let stranger = world.stranger().await;
    for route in routes::customer() {
        expect_405_and_404(&route, &instance, &world.customer).await;
        let call = call(&route, &instance);
        if route.guard == Guard::Open {
            assert_eq!(call.send(&world.customer).await.status, 200, "{}", route.path);
            continue;
        }
        assert_eq!(route.guard, Guard::CustomerKey, "{}", route.path);
        let nobody = [
            call.clone(),
            call.clone().key(&wrong()),
            call.clone().key(&instance.apikey),
            call.clone().header("authorization", "Bearer x"),
        ];
        for call in nobody {
            expect_401(&call.send(&world.customer).await, "Customer API", &route);
        }
        let other = call.clone().key(&stranger).send(&world.customer).await;
        if route.path.contains("{id}") {
            other.expect_error(404, "Invalid ID");
        }
        assert!(!other.text.contains("orders"), "{}: {}", route.path, other.text);
        let no_id = route.path.replace("{id}", "x");
        if no_id != route.path {
            let call = Call::new(route.method.as_str(), &no_id).key(&world.key);
            call.send(&world.customer).await.expect_error(404, "Invalid ID");
        }
    }
}

#[tokio::test]
async fn customer_routes_know_every_role() {
    let world = World::new().await;
    for route in routes::customer().iter().filter(|route| route.guard != Guard::Open) {
        for role in Role::ALL {
            let instance = world.create("orders", &[]).await;
            let key = world.member(role, &[]).await;
            let call = call(route, &instance).key(&key);
            let answer = call.send(&world.customer).await;
            let allowed = roles(route).contains(&role);
            // A create or an update without fields is past the check of roles.
            let expected: &[u16] = if allowed { &[200, 204, 400] } else { &[403] };
            assert!(
                expected.contains(&answer.status.as_u16()),
                "{role}: {} {} gave {}",
                route.method,
                route.path,
                answer.status
            );
            if !allowed {
                let error = answer.json()["error"].to_string();
                assert!(error.contains("admin"), "the needed role is named: {error}");
                // The role is checked before the body is looked at, and before the id.
                let broken = call.body("application/json", "{").send(&world.customer).await;
                assert_eq!(broken.status, 403);
            }
        }
    }
}

#[tokio::test]
async fn instance_routes_open_to_the_instances_own_key_alone() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let neighbour = world.create("payments", &[]).await;
    for route in routes::instance() {
        expect_405_and_404(&route, &instance, &world.instance).await;
        let call = call(&route, &instance);
        if route.guard == Guard::Open {
            assert_eq!(call.send(&world.instance).await.status, 200, "{}", route.path);
            continue;
        }
        assert_eq!(route.guard, Guard::InstanceKey, "{}", route.path);
        for call in [call.clone(), call.clone().key(&wrong()), call.clone().key(&world.key)] {
            expect_401(&call.send(&world.instance).await, "Instance API", &route);
        }
        let own = call.clone().key(&instance.apikey).send(&world.instance).await;
        let other = call.clone().key(&neighbour.apikey).send(&world.instance).await;
        assert_eq!((own.status.as_u16(), other.status.as_u16()), (200, 200));
        assert!(!other.text.contains("orders"), "{}", other.text);
        assert_ne!(own.text, other.text, "{}", route.path);
    }
}

#[tokio::test]
async fn agent_routes_ask_for_what_they_say() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    for route in routes::agent() {
        expect_405_and_404(&route, &instance, &world.agent).await;
        let call = call(&route, &instance);
        let keys = [None, Some(&world.key), Some(&instance.apikey)];
        for key in keys {
            let call = key.map_or(call.clone(), |key| call.clone().key(key));
            let answer = call.json(&serde_json::json!({})).send(&world.agent).await;
            let expected = match route.guard {
                Guard::Open => 200,
                Guard::AgentCertificate => 401,
                // The token is in the document, which is empty here.
                Guard::AgentToken => 400,
                Guard::Neighbour => 403,
                guard => panic!("{guard:?} does not belong on the agents' listener"),
            };
            assert_eq!(answer.status, expected, "{} {}", route.method, route.path);
            assert_eq!(answer.header("www-authenticate"), "");
        }
    }
}
