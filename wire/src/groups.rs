//! Bodies of `/api/groups`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET groups`, and `GET groups/<name>`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    pub name: String,
    /// In Kafka's words: `Stable`, `Empty`, `PreparingRebalance` and others.
    pub state: String,
    /// `consumer`, `connect` or another; empty for a group that never had
    /// members.
    pub protocol_type: String,
    pub members: Vec<Member>,
    /// Those it has committed offsets of, or is assigned.
    pub topics: Vec<String>,
    /// Messages behind in all; null if that is not known of every partition.
    pub lag: Option<i64>,
    /// Of each of those partitions.
    pub offsets: Vec<Offset>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    pub id: String,
    pub client_id: String,
    pub host: String,
    pub assignments: Vec<Assignment>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    pub topic: String,
    pub partitions: Vec<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offset {
    pub topic: String,
    pub partition: i64,
    /// The next message it would read; null if it has committed nothing.
    pub offset: Option<i64>,
    /// After the last message; null while nobody leads the partition.
    pub end: Option<i64>,
    pub lag: Option<i64>,
}

/// `POST groups/<name>/reset`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Reset {
    /// `to-earliest`, `to-latest`, `to-datetime` or `shift-by`.
    pub strategy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datetime: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift_by: Option<i64>,
    /// `orders` or `orders:0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

/// One element of what a reset answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub topic: String,
    pub partition: i64,
    /// Before; null if nothing was committed.
    pub offset: Option<i64>,
    pub new_offset: i64,
}
