//! Bodies of `/api/config/kafka`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What `POST config/kafka` takes, by name.
pub const SETTINGS: [&str; 8] = [
    "auto.create.topics.enable",
    "log.retention.bytes",
    "log.retention.ms",
    "log.segment.bytes",
    "message.max.bytes",
    "min.insync.replicas",
    "num.io.threads",
    "num.network.threads",
];

/// One element of `GET config/kafka`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    pub name: String,
    /// A number, or true or false.
    #[schemars(extend("type" = ["number", "boolean", "string"]))]
    pub value: Value,
}
