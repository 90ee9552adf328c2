//! Loggly: JSON, an event a line, to its bulk endpoint.

use super::add_json;
use crate::about::Origin;
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::destination::setting;
use crate::drive::HttpDialect;
use crate::endpoints::{Endpoints, below};
use crate::text::{fitting, shorten, upper};
use egress::HttpRequest;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::{InstanceId, IntegrationConfig, LogEvent, LogSource, Timestamp};
use serde::Serialize;
use url::Url;

pub struct Logs<'a> {
    url: Url,
    origin: &'a Origin,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    timestamp: String,
    level: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    logger: &'a str,
    message: &'a str,
    instance: &'a str,
    instance_id: InstanceId,
    server: &'a str,
    host: &'a str,
    source: LogSource,
}

impl<'a> Logs<'a> {
    pub fn new(
        endpoints: &Endpoints,
        config: &IntegrationConfig,
        origin: &'a Origin,
    ) -> Option<Self> {
        // Letters, digits and these, the first of them no sign; at most 64.
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let tag = |text: &str| {
            let tag = fitting(text, fits, 64);
            tag.trim_start_matches(['-', '.', '_']).to_owned()
        };
        let own = ["castellan".to_owned(), "kafka".to_owned(), tag(&origin.instance.label())];
        let theirs = origin.instance.tags.iter().map(|text| tag(text));
        let tags: Vec<_> = own.into_iter().chain(theirs).filter(|tag| !tag.is_empty()).collect();
        let segments = ["bulk", setting(config, "token"), "tag", &tags.join(","), ""];
        Some(Self { url: below(endpoints.loggly.at("")?, &segments), origin })
    }
}

impl Dialect<LogEvent> for Logs<'_> {
    /// It takes 5 MB, and an event of 1 MB.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    fn frame(&self) -> Frame {
        Frame { between: "\n", ..Frame::default() }
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let Origin { instance, server } = self.origin;
        let event = Event {
            timestamp: format!("{:.3}", event.at),
            level: upper(event.level),
            logger: &shorten(&event.logger, 1024),
            message: &shorten(&event.message, spot.room),
            instance: &instance.name,
            instance_id: instance.id,
            server: &server.name,
            host: &server.hostname,
            source: event.source,
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
        let mut request = HttpRequest::new(self.url.clone(), body);
        // As its documents have it, also for JSON: a body of lines is no JSON.
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        Some(request)
    }
}
