//! OpenTelemetry: OTLP over HTTP in JSON, to any collector.

use super::add_json;
use crate::about::{Instance, Origin, Point, Server};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::{HttpDialect, Meaning};
use crate::endpoints::below;
use crate::text::{shorten, upper};
use egress::{Answer, HttpRequest};
use http::HeaderName;
use model::{IntegrationConfig, LogEvent, LogLevel, Timestamp, split_headers};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

/// Where it goes, and as whom.
struct Collector {
    url: Url,
    headers: Vec<(HeaderName, String)>,
}

impl Collector {
    /// An endpoint that names the path already is kept as it is.
    fn new(endpoint: Url, path: &'static str, config: &IntegrationConfig) -> Option<Self> {
        let bare = endpoint.path().trim_end_matches('/');
        let is_whole = bare.ends_with(&format!("/v1/{path}"));
        let url = if is_whole { endpoint } else { below(endpoint, &["v1", path]) };
        let pairs = split_headers(setting(config, "headers"))?.into_iter();
        let headers = pairs.map(|(name, value)| Some((HeaderName::try_from(name).ok()?, value)));
        Some(Self { url, headers: headers.collect::<Option<_>>()? })
    }

    fn request(&self, body: Vec<u8>) -> Option<HttpRequest> {
        let request = HttpRequest::new(self.url.clone(), body);
        let mut headers = self.headers.iter();
        headers.try_fold(request, |request, (name, value)| request.header(name.clone(), value))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reply {
    partial_success: Partial,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Partial {
    rejected_log_records: Value,
    rejected_data_points: Value,
}

/// Of what is taken, so much may be refused for ever. Numbers of 64 bits are texts.
fn meaning(answer: &Answer) -> Meaning {
    match Meaning::from_status(answer) {
        Meaning::Taken { .. } => {
            let reply: Reply = serde_json::from_slice(&answer.body).unwrap_or_default();
            let Partial { rejected_log_records, rejected_data_points } = reply.partial_success;
            let number = |value: Value| match value {
                Value::String(text) => text.parse().unwrap_or(0),
                value => value.as_u64().unwrap_or(0),
            };
            let refused = number(rejected_log_records) + number(rejected_data_points);
            Meaning::Taken { refused: usize::try_from(refused).unwrap_or(usize::MAX) }
        }
        meaning => meaning,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Text<'a> {
    string_value: &'a str,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'a str,
    value: Text<'a>,
}

fn attribute<'a>(key: &'a str, text: &'a str) -> Attribute<'a> {
    Attribute { key, value: Text { string_value: text } }
}

fn resource(instance: &Instance, more: &[Attribute]) -> Value {
    let id = instance.id.to_string();
    let own = [
        attribute("service.name", "kafka"),
        attribute("castellan.instance", &instance.name),
        attribute("castellan.instance.id", &id),
    ];
    let mut attributes: Vec<Value> = own.iter().chain(more).map(|it| json!(it)).collect();
    if !instance.tags.is_empty() {
        let values: Vec<_> =
            instance.tags.iter().map(|tag| json!({ "stringValue": tag })).collect();
        attributes.push(json!({
            "key": "castellan.tags", "value": { "arrayValue": { "values": values } },
        }));
    }
    json!({ "attributes": attributes })
}

/// Servers of other instances may have the same name.
fn unique(instance: &Instance, server: &Server) -> String {
    format!("{}-{}", instance.id, server.name)
}

fn nanoseconds(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}

pub struct Logs {
    collector: Collector,
    resource: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    time_unix_nano: &'a str,
    observed_time_unix_nano: &'a str,
    severity_number: u8,
    severity_text: &'static str,
    body: Text<'a>,
    attributes: &'a [Attribute<'a>],
}

impl Logs {
    pub fn new(endpoint: Url, config: &IntegrationConfig, origin: &Origin) -> Option<Self> {
        let Origin { instance, server } = origin;
        let unique = unique(instance, server);
        let more = [
            attribute("castellan.server", &server.name),
            attribute("service.instance.id", &unique),
            attribute("host.name", &server.hostname),
        ];
        let collector = Collector::new(endpoint, "logs", config)?;
        Some(Self { collector, resource: resource(instance, &more) })
    }
}

fn severity(level: LogLevel) -> u8 {
    match level {
        LogLevel::Trace => 1,
        LogLevel::Debug => 5,
        LogLevel::Info => 9,
        LogLevel::Warn => 13,
        LogLevel::Error => 17,
        LogLevel::Fatal => 21,
    }
}

impl Dialect<LogEvent> for Logs {
    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn frame(&self) -> Frame {
        let open = format!(
            "{{\"resourceLogs\":[{{\"resource\":{},\"scopeLogs\":[{{\
             \"scope\":{{\"name\":\"castellan\"}},\"logRecords\":[",
            self.resource
        );
        Frame { open: open.into_bytes(), between: ",", close: "]}]}]}" }
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let (at, logger) = (nanoseconds(event.at), shorten(&event.logger, 1024));
        let attributes =
            [attribute("castellan.log", event.source.as_str()), attribute("log.logger", &logger)];
        let named = if logger.is_empty() { 1 } else { 2 };
        let record = Record {
            time_unix_nano: &at,
            observed_time_unix_nano: &at,
            severity_number: severity(event.level),
            severity_text: upper(event.level),
            body: Text { string_value: &shorten(&event.message, spot.room) },
            attributes: &attributes[..named],
        };
        add_json(&record, out);
    }
}

impl HttpDialect<LogEvent> for Logs {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "headers"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        self.collector.request(body)
    }

    fn meaning(&self, answer: &Answer, _: usize) -> Meaning {
        meaning(answer)
    }
}

pub struct Points<'a> {
    collector: Collector,
    resource: Value,
    instance: &'a Instance,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'a str,
    gauge: Gauge<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gauge<'a> {
    data_points: [DataPoint<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DataPoint<'a> {
    attributes: Vec<Attribute<'a>>,
    time_unix_nano: String,
    as_double: f64,
}

impl<'a> Points<'a> {
    pub fn new(endpoint: Url, config: &IntegrationConfig, instance: &'a Instance) -> Option<Self> {
        let collector = Collector::new(endpoint, "metrics", config)?;
        Some(Self { collector, resource: resource(instance, &[]), instance })
    }
}

/// In the code that OpenTelemetry uses for units (UCUM).
fn unit(unit: &str) -> &str {
    match unit {
        "B" => "By",
        "B/s" => "By/s",
        "days" => "d",
        "" => "1",
        "partitions" => "{partition}",
        "connections" => "{connection}",
        "topics" => "{topic}",
        "groups" => "{group}",
        "messages" => "{message}",
        "destinations" => "{destination}",
        "cores" => "{cpu}",
        other => other,
    }
}

impl Dialect<Point> for Points<'_> {
    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn frame(&self) -> Frame {
        let open = format!(
            "{{\"resourceMetrics\":[{{\"resource\":{},\"scopeMetrics\":[{{\
             \"scope\":{{\"name\":\"castellan\"}},\"metrics\":[",
            self.resource
        );
        Frame { open: open.into_bytes(), between: ",", close: "]}]}]}" }
    }

    fn write(&self, point: &Point, _: Spot, out: &mut Vec<u8>) {
        let server = &point.server;
        let unique = unique(self.instance, server);
        let mut attributes = vec![
            attribute("castellan.server", &server.name),
            attribute("service.instance.id", &unique),
        ];
        if !server.hostname.is_empty() {
            attributes.push(attribute("host.name", &server.hostname));
        }
        attributes.extend(point.label.as_ref().map(|(name, value)| attribute(name, value)));
        let data_points = [DataPoint {
            attributes,
            time_unix_nano: nanoseconds(point.at),
            as_double: point.value,
        }];
        let gauge = Gauge { data_points };
        add_json(&Metric { name: &point.name, unit: unit(point.unit), gauge }, out);
    }
}

impl HttpDialect<Point> for Points<'_> {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "headers"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        self.collector.request(body)
    }

    fn meaning(&self, answer: &Answer, _: usize) -> Meaning {
        meaning(answer)
    }
}
