//! Bodies of `/api/account`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /api/account`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
    pub name: String,
    /// Who pays, as invoices print it; empty if nobody said, as are the next two.
    pub company: String,
    /// May have several lines.
    pub address: String,
    pub country: String,
    /// The team's.
    pub email: String,
}

/// `PUT /api/account`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UpdateAccount {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An empty text takes it away, as of address and country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}
