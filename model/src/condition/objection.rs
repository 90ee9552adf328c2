//! Why a server may not stop right now: which rule, which server, which partition.

use super::FirstFew;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One reason that a server is not let stop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Objection {
    /// No broker says which replicas are in sync.
    NoReplicationKnown,
    NoActiveController,
    /// Too few controllers with all metadata would be left.
    QuorumLost {
        left: usize,
        all: usize,
        needed: usize,
    },
    /// The server that is to be restarted lags itself.
    OwnReplicaLagging {
        partition: String,
    },
    /// Too few replicas in sync would be left.
    TooFewInSync {
        partition: String,
        left: usize,
        needed: usize,
    },
    /// Another server's replica has not caught up.
    ReplicaLagging {
        partition: String,
        in_sync: usize,
        replicas: usize,
        place: Place,
    },
    /// Another server runs and does not answer.
    Unresponsive {
        server: u32,
        remedy: Option<MissingReply>,
    },
    /// Another server's controller lacks metadata.
    ControllerLagging {
        server: u32,
    },
    /// No broker says how the cluster is.
    #[serde(alias = "unseen")]
    LookFailed {
        error: String,
    },
    /// The server is none of the instance's any more.
    Gone,
    /// Another server that shall run does not.
    Down {
        server: u32,
    },
}

/// What helps with a server that has not answered for so long that it won't.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "remedy", rename_all = "snake_case")]
pub enum MissingReply {
    Restart,
    /// Its agent does not find it unresponsive, so a restart waits for what goes on.
    CancelAndRestart,
    /// It is to be restarted or stopped, but can't be, because of these.
    Missed {
        objections: FirstFew<Objection>,
    },
}

/// Where a replica is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Server(u32),
    /// A node of Kafka's that is none of our servers.
    Node(i32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(number) => write!(f, "server {number}"),
            Self::Node(id) => write!(f, "node {id}"),
        }
    }
}

impl Objection {
    /// Leaves out numbers that change while the matter stays the same.
    pub(super) fn drop_counts(&mut self) {
        match self {
            Self::QuorumLost { left, .. } | Self::TooFewInSync { left, .. } => *left = 0,
            Self::ReplicaLagging { in_sync, .. } => *in_sync = 0,
            Self::Unresponsive { remedy: Some(MissingReply::Missed { objections }), .. } => {
                objections.more = objections.more.min(1);
                objections.first.iter_mut().for_each(Self::drop_counts);
            }
            _ => {}
        }
    }

    /// Leaves out texts that change while the matter stays the same.
    pub(super) fn drop_texts(&mut self) {
        match self {
            Self::LookFailed { error } => error.clear(),
            Self::Unresponsive { remedy: Some(MissingReply::Missed { objections }), .. } => {
                objections.first.iter_mut().for_each(Self::drop_texts);
            }
            _ => {}
        }
    }
}
