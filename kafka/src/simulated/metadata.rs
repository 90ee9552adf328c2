//! What the controllers of a simulated cluster decide and remember.

use crate::client::quotas::{QuotaEntity, QuotaKey};
use crate::client::{Acl, Elected, PartitionView, TopicPartition};
use crate::settings::MIN_IN_SYNC;
use model::Secret;
use std::collections::BTreeMap;

#[derive(Clone, Default, Debug)]
pub(super) struct Metadata {
    pub brokers: BTreeMap<i32, Registration>,
    pub topics: BTreeMap<String, Topic>,
    pub users: BTreeMap<String, Secret>,
    pub acls: Vec<Acl>,
    /// Of all brokers, changed while they run.
    pub settings: BTreeMap<String, String>,
    pub quotas: BTreeMap<QuotaEntity, BTreeMap<QuotaKey, f64>>,
}

/// A broker that has been let in once.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Registration {
    pub fenced: bool,
    pub stopping: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Topic {
    pub settings: BTreeMap<String, String>,
    pub partitions: Vec<Partition>,
}

impl Topic {
    /// One unless it says otherwise, as Kafka's default is.
    pub fn min_in_sync(&self) -> usize {
        let demand = self.settings.get(MIN_IN_SYNC);
        demand.and_then(|value| value.parse().ok()).unwrap_or(1)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub leader: Option<i32>,
    pub replicas: Vec<i32>,
    pub in_sync: Vec<i32>,
}

impl Partition {
    pub fn view(&self, index: usize) -> PartitionView {
        PartitionView {
            index: i32::try_from(index).expect("topics are small"),
            leader: self.leader,
            replicas: self.replicas.clone(),
            in_sync: self.in_sync.clone(),
        }
    }
}

impl Metadata {
    /// Whether a broker may lead and be in sync.
    pub fn is_active(&self, broker: i32) -> bool {
        self.brokers.get(&broker).is_some_and(|it| !it.fenced && !it.stopping)
    }

    /// Takes a broker out of every set of replicas in sync but those it is
    /// alone in, and gives what it led to another.
    pub fn retire(&mut self, broker: i32) {
        let brokers = &self.brokers;
        let active = |id: &i32| brokers.get(id).is_some_and(|it| !it.fenced && !it.stopping);
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            if partition.in_sync.len() > 1 {
                partition.in_sync.retain(|id| *id != broker);
            }
            if partition.leader == Some(broker) {
                let mut replicas = partition.replicas.iter();
                let next = replicas.find(|id| partition.in_sync.contains(id) && active(id));
                partition.leader = next.copied();
            }
        }
    }

    /// A broker is back: it leads what nobody else could.
    pub fn welcome(&mut self, broker: i32) {
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            if partition.leader.is_none() && partition.in_sync.contains(&broker) {
                partition.leader = Some(broker);
            }
        }
    }

    /// Has these partitions led by their first replicas, as far as those are in sync.
    pub fn prefer(&mut self, partitions: &[TopicPartition]) -> Elected {
        let brokers = &self.brokers;
        let active = |id: &i32| brokers.get(id).is_some_and(|it| !it.fenced && !it.stopping);
        let mut elected = Elected::default();
        for place in partitions {
            let topic = self.topics.get_mut(&place.topic);
            let index = usize::try_from(place.partition).ok();
            let found = topic.zip(index).and_then(|(topic, at)| topic.partitions.get_mut(at));
            let Some(partition) = found else {
                elected.refused.push(place.clone());
                continue;
            };
            let preferred = partition.replicas[0];
            if partition.leader == Some(preferred) {
                continue;
            }
            if partition.in_sync.contains(&preferred) && active(&preferred) {
                partition.leader = Some(preferred);
                elected.moved.push(place.clone());
            } else {
                elected.refused.push(place.clone());
            }
        }
        elected
    }
}
