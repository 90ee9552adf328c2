//! Every system that is called over HTTP, as a receiver that holds each call against what the
//! system documents: nothing is wrong with any of them, and everything comes, in its order.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use fixture::{
    PATIENCE, all_at, events, logs, metrics, now, origin, send_points_with_two_that_are_no_numbers,
};
use model::{IntegrationSystem, LogEvent};
use serde_json::{Deserializer, Value, json};
use ship::{Outcome, Point};
use test_support::receiver::Receiver;

const KEY: &str = "k3y-0123456789";

fn receiver(intake: &str, key: &str) -> Receiver {
    let now = now().as_second().to_string();
    Receiver::of_calls(&[("as", intake), ("key", key), ("now", &now)])
}

/// The bodies that came, with nothing wrong about any call.
fn bodies(receiver: Receiver) -> Vec<String> {
    let calls = receiver.rest();
    for call in &calls {
        assert_eq!(call["problems"], json!([]), "{}", call["path"]);
    }
    calls.iter().map(|call| call["raw"].as_str().unwrap().to_owned()).collect()
}

fn all_done(outcome: &Outcome, number: usize) {
    assert_eq!(outcome, &Outcome { done: number, dropped: 0, trouble: None });
}

async fn sent_logs(
    system: IntegrationSystem,
    intake: &str,
    settings: &[(&str, &str)],
) -> (Vec<LogEvent>, Vec<Value>) {
    let receiver = receiver(intake, KEY);
    let address = format!("http://127.0.0.1:{}", receiver.port);
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| (*name, value.replace("ADDRESS", &address))).collect();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut shipper = logs(system, &settings, all_at(&address));
    let events = events(2500);
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    all_done(&outcome, events.len());
    let bodies = bodies(receiver);
    assert!(bodies.len() > 2, "{} batches", bodies.len());
    assert!(bodies.iter().all(|body| body.len() <= 512 << 10), "a batch is held in memory");
    let values = bodies.iter().flat_map(|body| Deserializer::from_str(body).into_iter());
    (events, values.map(Result::unwrap).collect())
}

/// Every message came in its order, cut where it is over-long.
fn same_messages(events: &[LogEvent], came: &[&Value]) {
    assert_eq!(came.len(), events.len());
    let mut cut = 0;
    for (event, came) in events.iter().zip(came) {
        let came = came.as_str().unwrap();
        if came == event.message {
            continue;
        }
        let (kept, mark) = came.rsplit_once(" … [").expect("it is cut with a mark");
        let left = format!("{} more bytes cut]", event.message.len() - kept.len());
        assert_eq!(mark, left);
        assert!(event.message.starts_with(kept) && kept.len() > 10_000, "{}", kept.len());
        cut += 1;
    }
    assert!(cut > 0, "none was over-long");
}

#[tokio::test(flavor = "multi_thread")]
async fn loggly() {
    let settings = [("token", KEY)];
    let (events, came) = sent_logs(IntegrationSystem::Loggly, "loggly", &settings).await;
    same_messages(&events, &came.iter().map(|it| &it["message"]).collect::<Vec<_>>());
    assert_eq!(came[1]["timestamp"], "2026-11-19T09:55:51.000Z");
    assert_eq!(came[1]["level"], "DEBUG");
    assert_eq!(came[1]["logger"], "kafka.log.Log");
    assert_eq!(came[1]["source"], "output");
    assert_eq!(came[1]["instanceId"], 7);
    assert_eq!(came[1]["server"], "mouse-01");
}

