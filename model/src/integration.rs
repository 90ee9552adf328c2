//! The systems that logs and metrics are sent to, and the settings of each.

use crate::{Email, IntegrationId, Secret, Timestamp, words};
use std::collections::BTreeMap;
use url::Url;

words! {
    /// What is sent.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum IntegrationKind {
        Logs = "logs",
        Metrics = "metrics",
    }
}

words! {
    /// Where it is sent.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum IntegrationSystem {
        Papertrail = "papertrail",
        Loggly = "loggly",
        Logentries = "logentries",
        Splunk = "splunk",
        Cloudwatchlog = "cloudwatchlog",
        Cloudwatch = "cloudwatch",
        Librato = "librato",
        Datadog = "datadog",
        Newrelic = "newrelic",
        Otlp = "otlp",
    }
}

/// One setting of a system. Every value is a text.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub required: bool,
    /// Whether it is blank for roles that may not read secrets.
    pub secret: bool,
    /// What a value must be, if this one is not that.
    check: fn(&str) -> Result<(), &'static str>,
}

/// The settings of an integration by their names.
pub type IntegrationConfig = BTreeMap<String, Secret>;

/// A setting that can't be taken as it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadConfig {
    #[error("Field is required")]
    Missing,
    #[error("{0}")]
    Wrong(&'static str),
    #[error("{system} takes no such field; its fields are {}", names(*.system))]
    Unknown { system: IntegrationSystem },
}

/// One destination of an instance's logs or metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Integration {
    pub id: IntegrationId,
    pub kind: IntegrationKind,
    pub system: IntegrationSystem,
    pub config: IntegrationConfig,
    /// Empty while deliveries work, else the last failure in a sentence.
    pub error: String,
    pub created_at: Timestamp,
}

impl Integration {
    /// The `error` of one that is not readable: its settings were sealed with another key, or
    /// for another row.
    pub const UNREADABLE: &'static str =
        "Its settings can't be read and nothing is sent; set them again";

    /// False of one whose settings can't be opened: every system has some.
    pub fn is_readable(&self) -> bool {
        !self.config.is_empty()
    }
}

/// Instances have no more than this, logs and metrics together.
pub const MOST_INTEGRATIONS: usize = 100;

const fn required(name: &'static str, check: fn(&str) -> Result<(), &'static str>) -> Field {
    Field { name, required: true, secret: false, check }
}

const fn optional(name: &'static str, check: fn(&str) -> Result<(), &'static str>) -> Field {
    Field { name, required: false, secret: false, check }
}

const fn secret(name: &'static str) -> Field {
    Field { name, required: true, secret: true, check: key }
}

const AWS: &[Field] =
    &[required("region", region), secret("access_key_id"), secret("secret_access_key")];
const DATADOG: &[Field] = &[secret("api_key"), optional("region", datadog_region)];

impl IntegrationSystem {
    /// Whether this system takes what is sent.
    pub fn takes(self, kind: IntegrationKind) -> bool {
        match self {
            Self::Datadog | Self::Otlp => true,
            Self::Cloudwatch | Self::Librato | Self::Newrelic => kind == IntegrationKind::Metrics,
            Self::Papertrail
            | Self::Loggly
            | Self::Logentries
            | Self::Splunk
            | Self::Cloudwatchlog => kind == IntegrationKind::Logs,
        }
    }

    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Papertrail => const { &[required("url", host_port)] },
            Self::Loggly | Self::Logentries => const { &[secret("token")] },
            Self::Splunk => {
                const {
                    &[
                        secret("token"),
                        required("host_port", host_port),
                        optional("sourcetype", label),
                    ]
                }
            }
            Self::Cloudwatchlog | Self::Cloudwatch => AWS,
            Self::Librato => const { &[required("email", email), secret("api_key")] },
            Self::Datadog => DATADOG,
            Self::Newrelic => const { &[secret("license_key")] },
            Self::Otlp => {
                const {
                    &[
                        required("endpoint", endpoint),
                        Field { name: "headers", required: false, secret: true, check: headers },
                    ]
                }
            }
        }
    }

    /// What a customer wrote. An empty text counts as not given. The first field that can't be
    /// taken is named.
    pub fn config<'a>(
        self,
        written: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<IntegrationConfig, (String, BadConfig)> {
        let mut written: BTreeMap<&str, &str> = written.into_iter().collect();
        let mut config = IntegrationConfig::new();
        for field in self.fields() {
            let value = written.remove(field.name).unwrap_or_default();
            let wrong = |error| Err((field.name.to_owned(), error));
            match (field.check)(value) {
                _ if value.is_empty() && field.required => return wrong(BadConfig::Missing),
                _ if value.is_empty() => {}
                Err(must_be) => return wrong(BadConfig::Wrong(must_be)),
                Ok(()) => {
                    config.insert(field.name.to_owned(), Secret::new(value));
                }
            }
        }
        match written.first_key_value() {
            Some((name, _)) => Err(((*name).to_owned(), BadConfig::Unknown { system: self })),
            None => Ok(config),
        }
    }
}

