//! Bodies of the Customer API about customer keys.

use jiff::Timestamp;
use model::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET /api/apikeys`. The key itself is nowhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApiKeyEntry {
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
    /// Whose it is.
    pub email: String,
    /// What it is for; empty if nobody said.
    pub comment: String,
    pub role: String,
    /// Those that narrow what it sees, beside the user's own.
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    /// To the minute; null if it was never used.
    pub last_used_at: Option<Timestamp>,
    /// The address it was last used from.
    pub last_used_from: Option<String>,
    /// Null if it is good until it is deleted.
    pub expires_at: Option<Timestamp>,
}

/// `POST /api/apikeys`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CreateApiKey {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// The answer to `POST /api/apikeys`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedApiKey {
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
    /// Shown only here.
    #[schemars(with = "String")]
    pub apikey: Secret,
}

/// The answer to `POST /api/apikeys/rotate-apikey`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RotatedKey {
    #[schemars(with = "String")]
    pub apikey: Secret,
}
