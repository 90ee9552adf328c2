//! Logs and metrics to OpenTelemetry's own collector: what it writes is what was sent, record by
//! record.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use fixture::{
    PATIENCE, events, logs, metrics, now, origin, send_points_with_two_that_are_no_numbers,
};
use model::{IntegrationSystem, LogEvent, LogLevel, Timestamp};
use serde_json::{Value, json};
use ship::{Endpoints, Outcome, Point};
use std::collections::BTreeMap;
use test_support::receiver::Receiver;

/// The records within these lists, one in the other, of each call.
fn records(calls: &[Value], lists: [&str; 3]) -> Vec<(Value, Value)> {
    let mut records = Vec::new();
    for of_resource in calls.iter().flat_map(|call| list(&call[lists[0]])) {
        for of_scope in list(&of_resource[lists[1]]) {
            assert_eq!(of_scope["scope"]["name"], "castellan");
            let own = list(&of_scope[lists[2]]).iter();
            records.extend(own.map(|record| (of_resource["resource"].clone(), record.clone())));
        }
    }
    records
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn attributes(of: &Value) -> BTreeMap<&str, &Value> {
    list(&of["attributes"]).iter().map(|it| (it["key"].as_str().unwrap(), &it["value"])).collect()
}

fn check_attributes(of: &Value, expected: &[(&str, &str)], tags: Option<&Value>) {
    let texts: Vec<_> =
        expected.iter().map(|(name, text)| (*name, json!({ "stringValue": text }))).collect();
    let mut all: BTreeMap<_, _> = texts.iter().map(|(name, text)| (*name, text)).collect();
    all.extend(tags.map(|tags| ("castellan.tags", tags)));
    assert_eq!(attributes(of), all);
}

fn tags() -> Value {
    let values = instance().tags.into_iter().map(|tag| json!({ "stringValue": tag }));
    json!({ "arrayValue": { "values": values.collect::<Vec<_>>() } })
}

/// Of 64 bits, so it is a text.
fn nanoseconds(at: Timestamp) -> String {
    at.as_nanosecond().to_string()
}

fn severity(level: LogLevel) -> (u8, &'static str) {
    match level {
        LogLevel::Trace => (1, "TRACE"),
        LogLevel::Debug => (5, "DEBUG"),
        LogLevel::Info => (9, "INFO"),
        LogLevel::Warn => (13, "WARN"),
        LogLevel::Error => (17, "ERROR"),
        LogLevel::Fatal => (21, "FATAL"),
    }
}

fn check_event(event: &LogEvent, (resource, record): &(Value, Value)) {
    let own = [
        ("service.name", "kafka"),
        ("castellan.instance", "prod <öst>, \"1\""),
        ("castellan.instance.id", "7"),
        ("castellan.server", "mouse-01"),
        ("service.instance.id", "7-mouse-01"),
        ("host.name", "mouse-01.prod.example.com"),
    ];
    check_attributes(resource, &own, Some(&tags()));
    assert_eq!(record["timeUnixNano"], nanoseconds(event.at));
    assert_eq!(record["observedTimeUnixNano"], nanoseconds(event.at));
    let (number, text) = severity(event.level);
    assert_eq!(record["severityNumber"], number);
    assert_eq!(record["severityText"], text);
    let mut expected = vec![("castellan.log", event.source.as_str())];
    expected.extend((!event.logger.is_empty()).then_some(("log.logger", &*event.logger)));
    check_attributes(record, &expected, None);
    let body = record["body"]["stringValue"].as_str().unwrap();
    if body != event.message {
        let (kept, mark) = body.rsplit_once(" … [").expect("it is cut with a mark");
        assert_eq!(mark, format!("{} more bytes cut]", event.message.len() - kept.len()));
        assert!(event.message.starts_with(kept) && kept.len() > 10_000, "{}", kept.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_writes_what_it_was_sent_of_logs() {
    let receiver = Receiver::of_otlp();
    let endpoint = format!("http://127.0.0.1:{}", receiver.port);
    let settings = [("endpoint", &*endpoint), ("headers", "x-api-key=a%20b")];
    let mut shipper = logs(IntegrationSystem::Otlp, &settings, Endpoints::default());
    let events = events(2500);
    for part in events.chunks(1000) {
        let outcome = shipper.send_logs(&origin(), part, now(), PATIENCE).await;
        assert_eq!(outcome, Outcome { done: part.len(), ..Outcome::default() });
    }
    let came = records(&receiver.rest(), ["resourceLogs", "scopeLogs", "logRecords"]);
    assert_eq!(came.len(), events.len());
    events.iter().zip(&came).for_each(|(event, record)| check_event(event, record));
}

/// In UCUM, which OpenTelemetry has for units.
fn unit(unit: &str) -> &str {
    match unit {
        "B" => "By",
        "B/s" => "By/s",
        "days" => "d",
        "cores" => "{cpu}",
        "" => "1",
        "partitions" => "{partition}",
        "connections" => "{connection}",
        "topics" => "{topic}",
        "groups" => "{group}",
        "messages" => "{message}",
        "%" | "1/s" | "ms" | "s" => unit,
        unknown => panic!("no test knows {unknown}"),
    }
}

fn check_point(point: &Point, (resource, metric): &(Value, Value)) {
    let own = [
        ("service.name", "kafka"),
        ("castellan.instance", "prod <öst>, \"1\""),
        ("castellan.instance.id", "7"),
    ];
    check_attributes(resource, &own, Some(&tags()));
    assert_eq!(metric["name"], *point.name);
    assert_eq!(metric["unit"], unit(point.unit));
    for kind in ["sum", "histogram", "exponentialHistogram", "summary"] {
        assert_eq!(metric[kind], Value::Null, "it is what it was at one time");
    }
    let [one] = list(&metric["gauge"]["dataPoints"]) else { panic!("{metric}") };
    assert_eq!(one["timeUnixNano"], nanoseconds(point.at));
    assert_eq!(one["asDouble"], point.value);
    let mut expected = vec![
        ("castellan.server", "mouse-01"),
        ("service.instance.id", "7-mouse-01"),
        ("host.name", "mouse-01.prod.example.com"),
    ];
    expected.extend(point.label.as_ref().map(|(name, value)| (*name, &**value)));
    check_attributes(one, &expected, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_writes_what_it_was_sent_of_metrics() {
    let receiver = Receiver::of_otlp();
    let endpoint = format!("http://127.0.0.1:{}/v1/metrics", receiver.port);
    let settings = [("endpoint", &*endpoint)];
    let mut shipper = metrics(IntegrationSystem::Otlp, &settings, Endpoints::default());
    let points = send_points_with_two_that_are_no_numbers(&mut shipper).await;
    let came = records(&receiver.rest(), ["resourceMetrics", "scopeMetrics", "metrics"]);
    assert_eq!(came.len(), points.len());
    points.iter().zip(&came).for_each(|(point, metric)| check_point(point, metric));
}
