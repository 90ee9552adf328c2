//! What the controllers of a simulated cluster decide and remember.

use super::partition::{Partition, Rules};
use crate::client::quotas::{QuotaEntity, QuotaKey};
use crate::client::{Acl, Elected, TopicPartition};
use crate::settings::{CORDONED, MIN_IN_SYNC};
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
    /// Of single brokers.
    pub broker_settings: BTreeMap<i32, BTreeMap<String, String>>,
    /// Whether the release has eligible leader replicas.
    pub has_elr: bool,
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

impl Metadata {
    /// The topic's own, or the cluster's, or one as Kafka's default is.
    pub fn min_in_sync(&self, topic: &Topic) -> usize {
        min_in_sync(topic, &self.settings)
    }

    /// Whether a broker may lead and be in sync.
    pub fn is_active(&self, broker: i32) -> bool {
        is_active(&self.brokers, broker)
    }

    /// Whether Kafka places replicas there by itself.
    pub fn is_cordoned(&self, broker: i32) -> bool {
        let settings = self.broker_settings.get(&broker);
        let dirs = settings.and_then(|settings| settings.get(CORDONED));
        dirs.is_some_and(|dirs| !dirs.is_empty())
    }

    /// Changes partitions, and then has each elect a leader that needs one.
    pub fn each(&mut self, mut change: impl FnMut(&mut Partition, Rules)) {
        for topic in self.topics.values_mut() {
            let min_in_sync = min_in_sync(topic, &self.settings);
            let rules = Rules { min_in_sync, has_elr: self.has_elr };
            for partition in &mut topic.partitions {
                change(partition, rules);
                partition.elect(|id| is_active(&self.brokers, id));
            }
        }
    }

    /// Changes one partition, if it is there.
    pub fn change_one(
        &mut self,
        at: (&str, usize),
        change: impl FnOnce(&mut Partition, Rules),
    ) -> Option<()> {
        let topic = self.topics.get_mut(at.0)?;
        let min_in_sync = min_in_sync(topic, &self.settings);
        let rules = Rules { min_in_sync, has_elr: self.has_elr };
        let partition = topic.partitions.get_mut(at.1)?;
        change(partition, rules);
        partition.elect(|id| is_active(&self.brokers, id));
        Some(())
    }

    /// Takes a broker out of every set of replicas in sync, and gives what it led to another.
    pub fn retire(&mut self, broker: i32) {
        self.each(|partition, rules| partition.leave(broker, rules));
    }

    /// A broker is back: it leads what nobody else could.
    pub fn welcome(&mut self) {
        self.each(|_, _| {});
    }

    /// Has these partitions led by their first replicas, as far as those are in sync.
    pub fn prefer(&mut self, partitions: &[TopicPartition]) -> Elected {
        let brokers = &self.brokers;
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
            if partition.in_sync.contains(&preferred) && is_active(brokers, preferred) {
                partition.leader = Some(preferred);
                elected.moved.push(place.clone());
            } else {
                elected.refused.push(place.clone());
            }
        }
        elected
    }
}

fn is_active(brokers: &BTreeMap<i32, Registration>, broker: i32) -> bool {
    brokers.get(&broker).is_some_and(|it| !it.fenced && !it.stopping)
}

fn min_in_sync(topic: &Topic, defaults: &BTreeMap<String, String>) -> usize {
    let demand = topic.settings.get(MIN_IN_SYNC).or_else(|| defaults.get(MIN_IN_SYNC));
    demand.and_then(|value| value.parse().ok()).unwrap_or(1)
}
