//! A change of how many servers an instance has, or a rebalance: what was asked for, how far
//! it is, and what the engine must not forget meanwhile.
//!
//! An instance has at most one, which belongs to an open action. Everything else is worked
//! out anew from the servers' rows and from the cluster as it is.

use crate::{ActionId, Cents, InstanceId, PlanName, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that are true apart")]
pub struct Resize {
    pub instance_id: InstanceId,
    pub action_id: ActionId,
    /// Servers before and after; equal: a rebalance.
    pub from: u32,
    pub to: u32,
    /// When one server becomes several, topics of one replica get more.
    pub raise_replication: bool,
    /// The customer agreed that one server is left, with one copy of everything.
    pub accept_single_copy: bool,
    /// Cancelled: a growing cluster loses its new servers again, a shrinking one keeps those
    /// that were to leave, a rebalance ends after its batch.
    pub undo: bool,
    /// Saved before the first leaving server loses its vote or stops. From then on
    /// the change can't be cancelled.
    pub removing: bool,
    pub progress: Option<MoveProgress>,
    pub memory: ResizeMemory,
}

/// How far replicas have moved. Times are those of the control plane's clock.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveProgress {
    pub bytes_done: u64,
    pub bytes_left: u64,
    pub began_at: Timestamp,
    pub observed_at: Timestamp,
    /// When there was last less left of it, in bytes or in partitions, or nothing moved; none:
    /// not known.
    #[serde(default)]
    pub moved_at: Option<Timestamp>,
    /// Partitions that move or are still to.
    #[serde(default)]
    pub partitions_left: usize,
    /// Over the recent past; none until enough was seen.
    pub bytes_per_second: Option<u64>,
    /// When everything will be in its place; none while nothing can be foretold.
    pub ready_at: Option<Timestamp>,
    /// Sums that fade, of which the next estimate is made.
    #[serde(default)]
    pub fading: [f64; 3],
}

/// What is saved before an effect, so that the engine can undo that effect after a crash. What
/// Kafka itself tells, such as throttles, is not here.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ResizeMemory {
    /// Topics whose min ISR was set to 1 to clear a stale ELR, and their own value before.
    /// None: the topic had none of its own.
    pub mended: BTreeMap<String, Option<u32>>,
    /// Topics whose min ISR was lowered because they get fewer replicas, and their own value
    /// before. Put back if the change is undone.
    pub lowered: BTreeMap<String, Option<u32>>,
    /// What it was lowered to. A topic that has another by then was given it by its owner.
    pub lowered_to: BTreeMap<String, u32>,
    /// Topics that get fewer replicas, and how many they had. They get them back if the
    /// change is undone.
    pub replicas: BTreeMap<String, u32>,
    /// The cluster's min ISR as it was last set; none: as before the change.
    pub min_isr: Option<u32>,
    /// What Kafka was last asked to make of it, until it is known to have done so.
    pub min_isr_asked: Option<u32>,
    /// The number of servers that those who stay were last rendered and restarted for; none:
    /// as before the change. Zero: for no one number, because servers of another size are asked
    /// for as well, or because some were restarted for other reasons meanwhile; all have to be
    /// restarted once in any case.
    pub rendered_for: Option<u32>,
    /// What is paid again if the change is undone.
    pub agreed: Option<AgreedPrice>,
}

/// A price for a month, and what was promised for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AgreedPrice {
    pub plan: PlanName,
    pub disk_size: Option<u32>,
    pub price: Cents,
}

impl Resize {
    /// One that has just been asked for.
    pub fn new(instance_id: InstanceId, action_id: ActionId, from: u32, to: u32) -> Self {
        Self {
            instance_id,
            action_id,
            from,
            to,
            raise_replication: true,
            accept_single_copy: false,
            undo: false,
            removing: false,
            progress: None,
            memory: ResizeMemory::default(),
        }
    }

    pub fn is_rebalance(&self) -> bool {
        self.from == self.to
    }

    /// How many servers there are to be now.
    pub fn aim(&self) -> u32 {
        if self.undo { self.from } else { self.to }
    }

    /// Servers are to become fewer than there were, or than there are.
    pub fn shrinks(&self) -> bool {
        if self.undo { self.from < self.to } else { self.to < self.from }
    }

    pub fn may_be_undone(&self) -> bool {
        !self.undo && !self.removing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resize(from: u32, to: u32, undo: bool) -> Resize {
        Resize { undo, ..Resize::new(InstanceId(1), ActionId(2), from, to) }
    }

    #[test]
    fn what_is_undone_goes_back_to_where_it_began() {
        let check = |resize: Resize, aim, shrinks| {
            assert_eq!((resize.aim(), resize.shrinks()), (aim, shrinks), "{resize:?}");
        };
        check(resize(1, 3, false), 3, false);
        check(resize(1, 3, true), 1, true);
        check(resize(5, 3, false), 3, true);
        check(resize(5, 3, true), 5, false);
        check(resize(3, 3, false), 3, false);
        check(resize(3, 3, true), 3, false);
        assert!(!Resize { removing: true, ..resize(3, 1, false) }.may_be_undone());
        assert!(!resize(3, 1, true).may_be_undone());
        assert!(resize(3, 1, false).may_be_undone());
    }

    #[test]
    fn what_an_earlier_release_remembered_is_read() {
        let memory: ResizeMemory = serde_json::from_str(r#"{"mended":{"a":2}}"#).unwrap();
        assert_eq!(memory.mended, BTreeMap::from([("a".to_owned(), Some(2))]));
        assert_eq!(memory.agreed, None);
    }
}
