//! The systems that logs and metrics are sent to, and the settings of each.

mod written;

pub use written::{parse_endpoint, split_headers, split_host_port};

use crate::{IntegrationId, Secret, Timestamp, words};
use std::collections::BTreeMap;
use written::{collector, datadog_region, email, endpoint, headers, host_port, key, label, region};

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
    /// The value if a customer gives none.
    default: Option<&'static str>,
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
    Field { name, required: true, secret: false, default: None, check }
}

const fn optional(name: &'static str, check: fn(&str) -> Result<(), &'static str>) -> Field {
    Field { name, required: false, secret: false, default: None, check }
}

const fn secret(name: &'static str) -> Field {
    Field { name, required: true, secret: true, default: None, check: key }
}

const AWS: &[Field] =
    &[required("region", region), secret("access_key_id"), secret("secret_access_key")];
const DATADOG: &[Field] =
    &[secret("api_key"), Field { default: Some("us"), ..optional("region", datadog_region) }];

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
                        required("host_port", collector),
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
                        Field { secret: true, ..optional("headers", headers) },
                    ]
                }
            }
        }
    }

    /// What a customer wrote, and defaults for what was not given. An empty text counts as not
    /// given. The error names the first field that can't be taken.
    pub fn config<'a>(
        self,
        written: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<IntegrationConfig, (String, BadConfig)> {
        let mut written: BTreeMap<&str, &str> = written.into_iter().collect();
        let mut config = IntegrationConfig::new();
        for field in self.fields() {
            let given = written.remove(field.name).filter(|value| !value.is_empty());
            let value = given.or(field.default).unwrap_or_default();
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
        let datadog = IntegrationSystem::Datadog.config([("api_key", "k"), ("region", "")]);
        assert_eq!(datadog.unwrap()["region"].expose(), "us");
        let (field, error) =
            said(IntegrationSystem::Loggly, &[("token", "t"), ("tag", "x")]).unwrap_err();
        let words = "loggly takes no such field; its fields are token";
        assert_eq!((field.as_str(), error.to_string().as_str()), ("tag", words));
        for system in IntegrationSystem::ALL {
            assert!(IntegrationKind::ALL.into_iter().any(|kind| system.takes(kind)), "{system}");
        }
    }
}
