//! Amazon's two services, as moto plays them: what its own client reads there is what was sent.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use fixture::{PATIENCE, all_at, instance, logs, metrics, origin};
use model::{Clock as _, IntegrationSystem, LogEvent, SignedDuration, SystemClock, Timestamp};
use serde_json::{Value, json};
use ship::{Outcome, Point};
use test_support::receiver::Receiver;

const SETTINGS: [(&str, &str); 3] =
    [("region", "eu-west-1"), ("access_key_id", "id"), ("secret_access_key", "key")];

/// It goes by the clock of this machine.
fn moved_to(now: Timestamp, at: Timestamp) -> Timestamp {
    at + now.duration_since(fixture::now())
}

fn events(now: Timestamp, number: usize) -> Vec<LogEvent> {
    let mut events = fixture::events(number);
    for event in &mut events {
        event.at = moved_to(now, event.at);
    }
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_and_a_stream_are_made_and_filled() {
    let receiver = Receiver::of_aws();
    let address = format!("http://127.0.0.1:{}", receiver.port);
    let system = IntegrationSystem::Cloudwatchlog;
    let mut shipper = logs(system, &SETTINGS, all_at(&address));
    let now = SystemClock.now();
    let mut events = events(now, 2500);
    events[3].at = now - SignedDuration::from_hours(15 * 24);
    for (part, dropped) in [(&events[..10], 1), (&events[10..], 0)] {
        let outcome = shipper.send_logs(&origin(), part, now, PATIENCE).await;
        assert_eq!(outcome, Outcome { done: part.len(), dropped, trouble: None });
    }
    events.remove(3);
    let came = receiver.rest();
    assert_eq!(came.len(), events.len());
    let mut expected: Vec<_> = events.iter().collect();
    expected.sort_by_key(|event| event.at);
    for (came, event) in came.iter().zip(expected) {
        assert_eq!(came["group"], "castellan/prod___st____1_-7");
        assert_eq!(came["stream"], "mouse-01");
        assert_eq!(came["timestamp"], event.at.as_millisecond());
        let line = came["message"].as_str().unwrap();
        let level = event.level.as_str().to_uppercase();
        let logger = &event.logger;
        let head = if logger.is_empty() { String::new() } else { format!("{logger}: ") };
        let text = line.strip_prefix(&format!("{level} {head}")).unwrap();
        let kept = text.split(" … [").next().unwrap();
        assert!(text == event.message || event.message.starts_with(kept), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn points_have_their_dimensions_and_units() {
    let receiver = Receiver::of_aws();
    let address = format!("http://127.0.0.1:{}", receiver.port);
    let mut shipper = metrics(IntegrationSystem::Cloudwatch, &SETTINGS, all_at(&address));
    let now = SystemClock.now();
    // For each point moto looks through all that it has, so many points take minutes.
    let mut points = fixture::points(50);
    for point in &mut points {
        point.at = moved_to(now, point.at);
    }
    let outcome = shipper.send_points(&instance(), &points, now, PATIENCE).await;
    assert_eq!(outcome, Outcome { done: points.len(), ..Outcome::default() });
    let came = receiver.rest();
    let count: f64 = came.iter().map(|one| one["count"].as_f64().unwrap()).sum();
    let sum: f64 = came.iter().map(|one| one["sum"].as_f64().unwrap()).sum();
    let sent: f64 = points.iter().map(|point| point.value).sum();
    assert!((count - 50.0).abs() < 0.1, "{count} came");
    assert!((sum - sent).abs() < 0.1, "{sum} came of {sent}");
    let dimensions = |point: &Point| {
        let mut dimensions = json!({ "Instance": "prod <_st>, \"1\"-7", "Server": "mouse-01" });
        match &point.label {
            Some(("topic", topic)) => dimensions["Topic"] = Value::from(&**topic),
            Some((_, group)) => dimensions["Group"] = Value::from(group.replace('ö', "_")),
            None => {}
        }
        dimensions
    };
    for point in &points[..40] {
        let found = came
            .iter()
            .find(|one| one["name"] == *point.name && one["dimensions"] == dimensions(point));
        let found = found.unwrap_or_else(|| panic!("{point:?} did not come"));
        assert_eq!(found["namespace"], "Castellan/Kafka");
        let unit = match point.unit {
            "%" => "Percent",
            "B" => "Bytes",
            "B/s" => "Bytes/Second",
            "1/s" => "Count/Second",
            "ms" => "Milliseconds",
            "s" => "Seconds",
            "days" | "cores" | "" => "None",
            _ => "Count",
        };
        if point.label.is_some() {
            assert_eq!(found["unit"], unit, "{point:?}");
        }
    }
}
