//! Bodies of `/api/nodes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
