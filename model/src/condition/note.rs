//! What an action's journal tells: what is waited for, and what was done.

use super::{Condition, FirstFew};
use serde::{Deserialize, Serialize};

/// One entry of a journal. Its words are in `words.rs`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    Conditions {
        conditions: Vec<Condition>,
    },
    /// A server, or every one, may stop from now on. `unavoidable` are partitions that
    /// demand every replica, and so take no writes meanwhile.
    MayStop {
        server: Option<u32>,
        comes_back: bool,
        unavoidable: FirstFew<String>,
    },
    /// The same, told before the first server of a restart may stop.
    TakesNoWrites {
        partitions: FirstFew<String>,
    },
    CancelledBy {
        email: String,
    },
    /// Servers were added, and the disks have no room for more replicas of these topics.
    NotRaised {
        topics: FirstFew<String>,
    },
    /// A min ISR of their own was lowered for good, because these topics have fewer replicas.
    MinIsrLowered {
        topics: FirstFew<String>,
    },
    /// These topics got more replicas, and one in sync is enough by a min ISR of their own.
    MinIsrLow {
        topics: FirstFew<String>,
    },
    /// An earlier store was restored, in which the stop had not been asked for yet.
    RanOnAfterRestore,
}

impl Note {
    /// Whether both tell the same, but for numbers of what is done or left and for the
    /// times since when it holds.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Conditions { conditions: own }, Self::Conditions { conditions: theirs }) => {
                let are_like =
                    own.iter().zip(theirs).all(|(one, other)| one.differs_in_counts_alone(other));
                own.len() == theirs.len() && are_like
            }
            _ => self == other,
        }
    }
}
