//! Bodies of the Customer API.
//!
//! Requests leave out what is not given; answers hold every field of the
//! contract. Numbers, names and times travel as the contract writes them.

use crate::actions::PlannedChange;
use jiff::Timestamp;
use model::{ConditionKind, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One element of `GET /api/instances`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstanceEntry {
    pub id: i64,
    pub plan: String,
    /// `<provider>::<region>`.
    pub region: String,
    pub name: String,
    pub tags: Vec<String>,
    pub providerid: String,
}

/// `GET /api/instances/<ID>`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Instance {
    #[serde(flatten)]
    pub entry: InstanceEntry,
    /// The authority of the customers' listeners, as PEM.
    pub ca: String,
    #[schemars(with = "String")]
    pub apikey: Secret,
    /// Comma-separated `host:port` of the SASL/SCRAM listeners.
    pub brokers: String,
    pub username: String,
    #[schemars(with = "String")]
    pub password: Secret,
    pub topic_prefix: String,
    pub ready: bool,
    pub kafka_version: String,
    pub nodes: u32,
    /// Null on shared plans.
    pub vpc: Option<InstanceVpc>,
    pub vpc_id: Option<i64>,
    /// Holds the password, so it is a secret itself.
    #[schemars(with = "String")]
    pub url: Secret,
    pub backend: String,
    pub hostname_external: String,
    pub hostname_internal: String,
    pub created_at: Timestamp,
    /// What it does now, or why it waits, in a sentence.
    pub status: String,
    /// The same, for programs: each thing that holds. An older control plane tells none.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Instance {
    /// Whether no process of it runs, as asked for.
    pub fn is_stopped(&self) -> bool {
        let of_all = |it: &Condition| it.kind == ConditionKind::Stopped && it.server.is_none();
        self.conditions.iter().any(of_all)
    }
}

/// One thing that holds of an instance, or of one of its servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    #[schemars(with = "String")]
    pub kind: ConditionKind,
    /// The name of the server it is about; null: the instance as a whole.
    pub server: Option<String>,
    /// Since when it holds.
    pub since: Option<Timestamp>,
    /// In words.
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstanceVpc {
    pub id: i64,
    pub subnet: String,
}

/// `POST /api/instances`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CreateInstance {
    pub name: String,
    pub plan: String,
    pub region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc_subnet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kafka_version: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_size: Option<u32>,
}

/// The answer to a create.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedInstance {
    pub id: i64,
    #[schemars(with = "String")]
    pub url: Secret,
    #[schemars(with = "String")]
    pub apikey: Secret,
    pub message: String,
}

/// `PUT /api/instances/<ID>`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UpdateInstance {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An empty list clears the tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// A name of `/api/plans`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Wins over the number in the plan's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Gigabytes of each server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_size: Option<u32>,
    /// False: topics of one replica keep it when one server becomes several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise_replication: Option<bool>,
    /// One server may be left, with one copy of everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_single_copy: Option<bool>,
}

/// The answer to `PUT /api/instances/<ID>` and to `PUT …/disk`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    pub message: String,
    /// What the call would do; only where `dry_run` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<PlannedChange>,
}

/// `PUT …/disk`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ResizeDisk {
    /// Gigabytes of each server on top of the plan's.
    pub extra_disk_size: u32,
}

/// One element of `GET /api/vpcs`, and `GET /api/vpcs/<id>`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Vpc {
    pub id: i64,
    pub name: String,
    /// Always `vpc`.
    pub plan: String,
    /// CIDR notation.
    pub subnet: String,
    /// `<provider>::<region>`.
    pub region: String,
    pub tags: Vec<String>,
    pub providerid: String,
    /// Ids of the instances in it.
    pub instances: Vec<i64>,
}

/// `POST /api/vpcs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CreateVpc {
    pub name: String,
    pub region: String,
    pub subnet: String,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
}

/// The answer to `POST /api/vpcs`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedVpc {
    pub id: i64,
    pub message: String,
    /// Always empty: a network has no key, but clients of the family read one.
    pub apikey: String,
}

/// `PUT /api/vpcs/<id>`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UpdateVpc {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An empty list clears the tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

/// An answer that holds a new key and nothing else.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewKey {
    #[schemars(with = "String")]
    pub apikey: Secret,
}

/// One element of `GET /api/plans`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub name: String,
    /// US dollars a month.
    pub price: u32,
    pub backend: String,
    pub shared: bool,
    /// Gigabytes of each server.
    pub disk_size: u32,
    /// The most gigabytes that `disk_size` of an instance may ask for.
    pub max_disk_size: u32,
    /// US cents a month for each gigabyte beyond the plan's, on each server.
    pub extra_disk_gb_cents: u32,
}

/// One element of `GET /api/regions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    pub provider: String,
    pub region: String,
    pub name: String,
    pub has_shared_plans: bool,
}

/// An answer that has nothing but a sentence to say.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message: String,
}

/// The body of every error, on every listener.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub error: String,
    /// One `{field: what is wrong}` for each field that is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<BTreeMap<String, String>>,
    /// Where clients of the family tell an error by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<u32>,
    /// The same sentence as `error`, where there is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
