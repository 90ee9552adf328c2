//! Splunk: the event endpoint of its HTTP Event Collector.

use super::add_json;
use crate::about::Origin;
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::{HttpDialect, Meaning};
use crate::endpoints::below;
use crate::text::{shorten, upper};
use egress::{Answer, HttpRequest};
use http::header::AUTHORIZATION;
use model::{IntegrationConfig, LogEvent, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;

const SOURCETYPE: &str = "castellan:kafka";

pub struct Logs<'a> {
    url: Url,
    authorization: String,
    sourcetype: &'a str,
    origin: &'a Origin,
    instance_id: String,
}

#[derive(Serialize)]
struct Entry<'a> {
    /// Seconds with three decimals.
    time: f64,
    host: &'a str,
    source: String,
    sourcetype: &'a str,
    event: &'a str,
    fields: Fields<'a>,
}

#[derive(Serialize)]
struct Fields<'a> {
    level: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    logger: &'a str,
    instance: &'a str,
    instance_id: &'a str,
    server: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Reply {
    code: u32,
    /// From 0. What stands before it in the batch is indexed already.
    invalid_event_number: Option<usize>,
}

impl<'a> Logs<'a> {
    pub fn new(url: Url, config: &'a IntegrationConfig, origin: &'a Origin) -> Self {
        let sourcetype = setting(config, "sourcetype");
        Self {
            url: below(url, &["services", "collector", "event"]),
            authorization: format!("Splunk {}", setting(config, "token")),
            sourcetype: if sourcetype.is_empty() { SOURCETYPE } else { sourcetype },
            origin,
            instance_id: origin.instance.id.to_string(),
        }
    }
}

impl Dialect<LogEvent> for Logs<'_> {
    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn frame(&self) -> Frame {
        Frame { between: "\n", ..Frame::default() }
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let Origin { instance, server } = self.origin;
        #[expect(clippy::cast_precision_loss, reason = "it holds milliseconds for 280,000 years")]
        let time = event.at.as_millisecond().max(0) as f64 / 1000.0;
        let message = shorten(&event.message, spot.room);
        // It takes no event that is blank.
        let message = if message.trim().is_empty() { "-" } else { &message };
        let event = Entry {
            time,
            host: &server.hostname,
            source: format!("castellan:{}", event.source),
            sourcetype: self.sourcetype,
            event: message,
            fields: Fields {
                level: upper(event.level),
                logger: &shorten(&event.logger, 1024),
                instance: &instance.name,
                instance_id: &self.instance_id,
                server: &server.name,
                tags: &instance.tags,
            },
        };
        add_json(&event, out);
    }
}

impl HttpDialect<LogEvent> for Logs<'_> {
    fn is_compressed(&self) -> bool {
        false
    }

    fn key(&self) -> &'static str {
        "token"
    }

    fn request(&self, body: Vec<u8>, _: Timestamp) -> Option<HttpRequest> {
        HttpRequest::new(self.url.clone(), body).header(AUTHORIZATION, &self.authorization)
    }

    fn meaning(&self, answer: &Answer, items: usize) -> Meaning {
        let reply: Reply = serde_json::from_slice(&answer.body).unwrap_or_default();
        let bad = reply.invalid_event_number.filter(|bad| *bad < items);
        match (answer.status, reply.code) {
            (400, 7) => Meaning::Never("the token may not write to the index that it is set to"),
            (400, 10 | 11) => {
                Meaning::Never("the token asks for acknowledgements; switch them off for it")
            }
            (400, _) if let Some(bad) = bad => Meaning::TakenBefore { bad },
            _ => Meaning::from_status(answer),
        }
    }
}
