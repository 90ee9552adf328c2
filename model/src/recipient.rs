//! Whom alarms are told to.

use crate::{Email, RecipientId, Secret, Timestamp, words};
use serde::{Deserialize, Serialize};
use url::Url;

words! {
    /// How somebody is told.
    #[derive(Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RecipientType {
        Email = "email",
        Webhook = "webhook",
        Slack = "slack",
        Teams = "teams",
        Pagerduty = "pagerduty",
        Opsgenie = "opsgenie",
        OpsgenieEu = "opsgenie-eu",
        Victorops = "victorops",
        Signl4 = "signl4",
    }
}

/// The longest value; URLs of some services have 500 characters.
const LENGTH: usize = 2048;

impl RecipientType {
    /// Whether a value is of this type; if not, what it must be.
    pub fn check(self, value: &str) -> Result<(), &'static str> {
        let good = match self {
            Self::Email => Email::parse(value).is_ok(),
            Self::Webhook | Self::Slack | Self::Teams => self.url(value).is_some(),
            Self::Pagerduty
            | Self::Opsgenie
            | Self::OpsgenieEu
            | Self::Victorops
            | Self::Signl4 => is_key(value),
        };
        if good { Ok(()) } else { Err(self.must_be(value)) }
    }

    /// The address in a value that has one of its own. Whether it may be called
    /// is another question.
    pub fn url(self, value: &str) -> Option<Url> {
        if !matches!(self, Self::Webhook | Self::Slack | Self::Teams) || value.len() > LENGTH {
            return None;
        }
        let url = Url::parse(value).ok()?;
        let plain = value.bytes().all(|byte| byte.is_ascii_graphic());
        (plain && matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
    }

    fn must_be(self, value: &str) -> &'static str {
        match self {
            Self::Email => "must be an e-mail address such as ada@example.com",
            Self::Webhook | Self::Slack | Self::Teams => match Url::parse(value) {
                _ if value.len() > LENGTH => "must have at most 2048 characters",
                Err(url::ParseError::InvalidPort) => "must have a port from 1 to 65535, or none",
                _ => "must be an address that begins with https:// or http://",
            },
            Self::Pagerduty => "must be the integration key of a PagerDuty service (Events API v2)",
            Self::Opsgenie | Self::OpsgenieEu => "must be the key of an Opsgenie API integration",
            Self::Victorops => "must be the key of a VictorOps REST integration",
            Self::Signl4 => "must be the secret of a SIGNL4 team",
        }
    }
}

/// Keys become part of a path or a header.
fn is_key(value: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=128).contains(&value.len()) && value.bytes().all(fits) && !value.starts_with('.')
}

/// Somebody to tell, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipient {
    pub id: RecipientId,
    pub kind: RecipientType,
    /// An address or a key, which is a secret with most types.
    pub value: Secret,
    pub name: String,
    pub options: RecipientOptions,
    /// Whether it was ever updated; until then reads show no options.
    pub updated: bool,
    pub last_status: Option<LastStatus>,
}

impl Recipient {
    /// False if the store could not open what is sealed of it. Its value is empty
    /// then, which is a value of no type, and it can be updated or deleted.
    pub fn is_readable(&self) -> bool {
        !self.value.expose().is_empty()
    }

    /// What is called to tell them, without anything secret: a host with its
    /// port, or a service by the name of the type. Whatever hangs there hangs
    /// for everybody who is told by it.
    pub fn destination(&self) -> String {
        let url = self.kind.url(self.value.expose());
        let called =
            url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
        match called {
            Some((host, port)) => format!("{host}:{port}"),
            None => self.kind.to_string(),
        }
    }
}

/// Where somebody is told. It is kept with what waits for recipients who went, alone or with
/// their instance, or are told elsewhere by now, sealed as they were.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecipientAddress {
    pub kind: RecipientType,
    pub value: Secret,
    #[serde(default)]
    pub options: RecipientOptions,
}

impl From<&Recipient> for RecipientAddress {
    fn from(recipient: &Recipient) -> Self {
        let Recipient { kind, value, options, .. } = recipient.clone();
        Self { kind, value, options }
    }
}

