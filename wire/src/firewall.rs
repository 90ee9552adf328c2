//! Bodies of `security/firewall`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lets a range of addresses to some listeners. A request needs no more than `ip`, and
/// `services` or `ports`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FirewallRule {
    /// An IPv4 range in CIDR notation.
    pub ip: String,
    /// `PLAINTEXT`, `SSL` and `SASL_SSL`.
    #[serde(default)]
    pub services: Vec<String>,
    /// 9092, 9093 and 9094, which are the same in that order.
    #[serde(default)]
    pub ports: Vec<u16>,
    #[serde(default)]
    pub description: String,
    /// False where the cloud can't enforce rules; left out where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforced: Option<bool>,
}

/// `GET …/configured`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FirewallConfigured {
    pub configured: bool,
}
