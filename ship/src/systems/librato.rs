//! Librato: measurements with tags. Its older way, gauges with a source, is described in the
//! archive of its documents alone, and has no place for more than one name.

use super::add_json;
use crate::about::{Instance, Point};
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::HttpDialect;
use crate::endpoints::{Endpoints, below};
use crate::text::fitting;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use egress::HttpRequest;
use http::header::AUTHORIZATION;
use model::{IntegrationConfig, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use url::Url;

pub struct Points {
    url: Url,
    authorization: String,
    /// Of the instance.
    tags: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Measurement<'a> {
    name: &'a str,
    value: f64,
    time: i64,
    tags: BTreeMap<&'a str, &'a str>,
}

impl Points {
    pub fn new(
        endpoints: &Endpoints,
        config: &IntegrationConfig,
        instance: &Instance,
    ) -> Option<Self> {
        let pair = format!("{}:{}", setting(config, "email"), setting(config, "api_key"));
        Some(Self {
            url: below(endpoints.librato.at("")?, &["v1", "measurements"]),
            authorization: format!("Basic {}", BASE64_STANDARD.encode(pair)),
            tags: instance.tags.iter().map(|text| named(text)).chain(own(instance)).collect(),
        })
    }
}

fn own(instance: &Instance) -> [(String, String); 2] {
    let id = instance.id.to_string();
    [("instance".to_owned(), tag(&instance.name)), ("instance_id".to_owned(), id)]
}

/// A tag has a name and a value here: those of `env:prod`, and of a bare one that it is there.
fn named(text: &str) -> (String, String) {
    let (name, value) = text.split_once(':').unwrap_or((text, "true"));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    (fitting(name.trim(), fits, 64), tag(value.trim()))
}

/// Letters, digits, and these; at most 255.
fn tag(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_' | ' ');
    fitting(text, fits, 255)
}

impl Dialect<Point> for Points {
    /// So many are recommended.
    fn limits(&self) -> Limits {
        Limits { items: 300, ..Limits::default() }
    }

    fn frame(&self) -> Frame {
        Frame { open: b"{\"measurements\":[".to_vec(), between: ",", close: "]}" }
    }

    fn write(&self, point: &Point, _: Spot, out: &mut Vec<u8>) {
        let (server, unit) = (tag(&point.server.name), tag(unit(point.unit)));
        let label = point.label.as_ref().map(|(name, value)| (*name, tag(value)));
        let of_instance = self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut tags: BTreeMap<&str, &str> = of_instance.collect();
        // This replaces a tag of the instance that has the same name.
        tags.insert("server", &server);
        if !point.unit.is_empty() {
            tags.insert("unit", &unit);
        }
        tags.extend(label.iter().map(|(name, value)| (*name, value.as_str())));
        let time = point.at.as_second();
        add_json(&Measurement { name: &point.name, value: point.value, time, tags }, out);
    }
}

/// A tag has no `%` and no `/`.
fn unit(unit: &str) -> &str {
    match unit {
        "%" => "percent",
        "B/s" => "bytes per second",
        "1/s" => "per second",
        "B" => "bytes",
        other => other,
    }
}

impl HttpDialect<Point> for Points {
    fn is_compressed(&self) -> bool {
        false
    }

    fn key(&self) -> &'static str {
        "e-mail address and API key"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        HttpRequest::new(self.url.clone(), body).header(AUTHORIZATION, &self.authorization)
    }
}
