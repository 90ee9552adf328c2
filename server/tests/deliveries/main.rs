//! Metrics from an agent to where their owner looks at them, with the real binary and no Kafka:
//! what is measured arrives, and what stands in the way is told until it does not any more.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agent;
mod receiver;

use agent::Agent;
use receiver::{Call, KEY, Receiver};
use serde_json::{Value, json};
use std::net::TcpListener;
use test_support::installation::Installation;

const CONNECTIONS: f32 = 12.0;

struct World {
    castellan: Installation,
    receiver: Receiver,
    agent: Agent,
    instance: i64,
}

impl World {
    async fn new() -> Self {
        let receiver = Receiver::start().await;
        let gate = format!("http://127.0.0.1:{}/gate", receiver.port);
        let config = format!("[outbound.endpoints]\ndatadog_metrics = \"{gate}\"\n");
        let castellan = Installation::start_simulated(&config).await;
        let order = json!({"name": "orders", "plan": "mouse-1", "region": "local::this-machine",
                           "tags": ["env:prod"]});
        let (status, created) = castellan.post("/api/instances", &order).await;
        assert_eq!(status, 200, "{created}");
        let instance = created["id"].as_i64().unwrap();
        let agent = Agent::enrolled(&castellan, instance).await;
        Self { castellan, receiver, agent, instance }
    }

    fn path(&self, path: &str) -> String {
        format!("/api/instances/{}/integrations/{path}", self.instance)
    }

    async fn create(&self, path: &str, settings: &Value) {
        let (status, created) = self.castellan.post(&self.path(path), settings).await;
        assert_eq!(status, 201, "{created}");
    }

    async fn set(&self, path: &str, settings: &Value) {
        let (status, answer) = self.castellan.put(&self.path(path), settings).await;
        assert_eq!(status, 204, "{answer}");
    }

    async fn until_error(&self, path: &str, expected: &str) {
        let what = format!("the error of {path} is {expected:?}");
        let seen = async || {
            let (_, found) = self.castellan.get(&self.path(path)).await;
            let error = found["error"].as_str().unwrap_or_default().to_owned();
            if error == expected { Ok(()) } else { Err(found.to_string()) }
        };
        self.castellan.until(&what, seen).await;
    }

    /// Waits for calls, and takes them.
    async fn arrived(&self) -> Vec<Call> {
        let seen = async || match self.receiver.take() {
            calls if calls.is_empty() => Err("nothing"),
            calls => Ok(calls),
        };
        self.castellan.until("something arrives", seen).await
    }

    async fn test(&self, path: &str) -> Value {
        let (status, tested) = self.castellan.post(&self.path(path), &json!({})).await;
        assert_eq!(status, 200, "{tested}");
        tested
    }
}

/// The points of a series in calls to Datadog.
fn series<'a>(calls: &'a [Call], name: &str) -> Vec<&'a Value> {
    assert!(calls.iter().all(|call| call.path == "/gate/api/v2/series"), "{calls:?}");
    let all = calls.iter().flat_map(|call| call.body["series"].as_array().unwrap());
    all.filter(|series| series["metric"] == name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_measures_arrives_and_what_fails_is_told() {
    let world = World::new().await;
    world.agent.measure(&world.castellan, CONNECTIONS).await;
    let broken = "127.0.0.1 answered 503: it is busy or broken";
    let refused = "127.0.0.1 answered 401: it does not accept the API key";

    // A system that is broken, for a while.
    world.receiver.set_broken(true);
    world.create("metrics/datadog", &json!({"api_key": KEY})).await;
    world.until_error("metrics/1", broken).await;
    let tested = json!({"ok": false, "message": broken});
    assert_eq!(world.test("metrics/1/test").await, tested);
    world.receiver.set_broken(false);
    let calls = world.arrived().await;
    world.until_error("metrics/1", "").await;
    let [point] = series(&calls, "castellan.kafka.connections")[..] else {
        panic!("one minute of one server: {calls:?}")
    };
    assert_eq!(point["points"][0]["value"], 12.0);
    assert_eq!(point["points"][0]["timestamp"].as_i64().unwrap() % 60, 0);
    let tags = point["tags"].to_string();
    let server = format!("server:{}", world.agent.server.name);
    for tag in ["instance:orders", "env:prod", &server] {
        assert!(tags.contains(&format!("\"{tag}\"")), "{tag} of {tags}");
    }

    // A key that is wrong is told at once, and forgotten once it is right.
    world.create("metrics/datadog", &json!({"api_key": "another"})).await;
    world.until_error("metrics/2", refused).await;
    let tested = json!({"ok": false, "message": refused});
    assert_eq!(world.test("metrics/2/test").await, tested);
    assert_eq!(world.receiver.take().len(), 0);
    world.set("metrics/2", &json!({"api_key": KEY})).await;
    let calls = world.arrived().await;
    assert_ne!(series(&calls, "castellan.kafka.connections").len(), 0);
    world.until_error("metrics/2", "").await;

    let counted = async |line: &str| world.agent.counter(&world.castellan, line).await;
    let points = "castellan_export_points_total{system=\"datadog\",outcome=\"taken\"}";
    assert!(counted(points).await.unwrap().parse::<u64>().unwrap() >= 2);
    let failures = "castellan_export_failures_total{system=\"datadog\",kind=\"refused\"}";
    assert_eq!(counted(failures).await.as_deref(), Some("1"));
    world.castellan.purge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_sends_a_line_or_a_point() {
    let world = World::new().await;
    let endpoint = format!("http://127.0.0.1:{}/otlp", world.receiver.port);
    let settings = json!({"endpoint": endpoint, "headers": format!("api-key={KEY}")});
    world.create("logs/otlp", &settings).await;
    let took = json!({"ok": true, "message": "otlp took a line"});
    assert_eq!(world.test("logs/1/test").await, took);
    let calls = world.arrived().await;
    assert_eq!((calls.len(), calls[0].path.as_str()), (1, "/otlp/v1/logs"));
    let text = calls[0].body.to_string();
    let server = &world.agent.server.name;
    assert!(
        text.contains("This line tests whether logs arrive") && text.contains(server),
        "{text}"
    );

    world.create("metrics/datadog", &json!({"api_key": KEY})).await;
    let took = json!({"ok": true, "message": "datadog took a point"});
    assert_eq!(world.test("metrics/2/test").await, took);
    let calls = world.arrived().await;
    assert_eq!(series(&calls, "castellan.kafka.integration_test").len(), 1, "{calls:?}");

    // Nothing listens there.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.set("logs/1", &json!({"endpoint": format!("http://{closed}/")})).await;
    let away = json!({"ok": false, "message": "127.0.0.1 can't be reached"});
    assert_eq!(world.test("logs/1/test").await, away);
    world.castellan.purge().await;
}
