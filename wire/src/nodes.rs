//! Bodies of `/api/nodes` and `/api/config/kafka`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One element of `GET nodes`. Sizes are GB.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub name: String,
    pub hostname: String,
    pub hostname_internal: String,
    pub private_ip: String,
    pub running: bool,
    pub configured: bool,
    pub kafka_version: String,
    pub disk_size: i64,
    pub additional_disk_size: i64,
    pub disk_used: i64,
    pub roles: Vec<String>,
    pub availability_zone: String,
}

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
