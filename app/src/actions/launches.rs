//! Which starts of a broker its agent knows of, read from the documents that it
//! exchanges with us. Those of an earlier Castellan tell of none.

use serde::Deserialize;
use store::ServerRecord;

#[derive(Default, Deserialize)]
struct Document {
    #[serde(default)]
    launch: i64,
}

/// The start that the agent was last told of.
pub(super) fn told(record: &ServerRecord) -> i64 {
    launch(record.desired.as_deref())
}

/// The highest that it was told, or told of itself. After a restore both may be
/// higher than the server's row.
pub(super) fn known(record: &ServerRecord) -> i64 {
    told(record).max(launch(record.report.as_deref()))
}

fn launch(text: Option<&str>) -> i64 {
    serde_json::from_str::<Document>(text.unwrap_or_default()).unwrap_or_default().launch
}
