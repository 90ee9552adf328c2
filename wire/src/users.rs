//! Bodies of `/api/users` and `/api/acls`.

use jiff::Timestamp;
use model::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET users`, and the body of `POST users`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct User {
    pub name: String,
    /// `sasl` or `ssl`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What `POST users` answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewUser {
    #[serde(flatten)]
    pub user: User,
    /// Told this once; absent for `ssl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub password: Option<Secret>,
}

/// `POST acls`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CreateAcls {
    pub user: String,
    pub rules: Vec<Rule>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    pub operation: String,
    pub resource: String,
    pub resource_pattern: String,
    pub resource_pattern_type: String,
}

/// One element of `GET acls`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Acl {
    pub id: i64,
    /// The user.
    pub name: String,
    #[serde(flatten)]
    pub rule: Rule,
    pub created_at: Timestamp,
}
