//! Who comes to a cluster: names of its Kafka users, and names that no customer
//! may take.
//!
//! Passwords and certificates make the same kind of principal, `User:<name>`,
//! so what is a name and which ones are reserved has this one home.

use crate::words::checked_text;
use serde::{Deserialize, Serialize};

const LENGTH: usize = 64;

/// Whatever begins so is ours: brokers, controllers, agents and the control plane.
const RESERVED_PREFIXES: [&str; 4] = ["castellan", "broker", "controller", "agent"];
/// What Kafka, or whoever reads its ACLs, takes for somebody in particular.
const RESERVED: [&str; 3] = ["admin", "anonymous", "*"];

/// Whether no customer may have a user, a certificate or a login of this name.
/// Kafka tells names apart by case, people who read them do not.
pub fn is_reserved(name: &str) -> bool {
    let name = name.to_lowercase();
    RESERVED.contains(&name.as_str())
        || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 64 letters, digits, dots, underscores and hyphens")]
pub struct NoUserName;

/// The name of a Kafka user: 1–64 of `A-Z a-z 0-9 . _ -`. It may be reserved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserName(String);

impl UserName {
    pub fn parse(text: impl Into<String>) -> Result<Self, NoUserName> {
        let text = text.into();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if text.is_empty() || text.len() > LENGTH || !plain {
            return Err(NoUserName);
        }
        Ok(Self(text))
    }

    pub fn is_reserved(&self) -> bool {
        is_reserved(&self.0)
    }

    /// Whether it can be named in a path, where dots alone mean a folder, however
    /// they are written.
    pub fn fits_a_path(&self) -> bool {
        !matches!(self.0.as_str(), "." | "..")
    }
}

checked_text!(UserName, NoUserName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_user_name() {
        let check = |text: &str, valid: bool| {
            assert_eq!(UserName::parse(text).is_ok(), valid, "{text:?}");
        };
        for good in ["a", "orders", "Orders.eu-1_x", "-", "..", "0", &"x".repeat(64)] {
            check(good, true);
        }
        for bad in ["", " ", "a b", "a,b", "a=b", "a/b", "*", "a\n", "a\0", "é", &"x".repeat(65)] {
            check(bad, false);
        }
    }

    #[test]
    fn dots_alone_fit_no_path() {
        let fits = |text: &str| UserName::parse(text).unwrap().fits_a_path();
        assert!(["a", ".a", "a..", "...", "-"].into_iter().all(fits));
        assert!(![".", ".."].into_iter().any(fits));
    }

    #[test]
    fn which_names_nobody_may_take() {
        let check = |name: &str, reserved: bool| {
            assert_eq!(is_reserved(name), reserved, "{name:?}");
        };
        for ours in [
            "castellan",
            "castellan-engine",
            "Castellan",
            "broker",
            "broker-1",
            "BROKER-1",
            "brokerage",
            "controller-3",
            "agent",
            "agents",
            "admin",
            "Admin",
            "ANONYMOUS",
            "anonymous",
            "*",
        ] {
            check(ours, true);
        }
        for free in ["orders", "admins", "my-admin", "my-broker-1", "anonymous2", "", "bróker"] {
            check(free, false);
        }
    }
}
