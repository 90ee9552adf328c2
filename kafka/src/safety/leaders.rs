//! Which partitions are not led by their first replica though that could lead them. Pure.
//!
//! A partition whose first replica lags, or is on a broker that does not answer, is not
//! among them: it keeps the leader it has.

use super::Look;
use crate::client::{PartitionView, TopicPartition};
use std::collections::BTreeMap;

/// Partitions whose first replica is on one broker, and does not lead yet.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Homecoming {
    /// Every broker knows another leader, or none.
    pub away: Vec<TopicPartition>,
    /// Some broker knows that the first replica leads, and another does not know it yet.
    pub moving: Vec<TopicPartition>,
}

/// What all brokers say of one partition.
struct Seen {
    first: i32,
    can_lead: bool,
    leads_somewhere: bool,
    is_awaited: bool,
}

impl Look {
    /// By node of the first replica. Nobody waits for what brokers know that don't count.
    pub fn homecomings(&self, counts: impl Fn(i32) -> bool) -> BTreeMap<i32, Homecoming> {
        let mut all: BTreeMap<i32, Homecoming> = BTreeMap::new();
        for (place, seen) in self.seen(counts) {
            if !seen.can_lead || seen.leads_somewhere && !seen.is_awaited {
                continue;
            }
            let home = all.entry(seen.first).or_default();
            let list = if seen.leads_somewhere { &mut home.moving } else { &mut home.away };
            list.push(place);
        }
        all
    }

    fn seen(&self, counts: impl Fn(i32) -> bool) -> BTreeMap<TopicPartition, Seen> {
        let mut all: BTreeMap<TopicPartition, Seen> = BTreeMap::new();
        for (node, topics) in &self.views {
            for topic in topics {
                for partition in &topic.partitions {
                    let Some(first) = partition.replicas.first().copied() else { continue };
                    let place = TopicPartition::new(&*topic.name, partition.index);
                    let seen = all.entry(place).or_insert(Seen {
                        first,
                        can_lead: true,
                        leads_somewhere: false,
                        is_awaited: false,
                    });
                    // Replicas that are being moved are left to whoever moves them.
                    seen.can_lead &= seen.first == first && self.can_lead(partition, first);
                    let leads = partition.leader == Some(first);
                    seen.leads_somewhere |= leads;
                    seen.is_awaited |= !leads && counts(*node);
                }
            }
        }
        all
    }

    fn can_lead(&self, partition: &PartitionView, node: i32) -> bool {
        partition.in_sync.contains(&node) && self.views.contains_key(&node)
    }
}