#[tokio::test(flavor = "multi_thread")]
async fn splunk() {
    let settings = [("token", KEY), ("host_port", "ADDRESS")];
    let (events, came) = sent_logs(IntegrationSystem::Splunk, "splunk", &settings).await;
    same_messages(&events, &came.iter().map(|it| &it["event"]).collect::<Vec<_>>());
    assert_eq!(came[1]["sourcetype"], "castellan:kafka");
    assert_eq!(came[1]["source"], "castellan:output");
    assert_eq!(came[1]["host"], "mouse-01.prod.example.com");
    assert_eq!(came[1]["fields"]["instance_id"], "7");
    let settings = [("token", KEY), ("host_port", "ADDRESS"), ("sourcetype", "ours")];
    let (_, came) = sent_logs(IntegrationSystem::Splunk, "splunk", &settings).await;
    assert_eq!(came[0]["sourcetype"], "ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn datadog_logs() {
    let settings = [("api_key", KEY), ("region", "eu")];
    let (events, came) = sent_logs(IntegrationSystem::Datadog, "datadog_logs", &settings).await;
    let came: Vec<_> = came.iter().flat_map(|batch| batch.as_array().unwrap()).collect();
    same_messages(&events, &came.iter().map(|it| &it["message"]).collect::<Vec<_>>());
    let tags = "instance:prod <öst>_ \"1\",instance_id:7,env:prod,Söhne & \"Co\",server:mouse-01";
    assert_eq!(came[1]["ddtags"], tags);
    assert_eq!(came[1]["status"], "debug");
    assert_eq!(came[1]["hostname"], "mouse-01.prod.example.com");
}

#[tokio::test(flavor = "multi_thread")]
async fn otlp_logs() {
    let headers = format!("x-api-key={KEY}, other=a%20b");
    for endpoint in ["ADDRESS/gate", "ADDRESS/gate/v1/logs"] {
        let settings = [("endpoint", endpoint), ("headers", &headers)];
        let (events, came) = sent_logs(IntegrationSystem::Otlp, "otlp_logs", &settings).await;
        let records = |batch: &Value| {
            batch["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap().clone()
        };
        let came: Vec<_> = came.iter().flat_map(records).collect();
        let texts: Vec<_> = came.iter().map(|it| &it["body"]["stringValue"]).collect();
        same_messages(&events, &texts);
        assert_eq!(came[1]["severityText"], "DEBUG");
        assert_eq!(came[1]["timeUnixNano"], "1795082151000000000");
    }
}

async fn sent_points(
    system: IntegrationSystem,
    intake: &str,
    key: &str,
    settings: &[(&str, &str)],
) -> (Vec<Point>, Vec<Value>) {
    let receiver = receiver(intake, key);
    let address = format!("http://127.0.0.1:{}", receiver.port);
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| (*name, value.replace("ADDRESS", &address))).collect();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut shipper = metrics(system, &settings, all_at(&address));
    let points = send_points_with_two_that_are_no_numbers(&mut shipper).await;
    let bodies = bodies(receiver);
    assert!(bodies.len() > 1, "{} batches", bodies.len());
    (points, bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect())
}

fn same_points(points: &[Point], came: &[Value], value: impl Fn(&Value) -> &Value) {
    let came: Vec<_> = came.iter().map(|one| (one, value(one).as_f64().unwrap())).collect();
    assert_eq!(came.len(), points.len());
    for (point, (one, value)) in points.iter().zip(came) {
        assert!((point.value - value).abs() < f64::EPSILON, "{point:?} {one}");
    }
}

/// The items of all batches.
fn flat(came: &[Value], within: impl Fn(&Value) -> &Value) -> Vec<Value> {
    came.iter().flat_map(|batch| within(batch).as_array().unwrap()).cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn datadog_series() {
    let settings = [("api_key", KEY)];
    let (points, came) =
        sent_points(IntegrationSystem::Datadog, "datadog_series", KEY, &settings).await;
    let came = flat(&came, |batch| &batch["series"]);
    same_points(&points, &came, |it| &it["points"][0]["value"]);
    assert_eq!(came[0]["unit"], "percent");
    assert_eq!(came[2]["unit"], Value::Null);
    let tags = came[0]["tags"].as_array().unwrap();
    assert!(tags.contains(&json!("topic:orders.0")) && tags.contains(&json!("server:mouse-01")));
}

#[tokio::test(flavor = "multi_thread")]
async fn librato() {
    let settings = [("email", "ada@example.com"), ("api_key", KEY)];
    let key = format!("ada@example.com:{KEY}");
    let (points, came) = sent_points(IntegrationSystem::Librato, "librato", &key, &settings).await;
    assert_eq!(came.len(), 17);
    let came = flat(&came, |batch| &batch["measurements"]);
    same_points(&points, &came, |it| &it["value"]);
    let tags = json!({
        "instance": "prod __st__ _1_", "instance_id": "7", "server": "mouse-01",
        "topic": "orders.0", "unit": "percent", "env": "prod", "S_hne_____Co_": "true",
    });
    assert_eq!(came[0]["tags"], tags);
}

#[tokio::test(flavor = "multi_thread")]
async fn newrelic() {
    for key in [KEY, "eu01xx0123456789"] {
        let settings = [("license_key", key)];
        let (points, came) =
            sent_points(IntegrationSystem::Newrelic, "newrelic", key, &settings).await;
        let common = &came[0][0]["common"]["attributes"];
        assert_eq!(common["instance"], "prod <öst>, \"1\"");
        let came = flat(&came, |batch| &batch[0]["metrics"]);
        same_points(&points, &came, |it| &it["value"]);
        assert_eq!(came[0]["attributes"]["topic"], "orders.0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn otlp_metrics() {
    let headers = format!("x-api-key={KEY}");
    let settings = [("endpoint", "ADDRESS/gate/"), ("headers", headers.as_str())];
    let (points, came) = sent_points(IntegrationSystem::Otlp, "otlp_metrics", KEY, &settings).await;
    let metrics = |batch: &Value| {
        batch["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone()
    };
    let came: Vec<_> = came.iter().flat_map(metrics).collect();
    same_points(&points, &came, |it| &it["gauge"]["dataPoints"][0]["asDouble"]);
    assert_eq!(came[1]["unit"], "By");
}
