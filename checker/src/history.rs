//! What clients did and were told, in the order in which we heard of it.
//!
//! A history is also a file of JSON lines, written while things happen: the
//! first line is the [`Run`], every other one an [`Event`]. A checker that is
//! killed leaves what it knew until then.

mod file;
mod recorder;

pub use file::HistoryError;
pub(crate) use recorder::{Recorder, Recording, Zero};

use crate::RecordId;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose client it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Librdkafka,
    Java,
}

/// How it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Idempotent,
    /// In transactions, of which every fourth is aborted on purpose.
    Transactional,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Client {
    pub kind: Kind,
    pub mode: Mode,
}

impl Client {
    /// Both kinds in both modes.
    pub const ALL: [Self; 4] = [
        Self { kind: Kind::Librdkafka, mode: Mode::Idempotent },
        Self { kind: Kind::Librdkafka, mode: Mode::Transactional },
        Self { kind: Kind::Java, mode: Mode::Idempotent },
        Self { kind: Kind::Java, mode: Mode::Transactional },
    ];
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Librdkafka => "librdkafka",
            Kind::Java => "Java",
        };
        let mode = match self.mode {
            Mode::Idempotent => "idempotent",
            Mode::Transactional => "transactional",
        };
        write!(f, "{kind}, {mode}")
    }
}

/// One use of the checker.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// In every value, so that runs on one topic are told apart.
    pub id: String,
    pub topic: String,
    pub partitions: i32,
    /// A client's place here is its number.
    pub clients: Vec<Client>,
    /// Whether a consumer group read along.
    pub group: bool,
    pub began: Timestamp,
}

/// Something a client did or was told. Times are microseconds since the run
/// began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Handed to the client, which has not answered yet.
    Sent {
        id: RecordId,
        partition: i32,
        transaction: Option<u64>,
        at: u64,
    },
    /// Every replica in sync has it, says the cluster. The offset is not told
    /// of what was found to be written before.
    Acked {
        id: RecordId,
        offset: Option<i64>,
        at: u64,
    },
    /// The client gave it up. It may be in the log nonetheless.
    Failed {
        id: RecordId,
        at: u64,
        error: String,
    },
    Committed {
        client: usize,
        transaction: u64,
        at: u64,
    },
    Aborted {
        client: usize,
        transaction: u64,
        at: u64,
    },
    /// The client does not know how its transaction ended.
    Unsure {
        client: usize,
        transaction: u64,
        at: u64,
        error: String,
    },
    /// The consumer group was given it.
    Seen {
        id: RecordId,
        partition: i32,
        offset: i64,
        at: u64,
    },
    /// The consumer group has read all that was written.
    SeenAll {
        at: u64,
    },
    /// Something went wrong that says nothing of a record.
    Trouble {
        who: String,
        at: u64,
        error: String,
    },
    /// All clients have ended in an orderly way.
    Ended {
        at: u64,
    },
}

impl Event {
    pub fn at(&self) -> u64 {
        match self {
            Self::Sent { at, .. }
            | Self::Acked { at, .. }
            | Self::Failed { at, .. }
            | Self::Committed { at, .. }
            | Self::Aborted { at, .. }
            | Self::Unsure { at, .. }
            | Self::Seen { at, .. }
            | Self::SeenAll { at }
            | Self::Trouble { at, .. }
            | Self::Ended { at } => *at,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    pub run: Run,
    pub events: Vec<Event>,
}

/// How far a load is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    pub sent: u64,
    pub acked: u64,
    pub failed: u64,
    pub committed: u64,
    pub aborted: u64,
    /// What the consumer group was given.
    pub seen: u64,
    /// Of each client.
    pub acked_by_client: Vec<u64>,
    /// What went wrong last, if anything.
    pub last_trouble: Option<String>,
}
