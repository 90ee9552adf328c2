//! Bodies of the Instance API, which the Customer API also serves under an
//! instance's path.

use model::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /api/details`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    pub name: String,
    pub hostname: String,
    /// CIDR notation; empty on shared plans.
    pub subnet: String,
    pub kafka_version: String,
    pub connections: Connections,
    pub servers: Vec<DetailsServer>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    pub plaintext: Plaintext,
    pub ssl: Port,
    pub sasl_scram: SaslScram,
}

/// Empty if servers don't listen without encryption.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Plaintext {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    pub port: u16,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SaslScram {
    pub port: u16,
    pub username: String,
    #[schemars(with = "String")]
    pub password: Secret,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DetailsServer {
    pub name: String,
    pub hostname: String,
    pub private_ip: String,
    /// `<provider>::<region>`.
    pub region: String,
}

/// `GET /api/api/cluster/status`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClusterStatus {
    pub name: String,
    /// False while the cluster is being created, stopped, or started again.
    pub ready: bool,
    /// False while servers follow a change.
    pub configured: bool,
}
