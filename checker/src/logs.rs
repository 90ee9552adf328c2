//! What brokers have: every replica's copy of every partition, as far as that
//! replica holds it to be safe.

use crate::Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Logs {
    pub topic: String,
    /// By partition, the leader's copy first.
    pub partitions: BTreeMap<i32, Vec<ReplicaLog>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReplicaLog {
    pub broker: i32,
    pub leader: bool,
    /// The first offset, unless everything was removed.
    pub start: i64,
    /// The high watermark: the first offset that is not known to be safe.
    pub end: i64,
    /// In the order of offsets.
    pub entries: Vec<Entry>,
    /// Why it could not be read, if it could not.
    pub unread: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub offset: i64,
    /// Id and epoch; none if the producer was not idempotent.
    pub producer: Option<(i64, i16)>,
    pub transactional: bool,
    pub what: Marked,
}

/// A record, or a mark that ends its producer's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marked {
    Data(Text),
    Commit,
    Abort,
    Other,
}
