//! Who may call, and as what.

use crate::{AccountId, InvitationId, KeyId, Tags, Timestamp, UserId, words};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A customer of the installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    pub id: AccountId,
    pub name: String,
    /// The team's; that of sign-up at first.
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
    /// None: it is good until it is revoked.
    pub expires_at: Option<Timestamp>,
    /// To the minute; none: never.
    pub last_used_at: Option<Timestamp>,
    /// The address that the last use came from, where it is known.
    pub last_used_from: Option<IpAddr>,
}

impl ApiKey {
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
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

words! {
    /// What a user, or a key, may do. The order is the order of the spec's table,
    /// not one of power.
    #[derive(Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role {
        Admin = "admin",
        Devops = "devops",
        Member = "member",
        Monitor = "monitor",
        #[serde(rename = "billing manager")]
        BillingManager = "billing manager",
    }
}
