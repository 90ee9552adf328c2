//! Bodies of `/api/integrations/logs` and `/api/integrations/metrics`.

use jiff::Timestamp;
use model::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One element of a list of integrations, and the answer to a create.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Integration {
    pub id: i64,
    /// The system that it is sent to.
    #[serde(rename = "type")]
    pub system: String,
    /// What was set; keys are empty for roles that may not read them.
    #[schemars(with = "BTreeMap<String, String>")]
    pub config: BTreeMap<String, Secret>,
    /// Empty while deliveries work, else the last failure in a sentence.
    pub error: String,
    /// A UUID.
    pub account_id: String,
    pub created_at: Timestamp,
}

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    pub ok: bool,
    pub message: String,
}