impl RecipientAddress {
    /// As they were, as far as that is needed to tell them.
    pub fn recipient(self, id: RecipientId) -> Recipient {
        let Self { kind, value, options } = self;
        let name = String::new();
        Recipient { id, kind, value, name, options, updated: true, last_status: None }
    }
}

/// What some types take besides their value; each takes its own alone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RecipientOptions {
    /// PagerDuty: one incident for all alarms, instead of one for each alarm and
    /// server. Tests and notices have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupkey: Option<String>,
    /// VictorOps: the routing key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rk: Option<String>,
    /// Opsgenie: who is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responders: Option<Vec<Responder>>,
    /// Webhook: bodies are signed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

impl RecipientOptions {
    /// The one key that all alarms go under, if there is one; an empty text is none.
    pub fn shared_key(&self) -> Option<&str> {
        self.dedupkey.as_deref().filter(|key| !key.is_empty())
    }
}

/// As Opsgenie wants it: a type (`team`, `user`, `escalation` or `schedule`)
/// with an id, a name or, of a user, a username.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Responder {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

/// How telling them went the last time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastStatus {
    pub at: Timestamp,
    pub ok: bool,
    /// A sentence of ours; never what a destination answered.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_its_type() {
        use RecipientType::*;
        let check = |kind: RecipientType, value: &str, good: bool| {
            assert_eq!(kind.check(value).is_ok(), good, "{kind} {value:?}");
        };
        check(Email, "ada@example.com", true);
        check(Email, "https://example.com", false);
        for kind in [Webhook, Slack, Teams] {
            check(kind, "https://hooks.example.com/T0/B0/x?a=b", true);
            check(kind, "http://example.com:8080/", true);
            for bad in
                ["", "ada@example.com", "ftp://example.com", "https://", "file:///etc/passwd"]
            {
                check(kind, bad, false);
            }
            check(kind, "https://example.com/a b\r\nHost: x", false);
            let port = kind.check("http://127.0.0.1:99999/x");
            assert_eq!(port, Err("must have a port from 1 to 65535, or none"));
        }
        for kind in [Pagerduty, Opsgenie, OpsgenieEu, Victorops, Signl4] {
            check(kind, "0a1b-2c3d_4e5f.6", true);
            for bad in ["", "a/b", "../x", "a b", "a\r\nb", "a?b", &"x".repeat(129)] {
                check(kind, bad, false);
            }
        }
    }

    #[test]
    fn an_address_is_read_back_under_the_names_of_its_type() {
        for kind in RecipientType::ALL {
            let options = RecipientOptions { rk: Some("ops".into()), ..<_>::default() };
            let address = RecipientAddress { kind, value: Secret::new("k3y"), options };
            let text = serde_json::to_string(&address).unwrap();
            assert!(text.contains(&format!("\"{kind}\"")), "{text}");
            assert_eq!(serde_json::from_str::<RecipientAddress>(&text).unwrap(), address);
            let recipient = address.clone().recipient(RecipientId(3));
            assert_eq!(
                (recipient.id, RecipientAddress::from(&recipient)),
                (RecipientId(3), address)
            );
        }
    }

    #[test]
    fn a_destination_is_what_is_called_and_no_secret() {
        use RecipientType::*;
        let check = |kind: RecipientType, value: &str, expected: &str| {
            let recipient = Recipient {
                id: RecipientId(1),
                kind,
                value: Secret::new(value),
                name: String::new(),
                options: RecipientOptions::default(),
                updated: false,
                last_status: None,
            };
            assert_eq!(recipient.destination(), expected);
            assert_eq!(recipient.is_readable(), !value.is_empty());
        };
        check(Slack, "https://hooks.slack.com/services/T0/B0/x", "hooks.slack.com:443");
        check(Webhook, "http://ada:pw@Example.com/x?y", "example.com:80");
        check(Webhook, "http://[2001:db8::1]:8080/", "[2001:db8::1]:8080");
        check(Pagerduty, "k3y", "pagerduty");
        check(Email, "ada@example.com", "email");
        check(Webhook, "", "webhook");
    }
}
