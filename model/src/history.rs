//! What an instance was, and since when. Bills are made of this alone, so that
//! they stay what they are when the instance is gone.

use crate::{AccountId, Cents, InstanceId, InstanceName, PlanName, Tags, Timestamp};
use std::str::FromStr;

/// An instance as it was from a moment on, until its next entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryEntry {
    pub instance_id: InstanceId,
    pub account_id: AccountId,
    /// Never before the entry before it.
    pub at: Timestamp,
    pub change: HistoryChange,
    pub name: InstanceName,
    pub plan: PlanName,
    /// A month of the plan, as it was offered when the plan was chosen.
    pub price: Cents,
    pub tags: Tags,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HistoryChange {
    Created,
    /// Of plan, name or tags; the entries before and after tell of which.
    Changed,
    /// The last entry: nothing is to be paid from here on.
    Deleted,
}

impl HistoryChange {
    pub const fn as_str(self) -> &'static str {
        match self {
            HistoryChange::Created => "created",
            HistoryChange::Changed => "changed",
            HistoryChange::Deleted => "deleted",
        }
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of created, changed, deleted")]
pub struct UnknownChange;

impl FromStr for HistoryChange {
    type Err = UnknownChange;
    fn from_str(text: &str) -> Result<Self, UnknownChange> {
        [Self::Created, Self::Changed, Self::Deleted]
            .into_iter()
            .find(|change| change.as_str() == text)
            .ok_or(UnknownChange)
    }
}
