//! Datadog: its v2 intake of logs and its v2 series.

use super::add_json;
use crate::about::{Instance, Origin, Point, Server};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::HttpDialect;
use crate::endpoints::{Endpoints, below};
use crate::text::shorten;
use egress::HttpRequest;
use http::HeaderName;
use model::{IntegrationConfig, LogEvent, LogLevel, LogSource, SignedDuration, Timestamp};
use serde::Serialize;
use url::Url;

const KEY: HeaderName = HeaderName::from_static("dd-api-key");
const GAUGE: u8 = 3;

/// Each region is a site with a name of its own.
fn site(config: &IntegrationConfig) -> Option<&'static str> {
    Some(match setting(config, "region") {
        "" | "us" | "us1" => "datadoghq.com",
        "us3" => "us3.datadoghq.com",
        "us5" => "us5.datadoghq.com",
        "eu" | "eu1" => "datadoghq.eu",
        "ap1" => "ap1.datadoghq.com",
        "ap2" => "ap2.datadoghq.com",
        _ => return None,
    })
}

/// Tags are separated by commas.
fn tag(text: &str) -> String {
    text.replace(|c: char| c == ',' || c.is_control(), "_")
}

/// Whose it is, and what tags it has.
fn tags(instance: &Instance) -> Vec<String> {
    let Instance { id, name, tags } = instance;
    let own = [format!("instance:{}", tag(name)), format!("instance_id:{id}")];
    own.into_iter().chain(tags.iter().map(|text| tag(text))).collect()
}

/// Names of servers come again in other instances, and hosts of one name would be one.
fn host(server: &Server, instance: &Instance) -> String {
    if server.hostname.is_empty() {
        format!("{}.{}", server.name, instance.label())
    } else {
        server.hostname.clone()
    }
}

pub struct Logs<'a> {
    url: Url,
    key: &'a str,
    tags: String,
    hostname: String,
}

#[derive(Serialize)]
struct Event<'a> {
    timestamp: i64,
    status: LogLevel,
    ddsource: &'static str,
    service: &'static str,
    hostname: &'a str,
    ddtags: &'a str,
    message: &'a str,
    logger: Logger<'a>,
    /// Which log it is of.
    log: LogSource,
}

#[derive(Serialize)]
struct Logger<'a> {
    name: &'a str,
}

impl<'a> Logs<'a> {
    pub fn new(
        endpoints: &Endpoints,
        config: &'a IntegrationConfig,
        origin: &Origin,
    ) -> Option<Self> {
        let Origin { instance, server } = origin;
        let mut tags = tags(instance);
        tags.push(format!("server:{}", tag(&server.name)));
        Some(Self {
            url: below(endpoints.datadog_logs.at(site(config)?)?, &["api", "v2", "logs"]),
            key: setting(config, "api_key"),
            tags: tags.join(","),
            hostname: host(server, instance),
        })
    }
}

impl Dialect<LogEvent> for Logs<'_> {
    /// It takes 5 MB, and an event of 1 MB.
    fn limits(&self) -> Limits {
        Limits {
            items: 1000,
            oldest: Some(SignedDuration::from_hours(18)),
            newest: Some(SignedDuration::from_hours(2)),
            ..Limits::default()
        }
    }

    fn frame(&self) -> Frame {
        Frame { open: b"[".to_vec(), between: ",", close: "]" }
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let event = Event {
            timestamp: event.at.as_millisecond(),
            status: event.level,
            ddsource: "kafka",
            service: "kafka",
            hostname: &self.hostname,
            ddtags: &self.tags,
            message: &shorten(&event.message, spot.room),
            logger: Logger { name: &shorten(&event.logger, 1024) },
            log: event.source,
        };
        add_json(&event, out);
    }
}

impl HttpDialect<LogEvent> for Logs<'_> {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "API key"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        HttpRequest::new(self.url.clone(), body).header(KEY, self.key)
    }
}

pub struct Points<'a> {
    url: Url,
    key: &'a str,
    instance: &'a Instance,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Series<'a> {
    metric: &'a str,
    #[serde(rename = "type")]
    kind: u8,
    points: [Value; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    resources: [Resource<'a>; 1],
    tags: Vec<&'a str>,
}

#[derive(Serialize)]
struct Value {
    timestamp: i64,
    value: f64,
}

#[derive(Serialize)]
struct Resource<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
}

impl<'a> Points<'a> {
    pub fn new(
        endpoints: &Endpoints,
        config: &'a IntegrationConfig,
        instance: &'a Instance,
    ) -> Option<Self> {
        Some(Self {
            url: below(endpoints.datadog_metrics.at(site(config)?)?, &["api", "v2", "series"]),
            key: setting(config, "api_key"),
            instance,
            tags: tags(instance),
        })
    }
}

/// Of its list; it has none for what is counted in a second.
fn unit(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "%" => "percent",
        "B" => "byte",
        "ms" => "millisecond",
        "s" => "second",
        "connections" => "connection",
        "messages" => "message",
        "days" => "day",
        "cores" => "core",
        _ => return None,
    })
}

impl Dialect<Point> for Points<'_> {
    /// It takes 512,000 bytes as they are sent, and 5 MB before they are compressed.
    fn limits(&self) -> Limits {
        Limits {
            oldest: Some(SignedDuration::from_hours(1)),
            newest: Some(SignedDuration::from_mins(10)),
            ..Limits::default()
        }
    }

    fn frame(&self) -> Frame {
        Frame { open: b"{\"series\":[".to_vec(), between: ",", close: "]}" }
    }

    fn write(&self, point: &Point, _: Spot, out: &mut Vec<u8>) {
        let server = format!("server:{}", tag(&point.server.name));
        let label = point.label.as_ref().map(|(name, value)| format!("{name}:{}", tag(value)));
        let own = self.tags.iter().map(String::as_str);
        let series = Series {
            metric: &point.name,
            kind: GAUGE,
            points: [Value { timestamp: point.at.as_second(), value: point.value }],
            unit: unit(point.unit),
            resources: [Resource { kind: "host", name: &host(&point.server, self.instance) }],
            tags: own.chain([server.as_str()]).chain(label.as_deref()).collect(),
        };
        add_json(&series, out);
    }
}

impl HttpDialect<Point> for Points<'_> {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "API key"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        HttpRequest::new(self.url.clone(), body).header(KEY, self.key)
    }
}
