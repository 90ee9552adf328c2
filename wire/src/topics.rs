//! Bodies of `/api/topics`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One element of `GET topics`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Topic {
    pub name: String,
    pub partitions: i64,
    pub replicas: i64,
    /// `ready`, `creating` or `deleting`.
    pub status: String,
    /// Only what was set for this topic; numbers and flags as such.
    pub config: Map<String, Value>,
}

/// `GET topics/<name>`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TopicDetails {
    #[serde(flatten)]
    pub topic: Topic,
    pub details: Vec<Partition>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    pub partition: i64,
    /// The node that serves it; null while there is none.
    pub leader: Option<i64>,
    pub replicas: Vec<i64>,
    pub in_sync: Vec<i64>,
    /// Bytes of its largest copy; null where no server tells.
    pub size: Option<i64>,
}

/// `POST topics`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CreateTopic {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
}

/// `PUT topics/<name>`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct UpdateTopic {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
}
