//! The rules that hold everywhere: bodies, headers, limits, order of checks.

use crate::call::Call;
use crate::world::World;
use axum::body::{Body, Bytes};
use axum::http::Request;
use http_body_util::BodyExt as _;
use serde_json::json;
use std::time::Duration;
use tower::ServiceExt as _;
use web::Options;

const NEEDS_HEADER: &str = "JSON needs the header Content-Type: application/json";

#[tokio::test]
async fn a_body_comes_as_json_form_multipart_or_query() {
    let world = World::new().await;
    let text = "name=orders&plan=mouse-1&region=local%3A%3Athis-machine&tags=a,b&nodes=1";
    let object = json!({
        "name": "orders", "plan": "mouse-1", "region": "local::this-machine",
        "tags": ["a", "b"], "nodes": 1,
    });
    let part = |name: &str, value: &str| {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let multipart = part("name", "orders")
        + &part("plan", "mouse-1")
        + &part("region", "local::this-machine")
        + &part("tags[]", "a")
        + &part("tags[]", "b")
        + &part("nodes", "1")
        + "--x--\r\n";
    let post = || Call::post("/api/instances").key(&world.key);
    for call in [
        post().json(&object),
        post().body("application/json; charset=utf-8", object.to_string()),
        post().form(text),
        post().body("multipart/form-data; boundary=x", multipart),
        Call::post(&format!("/api/instances?{text}")).key(&world.key),
    ] {
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let instance = world.load(answer.json()["id"].as_i64().unwrap()).await;
        assert_eq!(instance.name.as_str(), "orders");
        assert_eq!(instance.tags.as_slice(), ["a", "b"]);
    }
}

#[tokio::test]
async fn a_body_that_cant_be_read_is_a_400_in_json() {
    let world = World::new().await;
    let post = || Call::post("/api/instances").key(&world.key);
    let object = json!({"name": "orders"}).to_string();
    post().form(&object).send(&world.customer).await.expect_error(400, NEEDS_HEADER);
    post().body("text/plain", object).send(&world.customer).await.expect_error(400, NEEDS_HEADER);
    for call in [
        post().body("application/json", "{"),
        post().body("application/json", b"{\"name\":\"\xff\"}".to_vec()),
        post().body("application/json", "[]"),
        post().body("application/octet-stream", "name=orders"),
        post().body("multipart/form-data", "--x"),
        post().form("name=%ff"),
        post().form("name=a&name=b"),
    ] {
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert!(answer.json()["error"].as_str().unwrap().len() > 10, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_body_is_bounded_in_size_and_time() {
    let world = World::new().await;
    let post = Call::post("/api/instances").key(&world.key);
    let large = post.clone().form(&format!("name={}", "x".repeat(1024 * 1024)));
    large.send(&world.customer).await.expect_error(413, "The request body is larger than 1024 KiB");
    // Without a key nobody waits for a body.
    let unknown = Call::post("/api/instances").form(&"x".repeat(1024 * 1024 + 1));
    unknown.send(&world.customer).await.expect_error(401, "Not authorized");

    let options = Options { body_timeout: Duration::from_millis(50), ..Options::default() };
    let router = api::customer_router(world.app.clone(), options);
    let never = futures::stream::pending::<Result<Bytes, std::io::Error>>();
    let key = Call::post("/api/instances").key(&world.key);
    let request = Request::post("/api/instances")
        .header("authorization", key.sent_header("authorization"))
        .body(Body::from_stream(never))
        .unwrap();
    let answer = router.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 400);
}

#[tokio::test]
async fn a_call_is_under_way_until_its_body_was_read() {
    let world = World::new().await;
    let options = Options::default();
    let router = api::customer_router(world.app.clone(), options.clone());
    let key = Call::get("/api/auditlog/csv").key(&world.key);
    let request = Request::get("/api/auditlog/csv")
        .header("authorization", key.sent_header("authorization"))
        .body(Body::empty())
        .unwrap();
    let answer = router.oneshot(request).await.unwrap();
    assert_eq!((answer.status().as_u16(), options.under_way.len()), (200, 1));
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(text.starts_with(b"Timestamp,"), "{text:?}");
    assert!(options.under_way.is_empty());
}

#[tokio::test]
async fn every_answer_carries_the_headers() {
    let world = World::new().await;
    for call in [
        Call::get("/api/plans").key(&world.key),
        Call::get("/api/plans"),
        Call::get("/nothing"),
        Call::new("PATCH", "/api/plans"),
        Call::get("/healthz"),
    ] {
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-cache");
        assert_eq!(answer.header("x-request-id").len(), 36);
    }
}

#[tokio::test]
async fn a_clients_request_id_is_used_if_it_can_stand_in_a_log() {
    let world = World::new().await;
    let ask = async |id: &str| {
        let answer = Call::get("/healthz").header("x-request-id", id).send(&world.customer).await;
        answer.header("x-request-id").to_owned()
    };
    assert_eq!(ask("abc-123").await, "abc-123");
    assert_ne!(ask("a b").await, "a b");
    assert_ne!(ask(&"x".repeat(65)).await, "x".repeat(65));
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let world = World::new().await;
    let head = Call::new("HEAD", "/api/plans").key(&world.key).send(&world.customer).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
    let head = Call::new("HEAD", "/api/plans").send(&world.customer).await;
    assert_eq!(head.status, 401);
}

#[tokio::test]
async fn checks_come_in_their_order() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let broken = |path: &str| Call::put(path).body("application/json", "{");
    let path = format!("/api/instances/{}", instance.id);
    assert_eq!(broken("/api/nothing").send(&world.customer).await.status, 404);
    assert_eq!(Call::post(&path).send(&world.customer).await.status, 405);
    assert_eq!(broken(&path).send(&world.customer).await.status, 401);
    let monitor = world.member(model::Role::Monitor, &[]).await;
    let answer = broken("/api/instances/99").key(&monitor).send(&world.customer).await;
    assert_eq!(answer.status, 403);
    let answer = broken("/api/instances/99").key(&world.key).send(&world.customer).await;
    answer.expect_error(404, "Invalid ID");
    assert_eq!(broken(&path).key(&world.key).send(&world.customer).await.status, 400);
}

#[tokio::test]
async fn a_store_that_is_away_is_a_503() {
    let world = World::new().await;
    assert_eq!(Call::get("/readyz").send(&world.customer).await.status, 200);
    world.app.store().close().await;
    for call in [Call::get("/readyz"), Call::get("/api/plans").key(&world.key)] {
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert_eq!(answer.header("retry-after"), "5");
        assert!(!answer.text.contains("pool"), "{}", answer.text);
    }
    assert_eq!(Call::get("/healthz").send(&world.customer).await.status, 200);
}

#[tokio::test]
async fn an_order_under_the_same_key_is_one_instance() {
    let world = World::new().await;
    let order = |key: &str, name: &str| {
        let text = format!("name={name}&plan=mouse-1&region=local::this-machine");
        Call::post("/api/instances").header("idempotency-key", key).form(&text)
    };
    let first = order("k-1", "a").key(&world.key).send(&world.customer).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let again = order("k-1", "a").key(&world.key).send(&world.customer).await;
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    // Of two at the same moment one makes it, and both hear of the same one.
    let twin = order("k-2", "a").key(&world.key);
    let (one, two) = tokio::join!(twin.send(&world.customer), twin.send(&world.customer));
    assert_eq!((one.status.as_u16(), one.json()), (200, two.json()));
    // Also where the second finds taken what the first has taken.
    let text = "name=a&plan=mouse-1&region=local::this-machine&vpc_subnet=10.40.0.0/24";
    let twin = Call::post("/api/instances").header("idempotency-key", "k-3").form(text);
    let twin = twin.key(&world.key);
    let (one, two) = tokio::join!(twin.send(&world.customer), twin.send(&world.customer));
    assert_eq!((one.status.as_u16(), one.json()), (200, two.json()));

    let other = order("k-1", "b").key(&world.key).send(&world.customer).await;
    other.expect_error(400, "Idempotency-Key: was used with another request; choose a new one");
    let long = order(&"x".repeat(256), "a").key(&world.key).send(&world.customer).await;
    assert_eq!(long.status, 400);
    // The key is the user's own, and rights are checked again.
    let devops = world.member(model::Role::Devops, &[]).await;
    let own = order("k-1", "a").key(&devops).send(&world.customer).await;
    assert_ne!(own.json()["id"], first.json()["id"]);
    let monitor = world.member(model::Role::Monitor, &[]).await;
    assert_eq!(order("k-1", "a").key(&monitor).send(&world.customer).await.status, 403);

    world.clock.advance(model::SignedDuration::from_hours(24));
    let later = order("k-1", "a").key(&world.key).send(&world.customer).await;
    assert_ne!(later.json()["id"], first.json()["id"]);
}
