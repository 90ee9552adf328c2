//! What agents measured, on its way to the control plane, and bodies of
//! `/api/metrics`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `POST /agent/v1/metrics`: samples that the control plane has not taken yet,
/// oldest first. One that comes twice is taken once: it is named by its time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Samples {
    pub incarnation: i64,
    pub samples: Vec<Sample>,
}

/// What was measured at one time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Unix seconds, a multiple of ten.
    pub at: i64,
    /// By name; what can't be told is left out. Names that only a newer agent
    /// knows are ignored.
    #[serde(default)]
    pub values: BTreeMap<String, f32>,
    /// The busiest topics, once a minute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub topics: BTreeMap<String, TopicSample>,
}

/// One topic on one server; a number that is zero is left out.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TopicSample {
    /// Bytes a second.
    #[serde(rename = "in", default, skip_serializing_if = "is_zero")]
    pub bytes_in: f32,
    #[serde(rename = "out", default, skip_serializing_if = "is_zero")]
    pub bytes_out: f32,
    /// A second.
    #[serde(rename = "messages", default, skip_serializing_if = "is_zero")]
    pub messages_in: f32,
    /// Bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub size: f32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &f32) -> bool {
    value.to_bits() == 0
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Taken {
    /// Names the memory that open windows are in. Another one than before: what
    /// was taken since `kept_through` is lost and has to be sent again.
    pub window: String,
    /// Unix seconds. What was taken up to here is on disk and may be forgotten.
    pub kept_through: i64,
}

/// `GET metrics`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Metrics {
    /// Unix seconds; a multiple of `step`.
    pub from: i64,
    pub to: i64,
    /// Seconds between points.
    pub step: i64,
    pub servers: Vec<ServerMetrics>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServerMetrics {
    pub server: String,
    pub series: Vec<SeriesValues>,
}

/// One series of one server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeriesValues {
    pub name: String,
    pub unit: String,
    /// For series of topics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// For series of consumer groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The first is of `from`, the next a step later; null where nothing was
    /// measured.
    pub values: Vec<Option<f32>>,
}
