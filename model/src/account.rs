//! Who may call, and as what.

use crate::{AccountId, InvitationId, KeyId, Tags, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A customer of the installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    pub id: AccountId,
    pub name: String,
    /// The team e-mail given at sign-up.
    pub email: String,
    pub created_at: Timestamp,
}

/// A member of an account's team.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    pub id: UserId,
    pub account_id: AccountId,
    pub email: String,
    /// What the person calls themselves; empty for one who never said.
    pub name: String,
    /// Whether a login asks for a second factor.
    pub tfa_enabled: bool,
    pub role: Role,
    pub tags: Tags,
    pub created_at: Timestamp,
}

/// A customer key. The key itself is never stored, only its hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiKey {
    pub id: KeyId,
    pub user_id: UserId,
    pub role: Role,
    pub tags: Tags,
    pub comment: String,
    pub created_at: Timestamp,
    /// To the minute; none: never.
    pub last_used_at: Option<Timestamp>,
}

/// Somebody who may join a team, by a link that was sent to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invitation {
    pub id: InvitationId,
    pub account_id: AccountId,
    pub email: String,
    pub role: Role,
    pub tags: Tags,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// What a user, or a key, may do. The order is the order of the spec's table,
/// not one of power.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Role {
    #[serde(rename = "admin")]
    Admin,
    #[serde(rename = "devops")]
    Devops,
    #[serde(rename = "member")]
    Member,
    #[serde(rename = "monitor")]
    Monitor,
    #[serde(rename = "billing manager")]
    BillingManager,
}

impl Role {
    pub const ALL: [Role; 5] =
        [Role::Admin, Role::Devops, Role::Member, Role::Monitor, Role::BillingManager];

    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Admin => "admin",
            Role::Devops => "devops",
            Role::Member => "member",
            Role::Monitor => "monitor",
            Role::BillingManager => "billing manager",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of admin, devops, member, monitor, billing manager")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Role::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}