fn names(system: IntegrationSystem) -> String {
    let names: Vec<_> = system.fields().iter().map(|field| field.name).collect();
    names.join(", ")
}

/// The name and the port of `logs.example.com:514`, or of `[2001:db8::1]:514`; a scheme in
/// front of it and a slash behind it are taken off.
pub fn split_host_port(text: &str) -> Option<(&str, u16)> {
    let bare = text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/');
    let (host, port) = bare.rsplit_once(':')?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let good = match inner {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => (1..=253).contains(&host.len()) && host.bytes().all(fits),
    };
    let port = port.parse().ok().filter(|port| *port > 0)?;
    good.then_some((inner.unwrap_or(host), port))
}

/// The headers of `name=value,other=value`, as OpenTelemetry's own programs take them.
/// None: it is written otherwise, or holds a header that is not a customer's to set.
pub fn split_headers(text: &str) -> Option<Vec<(&str, &str)>> {
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        !name.is_empty() && name.bytes().all(fits)
    };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let split = pairs.map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let good = is_name(name) && !is_reserved(name) && is_printable(value);
        good.then_some((name, value))
    });
    split.collect()
}

/// Whether a header says where a body goes, where it ends, or what happens to the connection:
/// a gateway or a proxy on the way could be misled by it.
fn is_reserved(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "host",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "expect",
    ];
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with("content-") || name.starts_with("proxy-")
}

/// The address of `https://collector.example.com:4318/path`, which holds no keys: it is shown
/// to all who may see an integration, and headers are not.
pub fn parse_endpoint(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let bare = url.username().is_empty() && url.password().is_none();
    let bare = bare && url.query().is_none() && url.fragment().is_none();
    (bare && matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn check(good: bool, must_be: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(must_be) }
}

/// Keys become part of a path, a header or a line.
fn key(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 512 && value.bytes().all(|byte| byte.is_ascii_graphic());
    check(good, "must have at most 512 printable characters and no space")
}

fn host_port(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 512 && split_host_port(value).is_some();
    check(good, "must be host:port, such as logs.example.com:514")
}

fn region(value: &str) -> Result<(), &'static str> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good = (1..=32).contains(&value.len()) && value.bytes().all(fits);
    check(good, "must be a region such as eu-west-1")
}

fn datadog_region(value: &str) -> Result<(), &'static str> {
    let good = matches!(value, "us" | "us1" | "us3" | "us5" | "eu" | "eu1" | "ap1" | "ap2");
    check(good, "must be one of us, us1, us3, us5, eu, eu1, ap1, ap2")
}

fn email(value: &str) -> Result<(), &'static str> {
    check(Email::parse(value).is_ok(), "must be an e-mail address such as ada@example.com")
}

fn label(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 128 && is_printable(value);
    check(good, "must have at most 128 printable characters")
}

