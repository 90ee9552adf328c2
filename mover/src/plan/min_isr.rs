//! Min ISR before and after replicas change: lowered first, where there will be fewer replicas,
//! and raised last, for Kafka's own topics. Kafka puts removed replicas into the ELR while min
//! ISR is above the number of those that remain.

use crate::aim::{is_internal, min_isr_for};
use crate::layout::Layout;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A topic's `min.insync.replicas`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MinIsr {
    pub topic: Arc<str>,
    pub from: usize,
    pub to: usize,
}

/// Of topics whose partitions change. One that loses replicas can do without one of the rest,
/// and one that gets more takes writes meanwhile.
pub fn to_lower(layout: &Layout<'_>) -> Vec<MinIsr> {
    let mut most: BTreeMap<&Arc<str>, MinIsr> = BTreeMap::new();
    for (at, partition) in layout.partitions.iter().enumerate() {
        let (before, after) = (&layout.before[at], &layout.replicas[at]);
        let is_fewer = after.len() < before.len();
        // Copies that are made count as replicas that have to be in sync.
        let kept = after.len().min(before.len());
        let to = if is_fewer { min_isr_for(after.len()) } else { kept };
        if before == after || partition.min_isr <= to {
            continue;
        }
        let (topic, from) = (partition.topic.clone(), partition.min_isr);
        let lowest = most.entry(&partition.topic).or_insert(MinIsr { topic, from, to });
        lowest.to = lowest.to.min(to);
    }
    most.into_values().collect()
}

/// Of Kafka's own topics. All others follow the cluster's setting, or were set by the customer.
pub fn to_raise(layout: &Layout<'_>) -> Vec<MinIsr> {
    let mut least: BTreeMap<&Arc<str>, MinIsr> = BTreeMap::new();
    for (at, partition) in layout.partitions.iter().enumerate() {
        if !is_internal(&partition.topic) {
            continue;
        }
        let (topic, from) = (partition.topic.clone(), partition.min_isr);
        let to = min_isr_for(layout.replicas[at].len());
        let lowest = least.entry(&partition.topic).or_insert(MinIsr { topic, from, to });
        lowest.to = lowest.to.min(to);
    }
    least.into_values().filter(|it| it.from < it.to).collect()
}
