//! What is waited for while servers join and leave, and replicas move.

use super::{FirstFew, Place};
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// What a server that joins has still to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Joining {
    /// The controllers don't know its broker yet.
    Registration,
    /// Its broker is registered and does not serve yet.
    Unfencing,
    /// Its controller does not have all metadata yet.
    Metadata,
}

/// Why controllers can't be given a vote, or lose theirs, right now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Voting {
    /// No controller is active.
    Leader,
    /// So many of the controllers that vote then would have all metadata.
    Majority { left: usize, of: usize, lagging: Vec<Place> },
    /// Two controllers vote, and this one is down: nothing can be committed without it.
    OneOfTwo { lagging: Place },
}

/// How far replicas have moved.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Moving {
    /// Whose replicas move now.
    pub partitions: usize,
    pub bytes_done: u64,
    pub bytes_left: u64,
    /// When everything will be in its place; none while nothing can be foretold.
    pub ready_at: Option<Timestamp>,
}

/// One reason that replicas can't move right now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "obstacle", rename_all = "snake_case")]
pub enum MoveObstacle {
    UnderWay {
        partition: String,
    },
    /// Its copies to these servers are under way, and have not got on for so many minutes.
    Stalled {
        partition: String,
        places: Vec<Place>,
        minutes: u32,
    },
    NoLeader {
        partition: String,
    },
    /// The ELR names brokers that have no replica.
    StaleElr {
        partition: String,
        nodes: Vec<i32>,
    },
    Lagging {
        partition: String,
        places: Vec<Place>,
    },
    BelowMinIsr {
        partition: String,
        replicas: usize,
        min_isr: usize,
    },
    Unreachable {
        place: Place,
    },
    NoRoom {
        partition: String,
        place: Place,
        bytes: u64,
    },
    /// It was made since the change was accepted.
    TooManyReplicas {
        topic: String,
        replicas: usize,
        staying: usize,
        /// A change that is undone, or has begun to remove servers, can't be cancelled.
        #[serde(default)]
        may_cancel: bool,
    },
    /// So much of what leaving servers have finds no room on the disks of the others.
    DisksTooSmall {
        moving: u64,
        unplaced: u64,
        #[serde(default)]
        may_cancel: bool,
    },
    SingleCopy,
    NoServerStays,
}

impl Voting {
    pub(super) fn drop_counts(&mut self) {
        if let Self::Majority { left, .. } = self {
            *left = 0;
        }
    }
}

impl MoveObstacle {
    /// Leaves out numbers that change while the matter stays the same.
    pub(super) fn drop_counts(&mut self) {
        match self {
            Self::NoRoom { bytes, .. } => *bytes = 0,
            Self::DisksTooSmall { moving, unplaced, .. } => (*moving, *unplaced) = (0, 0),
            Self::Stalled { minutes, .. } => *minutes = 0,
            _ => {}
        }
    }
}

pub(super) fn drop_counts(obstacles: &mut FirstFew<MoveObstacle>) {
    obstacles.more = obstacles.more.min(1);
    obstacles.first.iter_mut().for_each(MoveObstacle::drop_counts);
}
