//! What the operator sets.

use model::MessageLimits;
use serde::Deserialize;

/// A token bucket: how fast it fills, and how much it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Requests a second in the long run; 0 switches the limit off.
    pub per_second: u32,
    /// Requests at once; 0: as many as in a second.
    #[serde(default)]
    pub burst: u32,
}

impl Rate {
    pub const OFF: Self = Self { per_second: 0, burst: 0 };
}

/// The limits of both APIs together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateLimits {
    /// For each customer key and each instance key.
    pub key: Rate,
    /// For all keys of an account and of its instances.
    pub account: Rate,
    /// For each address, or IPv6 /64, that sends requests without a known key.
    pub address: Rate,
    /// Invitations and mails with a link to confirm that an account may cause; 0 switches
    /// the limit off.
    pub invitations_per_hour: u32,
    /// Mails and other messages to people; those of the API itself are above.
    pub messages: MessageLimits,
}

impl RateLimits {
    pub const OFF: Self = Self {
        key: Rate::OFF,
        account: Rate::OFF,
        address: Rate::OFF,
        invitations_per_hour: 0,
        messages: MessageLimits::OFF,
    };
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            key: Rate { per_second: 100, burst: 500 },
            account: Rate { per_second: 500, burst: 2500 },
            address: Rate { per_second: 10, burst: 30 },
            invitations_per_hour: 20,
            messages: MessageLimits::default(),
        }
    }
}
