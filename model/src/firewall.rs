//! Who may reach the servers of an instance from outside its VPC, and at which listeners.
//!
//! A rule names services, ports or both, and keeps what was sent: what a customer reads is
//! what they wrote. [`Firewall::openings`] is what comes of all rules.
//!
//! Invariant: the listener without encryption is open to ranges within the VPC, or within a
//! network that is peered with it, and to nobody else, whatever the rules say.

use crate::Subnet;
use crate::words::{checked_text, written_as_text};
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

pub const MOST_FIREWALL_RULES: usize = 100;
const DESCRIPTION_LENGTH: usize = 128;

crate::words! {
    /// A listener that clients may be let to.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub enum Service {
        Plaintext = "PLAINTEXT",
        Ssl = "SSL",
        SaslSsl = "SASL_SSL",
    }
}

written_as_text!(Service);

/// What the other products of the API's family call their services. Clients of the family send
/// them in their default rule.
const OTHERS_SERVICES: [&str; 10] =
    ["AMQP", "AMQPS", "HTTP", "HTTPS", "MQTT", "MQTTS", "STOMP", "STOMPS", "STREAM", "STREAM_SSL"];

impl Service {
    /// Its port on every server that has an address to itself.
    pub const fn port(self) -> u16 {
        match self {
            Service::Plaintext => 9092,
            Service::Ssl => 9093,
            Service::SaslSsl => 9094,
        }
    }

    pub fn at_port(port: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|service| i64::from(service.port()) == port)
    }

    /// Whether it is a service that only other products of the family have.
    pub fn is_of_others(name: &str) -> bool {
        OTHERS_SERVICES.contains(&name)
    }
}

/// Why the addresses of a rule are refused, as a sentence about the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceRangeError {
    #[error(
        "must be an IPv4 range in CIDR notation, such as 203.0.113.0/24, or 203.0.113.7/32 for \
         one address"
    )]
    Syntax,
    #[error("must be an IPv4 range; servers have no IPv6 addresses")]
    Ipv6,
    #[error("has host bits set; the range that holds it is {0}")]
    HostBits(Ipv4Net),
}

/// The addresses that a rule is for: an IPv4 range with host bits zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SourceRange(Ipv4Net);

impl SourceRange {
    pub fn anywhere() -> Self {
        Self(Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0))
    }

    pub fn net(self) -> Ipv4Net {
        self.0
    }

    /// Whether all of it lies in one of these ranges.
    pub fn is_within(self, ranges: &[Ipv4Net]) -> bool {
        ranges.iter().any(|range| range.contains(&self.0))
    }
}

impl FromStr for SourceRange {
    type Err = SourceRangeError;

    fn from_str(text: &str) -> Result<Self, SourceRangeError> {
        if text.parse::<Ipv6Net>().is_ok() {
            return Err(SourceRangeError::Ipv6);
        }
        let net: Ipv4Net = text.parse().map_err(|_| SourceRangeError::Syntax)?;
        // Written otherwise, as with leading zeros, it may mean another one.
        if net.to_string() != text {
            return Err(SourceRangeError::Syntax);
        }
        if net.addr() != net.network() {
            return Err(SourceRangeError::HostBits(net.trunc()));
        }
        Ok(Self(net))
    }
}

written_as_text!(SourceRange);

impl fmt::Display for SourceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a description is refused, as a sentence about the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    #[error("must be at most 128 characters long")]
    Length,
    #[error("must not contain control characters")]
    Control,
}

/// What a rule is for, in its author's words; may be empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RuleDescription(String);

impl RuleDescription {
    pub fn parse(text: impl Into<String>) -> Result<Self, DescriptionError> {
        let text = text.into();
        if text.chars().count() > DESCRIPTION_LENGTH {
            return Err(DescriptionError::Length);
        }
        if text.chars().any(char::is_control) {
            return Err(DescriptionError::Control);
        }
        Ok(Self(text))
    }
}

checked_text!(RuleDescription, DescriptionError);

/// Lets a range of addresses to some listeners.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FirewallRule {
    pub ip: SourceRange,
    /// In the order they were sent, each once.
    pub services: Vec<Service>,
    /// The same by their ports.
    pub ports: Vec<u16>,
    pub description: RuleDescription,
}

impl FirewallRule {
    /// The one rule of a firewall without rules: whoever has a certificate or a password may
    /// come from anywhere.
    pub fn default_rule() -> Self {
        Self {
            ip: SourceRange::anywhere(),
            services: vec![Service::Ssl, Service::SaslSsl],
            ports: Vec::new(),
            description: RuleDescription("Default".into()),
        }
    }

    pub fn opens(&self) -> BTreeSet<Service> {
        let by_port = self.ports.iter().filter_map(|port| Service::at_port((*port).into()));
        self.services.iter().copied().chain(by_port).collect()
    }
}

/// A range that may reach some ports of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    pub from: Ipv4Net,
    pub ports: BTreeSet<u16>,
}

/// The rules of an instance.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Firewall(Vec<FirewallRule>);

impl Firewall {
    /// None are the default.
    pub fn new(rules: Vec<FirewallRule>) -> Self {
        Self(rules)
    }

    /// As a customer reads them.
    pub fn rules(&self) -> Vec<FirewallRule> {
        if self.0.is_empty() { vec![FirewallRule::default_rule()] } else { self.0.clone() }
    }

    /// Everything that is let through, by range: what the rules say, and every listener for
    /// the VPC itself, inside which instances and clients trust each other. `peers` are the
    /// ranges of networks that are peered with it.
    pub fn openings(&self, vpc: Subnet, peers: &[Ipv4Net]) -> Vec<Opening> {
        let near: Vec<Ipv4Net> = std::iter::once(vpc.net()).chain(peers.iter().copied()).collect();
        let mut open: BTreeMap<Ipv4Net, BTreeSet<u16>> = BTreeMap::new();
        open.insert(vpc.net(), Service::ALL.map(Service::port).into());
        for rule in self.rules() {
            let mut services = rule.opens();
            if !rule.ip.is_within(&near) {
                services.remove(&Service::Plaintext);
            }
            if !services.is_empty() {
                let ports = services.into_iter().map(Service::port);
                open.entry(rule.ip.net()).or_default().extend(ports);
            }
        }
        open.into_iter().map(|(from, ports)| Opening { from, ports }).collect()
    }
}

#[cfg(test)]
mod tests;
