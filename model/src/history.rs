//! What an instance was, and since when. Bills are made of this alone, so that
//! they stay what they are when the instance is gone.

use crate::{AccountId, Cents, InstanceId, InstanceName, PlanName, Tags, Timestamp, words};

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

words! {
    pub enum HistoryChange {
        Created = "created",
        /// Of plan, name or tags; the entries before and after tell of which.
        Changed = "changed",
        /// The last entry: nothing is to be paid from here on.
        Deleted = "deleted",
    }
}
