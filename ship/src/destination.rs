//! The address that a customer chose, where an integration has one: whether it can be called
//! is asked when it is saved, and again whenever it is.

use egress::Place;
use model::{IntegrationConfig, IntegrationSystem, Secret, parse_endpoint, split_host_port};
use std::fmt;
use url::Url;

/// What a customer chose, for `egress::Destinations` to look at.
#[derive(Clone, PartialEq, Eq)]
pub struct Destination {
    /// The setting that holds it.
    pub field: &'static str,
    /// With `https` or `http` in front, also where no HTTP is spoken.
    pub url: Url,
}

/// Paths hold tokens.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.field, self.url.host_str().unwrap_or_default())
    }
}

/// A setting that is no address which can be called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadDestination {
    pub field: &'static str,
    pub reason: &'static str,
}

const SYSLOG: &str = "must be host:port, with tcp:// before it if the receiver has no TLS";
const SPLUNK: &str = "must be host:port, with http:// before it if the collector has no TLS";
const OTLP: &str = "must be an address that begins with https:// or http://";

/// The address that a customer chose. None: the system has one of its own.
pub fn check_destination(
    system: IntegrationSystem,
    config: &IntegrationConfig,
) -> Result<Option<Destination>, BadDestination> {
    let (field, url, reason) = match system {
        IntegrationSystem::Papertrail => ("url", syslog(config).map(|it| shown(&it)), SYSLOG),
        IntegrationSystem::Splunk => ("host_port", splunk(config).map(Some), SPLUNK),
        IntegrationSystem::Otlp => ("endpoint", otlp(config).map(Some), OTLP),
        _ => return Ok(None),
    };
    match url.flatten() {
        Some(url) => Ok(Some(Destination { field, url })),
        None => Err(BadDestination { field, reason }),
    }
}

pub fn setting<'a>(config: &'a IntegrationConfig, name: &str) -> &'a str {
    config.get(name).map(Secret::expose).unwrap_or_default()
}

/// Papertrail's place, or another receiver's of syslog.
pub fn syslog(config: &IntegrationConfig) -> Option<Place> {
    place(setting(config, "url"))
}

pub fn place(text: &str) -> Option<Place> {
    let tls = match text.split_once("://") {
        None | Some(("tls" | "ssl" | "https" | "syslog+tls", _)) => true,
        Some(("tcp" | "plain", _)) => false,
        Some(_) => return None,
    };
    let (host, port) = split_host_port(text)?;
    Some(Place { host: host.to_owned(), port, tls })
}

fn shown(place: &Place) -> Option<Url> {
    Url::parse(&format!("https://{place}/")).ok()
}

pub fn splunk(config: &IntegrationConfig) -> Option<Url> {
    let text = setting(config, "host_port");
    let scheme = match text.split_once("://") {
        None | Some(("https", _)) => "https",
        Some(("http", _)) => "http",
        Some(_) => return None,
    };
    let (host, port) = split_host_port(text)?;
    let place = Place { host: host.to_owned(), port, tls: scheme == "https" };
    Url::parse(&format!("{scheme}://{place}/")).ok()
}

pub fn otlp(config: &IntegrationConfig) -> Option<Url> {
    parse_endpoint(setting(config, "endpoint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_customers_chose() {
        let check = |system, field: &str, value: &str, expected: Option<&str>| {
            let config = IntegrationConfig::from([(field.to_owned(), Secret::new(value))]);
            let found = check_destination(system, &config);
            let url = found.as_ref().ok().and_then(Option::as_ref).map(|it| it.url.as_str());
            assert_eq!(url, expected, "{value}: {found:?}");
            assert_eq!(found.is_ok(), expected.is_some(), "{value}");
        };
        let papertrail = IntegrationSystem::Papertrail;
        check(papertrail, "url", "logs.test:514", Some("https://logs.test:514/"));
        check(papertrail, "url", "tls://10.0.0.1:514", Some("https://10.0.0.1:514/"));
        check(papertrail, "url", "tcp://[::1]:514", Some("https://[::1]:514/"));
        check(papertrail, "url", "udp://logs.test:514", None);
        let splunk = IntegrationSystem::Splunk;
        check(splunk, "host_port", "splunk.test:8088", Some("https://splunk.test:8088/"));
        check(splunk, "host_port", "http://127.1:8088", Some("http://127.0.0.1:8088/"));
        check(splunk, "host_port", "tcp://splunk.test:8088", None);
        check(IntegrationSystem::Otlp, "endpoint", "http://c.test:1/x", Some("http://c.test:1/x"));
        check(IntegrationSystem::Otlp, "endpoint", "ftp://c.test", None);
        check(IntegrationSystem::Otlp, "endpoint", "https://c.test/?key=s3cret", None);
        let endpoint = Secret::new("https://c.test:4318/s3cret");
        let config = IntegrationConfig::from([("endpoint".to_owned(), endpoint)]);
        let found = check_destination(IntegrationSystem::Otlp, &config).unwrap().unwrap();
        assert_eq!(format!("{found:?}"), "endpoint at c.test");
        let found = check_destination(IntegrationSystem::Loggly, &IntegrationConfig::new());
        assert_eq!(found, Ok(None));
    }

    #[test]
    fn tls_unless_it_is_said_otherwise() {
        let check = |text: &str, expected: Option<bool>| {
            assert_eq!(place(text).map(|place| place.tls), expected, "{text}");
        };
        check("a.test:1", Some(true));
        check("tls://a.test:1", Some(true));
        check("tcp://a.test:1", Some(false));
        check("plain://a.test:1", Some(false));
        check("udp://a.test:1", None);
        check("a.test", None);
    }
}
