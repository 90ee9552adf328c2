//! The documents that agents exchange with us, as far as use cases read them. Those of
//! an earlier Castellan leave out what it did not know.

use model::Timestamp;
use serde::Deserialize;
use store::ServerRecord;

/// What either document may say.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Document {
    pub incarnation: i64,
    pub store_epoch: i64,
    pub revision: i64,
    /// The start that the broker shall be of, or is of.
    pub launch: i64,
    pub run: String,
    pub phase: String,
    /// Since when the broker, though it runs, has not answered its agent.
    pub silent_since: Option<Timestamp>,
}

impl Document {
    /// What the agent was last told.
    pub fn told(record: &ServerRecord) -> Self {
        read(record.desired.as_deref())
    }

    /// What an agent of the server last said, be it one of a server that was replaced.
    pub fn said(record: &ServerRecord) -> Self {
        read(record.report.as_deref())
    }

    /// What the agent said; none if it has not reported yet.
    pub fn reported(record: &ServerRecord) -> Option<Self> {
        let is_current = |report: &Self| report.incarnation == record.server.incarnation;
        Some(Self::said(record)).filter(|_| record.report.is_some()).filter(is_current)
    }
}

fn read(text: Option<&str>) -> Document {
    serde_json::from_str(text.unwrap_or_default()).unwrap_or_default()
}
