//! How fast copies are made in a simulated cluster: what a broker can take, and what throttles
//! leave of it, shared by all copies that are under way.

use super::copies::Copies;
use super::metadata::Metadata;
use super::timing::Timing;
use crate::throttle::{FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS};
use std::collections::BTreeMap;

pub(super) type Place = (String, usize);

pub(super) struct Speeds<'a> {
    metadata: &'a Metadata,
    most: u64,
    /// Copies under way, by the broker that sends them and by the one that takes them.
    sent: BTreeMap<i32, u64>,
    taken: BTreeMap<i32, u64>,
}

impl<'a> Speeds<'a> {
    pub fn new(metadata: &'a Metadata, all: &BTreeMap<Place, Copies>, timing: Timing) -> Self {
        let (mut sent, mut taken) = (BTreeMap::new(), BTreeMap::new());
        for ((topic, index), copies) in all {
            let topic = metadata.topics.get(topic);
            let partition = topic.and_then(|topic| topic.partitions.get(*index));
            let Some(leader) = partition.and_then(|partition| partition.leader) else { continue };
            for follower in copies.joining.keys() {
                *sent.entry(leader).or_default() += 1;
                *taken.entry(*follower).or_default() += 1;
            }
        }
        Self { metadata, most: timing.bytes_per_second, sent, taken }
    }

    /// Of one partition, from its leader to a follower.
    pub fn find(&self, place: &Place, leader: i32, follower: i32) -> u64 {
        let shared = |bytes: u64, by: &BTreeMap<i32, u64>, broker| {
            bytes / by.get(&broker).copied().unwrap_or(0).max(1)
        };
        let mut speed = shared(self.most, &self.taken, follower);
        if let Some(rate) = self.throttle(place, leader, [LEADER_REPLICAS, LEADER_RATE]) {
            speed = speed.min(shared(rate, &self.sent, leader));
        }
        if let Some(rate) = self.throttle(place, follower, [FOLLOWER_REPLICAS, FOLLOWER_RATE]) {
            speed = speed.min(shared(rate, &self.taken, follower));
        }
        speed
    }

    /// The rate of a broker, if this replica there is throttled.
    fn throttle(&self, (topic, index): &Place, broker: i32, names: [&str; 2]) -> Option<u64> {
        let [replicas, rate] = names;
        let throttled = self.metadata.topics.get(topic)?.settings.get(replicas)?;
        let name = format!("{index}:{broker}");
        let is_named = throttled.split(',').any(|it| it == "*" || it == name);
        let rate = self.metadata.broker_settings.get(&broker)?.get(rate)?;
        is_named.then(|| rate.parse().ok()).flatten()
    }
}
