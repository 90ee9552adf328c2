//! Bodies of `/api/alarms` and `/api/alarms/recipients`.

use jiff::Timestamp;
use model::{RecipientOptions, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET /api/alarms`, and the answer to a create and an update.
/// Thresholds are absent where the type has none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Alarm {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_threshold: Option<i64>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_threshold: Option<i64>,
    /// Of `consumer_lag`; absent: every group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Seconds; null: no reminders.
    pub reminder_interval: Option<i64>,
    /// Empty: every recipient of the instance.
    pub recipients: Vec<i64>,
}

/// `POST /api/alarms` and `PUT /api/alarms/<id>`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AlarmFields {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_threshold: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_threshold: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<i64>>,
    /// 0: no reminders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder_interval: Option<i64>,
}

/// One element of `GET /api/alarms/<id>/history`: what people were told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    pub id: i64,
    /// The server it was about; null: the cluster as a whole.
    pub server: Option<String>,
    /// The consumer group; absent but of `consumer_lag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When the level was crossed.
    pub since: Timestamp,
    /// When it had held for its whole time.
    pub triggered_at: Option<Timestamp>,
    /// Null while it goes on.
    pub resolved_at: Option<Timestamp>,
    pub value: Option<f64>,
    pub message: String,
}

/// One element of `GET /api/alarms/recipients`, and the answer to a create and
/// an update.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recipient {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    /// An address or a key; empty for who may not see keys.
    #[schemars(with = "String")]
    pub value: Secret,
    pub name: String,
    /// Null in reads until the recipient was first updated.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub options: Option<RecipientOptions>,
    /// Null until they were first told something.
    pub last_status: Option<LastStatus>,
}

/// How telling somebody went the last time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LastStatus {
    pub at: Timestamp,
    pub ok: bool,
    pub message: String,
}

/// `POST /api/alarms/recipients` and `PUT /api/alarms/recipients/<id>`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecipientFields {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: Secret,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<RecipientOptions>,
}
