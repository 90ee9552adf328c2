//! New Relic: gauges to its Metric API.

use super::add_json;
use crate::about::{Instance, Point};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::HttpDialect;
use crate::endpoints::{Endpoints, below};
use egress::HttpRequest;
use http::HeaderName;
use model::{IntegrationConfig, SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use url::Url;

const KEY: HeaderName = HeaderName::from_static("api-key");

pub struct Points<'a> {
    url: Url,
    key: &'a str,
    instance: &'a Instance,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    value: f64,
    timestamp: i64,
    attributes: BTreeMap<&'static str, &'a str>,
}

impl<'a> Points<'a> {
    pub fn new(
        endpoints: &Endpoints,
        config: &'a IntegrationConfig,
        instance: &'a Instance,
    ) -> Option<Self> {
        let key = setting(config, "license_key");
        // Keys of accounts in Europe begin so.
        let is_eu = key.starts_with("eu");
        let address = if is_eu { &endpoints.newrelic_eu } else { &endpoints.newrelic };
        Some(Self { url: below(address.at("")?, &["metric", "v1"]), key, instance })
    }
}

impl Dialect<Point> for Points<'_> {
    /// It takes 1,000,000 bytes.
    fn limits(&self) -> Limits {
        Limits {
            oldest: Some(SignedDuration::from_hours(48)),
            newest: Some(SignedDuration::from_hours(24)),
            ..Limits::default()
        }
    }

    fn frame(&self) -> Frame {
        let Instance { id, name, tags } = self.instance;
        let common = json!({ "attributes": {
            "service.name": "kafka",
            "instance": name,
            "instance.id": id.to_string(),
            "tags": tags.join(","),
        } });
        let open = format!("[{{\"common\":{common},\"metrics\":[");
        Frame { open: open.into_bytes(), between: ",", close: "]}]" }
    }

    fn write(&self, point: &Point, _: Spot, out: &mut Vec<u8>) {
        let server = &point.server;
        let mut attributes = BTreeMap::from([("server", server.name.as_str())]);
        if !server.hostname.is_empty() {
            attributes.insert("host.name", &server.hostname);
        }
        if !point.unit.is_empty() {
            attributes.insert("unit", point.unit);
        }
        attributes.extend(point.label.as_ref().map(|(name, value)| (*name, &**value)));
        let metric = Metric {
            name: &point.name,
            kind: "gauge",
            value: point.value,
            timestamp: point.at.as_millisecond(),
            attributes,
        };
        add_json(&metric, out);
    }
}

impl HttpDialect<Point> for Points<'_> {
    fn is_compressed(&self) -> bool {
        true
    }

    fn key(&self) -> &'static str {
        "license key"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        HttpRequest::new(self.url.clone(), body).header(KEY, self.key)
    }
}
