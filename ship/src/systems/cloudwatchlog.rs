//! Amazon's CloudWatch Logs: PutLogEvents, into a group for the instance and a stream for the
//! server, which are made when they are missing.

use super::add_json;
use crate::about::Origin;
use crate::aws::{JSON, Service, meaning_in_json};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::drive::{HttpDialect, Meaning};
use crate::endpoints::Endpoints;
use crate::text::{fitting, line};
use egress::{Answer, HttpRequest};
use model::{IntegrationConfig, LogEvent, SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

const TARGET: &str = "x-amz-target";
const PUT: (&str, &str) = (TARGET, "Logs_20140328.PutLogEvents");
const MAKE_GROUP: (&str, &str) = (TARGET, "Logs_20140328.CreateLogGroup");
const MAKE_STREAM: (&str, &str) = (TARGET, "Logs_20140328.CreateLogStream");

pub struct Logs {
    service: Service,
    group: String,
    stream: String,
}

#[derive(Serialize)]
struct Event<'a> {
    timestamp: i64,
    message: &'a str,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reply {
    rejected_log_events_info: Rejected,
}

/// By their places in the batch: all before an end, or all from a start on.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Rejected {
    #[serde(rename = "tooNewLogEventStartIndex")]
    too_new_from: Option<usize>,
    #[serde(rename = "tooOldLogEventEndIndex")]
    too_old_before: Option<usize>,
    #[serde(rename = "expiredLogEventEndIndex")]
    expired_before: Option<usize>,
}

impl Logs {
    pub fn new(endpoints: &Endpoints, config: &IntegrationConfig, origin: &Origin) -> Option<Self> {
        let service = Service::new("logs", &endpoints.cloudwatchlog, config)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#');
        // 64 characters of a name are a quarter of what there may be.
        let group = format!("castellan/{}", fitting(&origin.instance.label(), fits, 256));
        Some(Self { service, group, stream: fitting(&origin.server.name, fits, 512) })
    }
}

impl Dialect<LogEvent> for Logs {
    /// A batch is 1,048,576 bytes by its count, which is of less than the JSON. Not every
    /// region takes events of more than 256 KiB, with 26 bytes for each.
    fn limits(&self) -> Limits {
        Limits {
            items: 10_000,
            item: (256 << 10) - 26,
            oldest: Some(SignedDuration::from_hours(14 * 24)),
            newest: Some(SignedDuration::from_hours(2)),
            span: Some(SignedDuration::from_hours(24)),
            ..Limits::default()
        }
    }

    fn frame(&self) -> Frame {
        let names = json!({ "logGroupName": self.group, "logStreamName": self.stream });
        let mut open = names.to_string().into_bytes();
        open.pop();
        open.extend_from_slice(b",\"logEvents\":[");
        Frame { open, between: ",", close: "]}" }
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let message = line(event, spot.room);
        add_json(&Event { timestamp: event.at.as_millisecond(), message: &message }, out);
    }
}

impl HttpDialect<LogEvent> for Logs {
    fn is_compressed(&self) -> bool {
        false
    }

    fn key(&self) -> &'static str {
        "access key"
    }

    fn request(&self, body: Vec<u8>, now: Timestamp) -> Option<HttpRequest> {
        self.service.request(&[JSON, PUT], body, now)
    }

    fn meaning(&self, answer: &Answer, items: usize) -> Meaning {
        let Meaning::Taken { .. } = meaning_in_json(answer) else { return meaning_in_json(answer) };
        let reply: Reply = serde_json::from_slice(&answer.body).unwrap_or_default();
        let rejected = reply.rejected_log_events_info;
        let ends = [rejected.too_old_before, rejected.expired_before];
        let old = ends.into_iter().flatten().max().unwrap_or(0).min(items);
        let new = rejected.too_new_from.map_or(0, |at| items.saturating_sub(at));
        Meaning::Taken { refused: (old + new).min(items) }
    }

    fn making(&self, now: Timestamp) -> Vec<Option<HttpRequest>> {
        let group = json!({ "logGroupName": self.group });
        let stream = json!({ "logGroupName": self.group, "logStreamName": self.stream });
        let ask = |target, names: serde_json::Value| {
            self.service.request(&[JSON, target], names.to_string().into_bytes(), now)
        };
        vec![ask(MAKE_GROUP, group), ask(MAKE_STREAM, stream)]
    }
}
