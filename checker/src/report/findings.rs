//! Everything that is wrong: counted all, and the first of each kind told.

use crate::RecordId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// So many of a kind are told one by one.
const TOLD: usize = 20;

/// A way in which a cluster can break its word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// Acknowledged, and on no replica.
    Lost,
    /// In the log more than once.
    Duplicated,
    /// Behind a record that the same client sent later to the same partition.
    Reordered,
    /// Of an aborted transaction, and seen by who reads what is committed.
    AbortedVisible,
    /// Of a committed transaction, and not seen.
    CommittedInvisible,
    /// A transaction of which a part is seen.
    Torn,
    /// There to be seen, and never given to the consumer group.
    Unseen,
    /// A replica's log ends before what was acknowledged.
    Truncated,
    /// Two replicas have something else at an offset.
    Differs,
    /// A replica could not be read.
    Unread,
    /// A send was given up.
    Failed,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "lost",
            Self::Duplicated => "duplicated",
            Self::Reordered => "reordered",
            Self::AbortedVisible => "aborted but visible",
            Self::CommittedInvisible => "committed but invisible",
            Self::Torn => "torn transactions",
            Self::Unseen => "unseen by the consumer group",
            Self::Truncated => "truncated replicas",
            Self::Differs => "different on two replicas",
            Self::Unread => "unread replicas",
            Self::Failed => "failed sends",
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    pub wrong: Wrong,
    pub partition: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broker: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(record) = self.record {
            write!(f, "{record}, ")?;
        }
        write!(f, "partition {}", self.partition)?;
        if let Some(broker) = self.broker {
            write!(f, ", broker {broker}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", offset {offset}")?;
        }
        write!(f, ": {}", self.why)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Findings {
    counts: BTreeMap<Wrong, u64>,
    first: Vec<Finding>,
}

impl Findings {
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn count(&self, wrong: Wrong) -> u64 {
        self.counts.get(&wrong).copied().unwrap_or_default()
    }

    /// Of each kind of which there is any.
    pub fn counts(&self) -> impl Iterator<Item = (Wrong, u64)> {
        self.counts.iter().map(|(wrong, count)| (*wrong, *count))
    }

    /// The first of each kind.
    pub fn first(&self) -> &[Finding] {
        &self.first
    }

    fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.wrong).or_default();
        *count += 1;
        if *count <= TOLD as u64 {
            self.first.push(finding);
        }
    }

    pub(crate) fn of_record(
        &mut self,
        wrong: Wrong,
        id: RecordId,
        partition: i32,
        offset: Option<i64>,
        why: String,
    ) {
        self.add(Finding { wrong, partition, record: Some(id), broker: None, offset, why });
    }

    pub(crate) fn failed(&mut self, id: RecordId, partition: i32, why: String) {
        self.of_record(Wrong::Failed, id, partition, None, why);
    }

    fn of_replica(
        &mut self,
        wrong: Wrong,
        partition: i32,
        broker: i32,
        offset: Option<i64>,
        why: String,
    ) {
        self.add(Finding { wrong, partition, record: None, broker: Some(broker), offset, why });
    }

    pub(crate) fn unread(&mut self, partition: i32, broker: i32, why: String) {
        self.of_replica(Wrong::Unread, partition, broker, None, why);
    }

    pub(crate) fn truncated(&mut self, partition: i32, broker: i32, end: i64, highest: i64) {
        let why = format!("the log ends here, and offset {highest} was acknowledged");
        self.of_replica(Wrong::Truncated, partition, broker, Some(end), why);
    }

    pub(crate) fn differs(&mut self, partition: i32, broker: i32, offset: i64, why: String) {
        self.of_replica(Wrong::Differs, partition, broker, Some(offset), why);
    }
}