fn endpoint(value: &str) -> Result<(), &'static str> {
    let plain = value.len() <= 2048 && value.bytes().all(|byte| byte.is_ascii_graphic());
    check(
        plain && parse_endpoint(value).is_some(),
        "must be an address that begins with https:// or http:// and has no user, password, \
         query or fragment; put keys into headers",
    )
}

fn headers(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 2048 && split_headers(value).is_some();
    check(
        good,
        "must be name=value, more of them separated by commas; Host, Content-Type and others \
         that concern the connection or the body can't be set",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_by_their_system() {
        let said = |system: IntegrationSystem, written: &[(&str, &str)]| {
            system.config(written.iter().copied()).map(|config| config.len())
        };
        let missing = |field: &str| Err((field.to_owned(), BadConfig::Missing));
        assert_eq!(said(IntegrationSystem::Papertrail, &[("url", "logs.example.com:514")]), Ok(1));
        assert_eq!(said(IntegrationSystem::Papertrail, &[]), missing("url"));
        assert_eq!(said(IntegrationSystem::Splunk, &[("token", "t")]), missing("host_port"));
        let splunk = [("host_port", "splunk.example.com:8088"), ("token", "t")];
        assert_eq!(said(IntegrationSystem::Splunk, &splunk), Ok(2));
        assert_eq!(said(IntegrationSystem::Datadog, &[("api_key", "k"), ("region", "")]), Ok(1));
        let (field, error) =
            said(IntegrationSystem::Loggly, &[("token", "t"), ("tag", "x")]).unwrap_err();
        let words = "loggly takes no such field; its fields are token";
        assert_eq!((field.as_str(), error.to_string().as_str()), ("tag", words));
        for system in IntegrationSystem::ALL {
            assert!(IntegrationKind::ALL.into_iter().any(|kind| system.takes(kind)), "{system}");
        }
    }

    #[test]
    fn a_value_fits_its_field() {
        let check = |system: IntegrationSystem, field: &str, value: &str, good: bool| {
            let fields = system.fields();
            let field = fields.iter().find(|found| found.name == field).unwrap();
            assert_eq!((field.check)(value).is_ok(), good, "{} {value:?}", field.name);
        };
        for good in ["a.example.com:514", "10.0.0.1:1", "[2001:db8::1]:6514", "tls://a.test:1/"] {
            check(IntegrationSystem::Papertrail, "url", good, true);
        }
        for bad in ["a.test", "a.test:0", "a.test:65536", ":514", "a b:1", "[::x]:1", "a/b:1"] {
            check(IntegrationSystem::Papertrail, "url", bad, false);
        }
        check(IntegrationSystem::Cloudwatch, "region", "eu-west-1", true);
        check(IntegrationSystem::Cloudwatch, "region", "x.evil.test/", false);
        check(IntegrationSystem::Datadog, "region", "ap2", true);
        check(IntegrationSystem::Datadog, "region", "mars", false);
        check(IntegrationSystem::Newrelic, "license_key", "a\nb", false);
        check(IntegrationSystem::Otlp, "endpoint", "https://collector.test:4318", true);
        check(IntegrationSystem::Otlp, "endpoint", "file:///etc/passwd", false);
        for bad in ["user@", "user:pass@", ":pass@"] {
            check(IntegrationSystem::Otlp, "endpoint", &format!("https://{bad}c.test/x"), false);
        }
        for bad in ["?key=x", "?", "#x", "#"] {
            check(IntegrationSystem::Otlp, "endpoint", &format!("https://c.test/x{bad}"), false);
        }
        check(IntegrationSystem::Otlp, "headers", "api-key=x, other = y", true);
        check(IntegrationSystem::Otlp, "headers", "api-key", false);
        for bad in [
            "Host",
            "Content-Length",
            "content-encoding",
            "Transfer-Encoding",
            "CONNECTION",
            "Keep-Alive",
            "Proxy-Authorization",
            "proxy-connection",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
        ] {
            check(IntegrationSystem::Otlp, "headers", &format!("a=b,{bad}=x"), false);
        }
    }
}
