//! How fast replicas are copied: what to set for that and what to take away. Pure.
//!
//! Kafka throttles the copies of a reassignment alone if they are named: the copies that are
//! made as followers, and those that are copied from as leaders. Replicas in sync are never
//! slowed down. Any throttle that is left behind also holds the next copy, so all of it must go
//! at the end: [`PlacedTopic`](crate::placement::PlacedTopic) and
//! [`PlacedBroker`](crate::placement::PlacedBroker) tell where there is one.

use crate::client::{Changes, SettingsOf, TopicPartition};
use crate::placement::{PlacedBroker, PlacementView};
use std::collections::BTreeMap;

/// Bytes per second that a broker sends of throttled replicas.
pub const LEADER_RATE: &str = "leader.replication.throttled.rate";
/// Bytes per second that a broker takes of throttled replicas.
pub const FOLLOWER_RATE: &str = "follower.replication.throttled.rate";
/// The replicas of a topic that are throttled when others copy them.
pub const LEADER_REPLICAS: &str = "leader.replication.throttled.replicas";
/// The replicas of a topic that are throttled when they are copied.
pub const FOLLOWER_REPLICAS: &str = "follower.replication.throttled.replicas";

/// Whether a topic has this setting from us, while its replicas move.
pub fn is_ours(setting: &str) -> bool {
    matches!(setting, LEADER_REPLICAS | FOLLOWER_REPLICAS)
}

/// The copies of one partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copies {
    pub at: TopicPartition,
    /// Where its data is now.
    pub from: Vec<i32>,
    /// Where copies are made.
    pub to: Vec<i32>,
}

/// Has these copies go no faster than so many bytes per second on each broker. To be set before
/// the reassignment begins.
pub fn throttle(copies: &[Copies], bytes_per_second: u64) -> BTreeMap<SettingsOf, Changes> {
    let mut all = rate(copies.iter().flat_map(|it| it.from.iter().chain(&it.to)), bytes_per_second);
    let mut named: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for Copies { at, from, to } in copies {
        let name = |broker: &i32| format!("{}:{broker}", at.partition);
        let (leaders, followers) = named.entry(&at.topic).or_default();
        leaders.extend(from.iter().map(name));
        followers.extend(to.iter().map(name));
    }
    for (topic, (leaders, followers)) in named {
        let changes = [(LEADER_REPLICAS, leaders), (FOLLOWER_REPLICAS, followers)];
        let changes = changes.map(|(name, replicas)| (name.to_owned(), Some(replicas.join(","))));
        all.insert(SettingsOf::Topic(topic.to_owned()), changes.into());
    }
    all
}

/// Another rate for copies that are under way.
pub fn rate<'a>(
    brokers: impl IntoIterator<Item = &'a i32>,
    bytes_per_second: u64,
) -> BTreeMap<SettingsOf, Changes> {
    let value = Some(bytes_per_second.to_string());
    let changes = [LEADER_RATE, FOLLOWER_RATE].map(|name| (name.to_owned(), value.clone()));
    let changes = Changes::from(changes);
    brokers.into_iter().map(|broker| (SettingsOf::Broker(*broker), changes.clone())).collect()
}

/// Takes away every throttle that a placement shows. Empty if there is none. A broker that is
/// down can't be told, and its own throttle holds no copy once its topics have none.
pub fn unthrottle(placement: &PlacementView) -> BTreeMap<SettingsOf, Changes> {
    let gone = |names: [&str; 2]| Changes::from(names.map(|name| (name.to_owned(), None)));
    let topics = placement.topics.iter().filter(|topic| topic.is_throttled);
    let topics = topics
        .map(|it| (SettingsOf::Topic(it.name.clone()), gone([LEADER_REPLICAS, FOLLOWER_REPLICAS])));
    let is_throttled = |it: &&PlacedBroker| {
        it.is_up() && it.own.as_ref().is_some_and(|own| own.throttle.is_some())
    };
    let brokers = placement.brokers.iter().filter(is_throttled);
    let brokers = brokers.map(|it| (SettingsOf::Broker(it.id), gone([LEADER_RATE, FOLLOWER_RATE])));
    topics.chain(brokers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::{OwnWords, PlacedTopic};

    fn given(changes: &Changes) -> Vec<(&str, Option<&str>)> {
        changes.iter().map(|(name, value)| (&**name, value.as_deref())).collect()
    }

    #[test]
    fn copies_are_named_by_partition_and_broker() {
        let copies = |partition, from: &[i32], to: &[i32]| Copies {
            at: TopicPartition::new("t", partition),
            from: from.into(),
            to: to.into(),
        };
        let all = throttle(&[copies(0, &[1, 2], &[4]), copies(3, &[2], &[1])], 1_000);
        assert_eq!(
            given(&all[&SettingsOf::Topic("t".into())]),
            [(FOLLOWER_REPLICAS, Some("0:4,3:1")), (LEADER_REPLICAS, Some("0:1,0:2,3:2"))]
        );
        for broker in [1, 2, 4] {
            let changes = &all[&SettingsOf::Broker(broker)];
            let expected = [(FOLLOWER_RATE, Some("1000")), (LEADER_RATE, Some("1000"))];
            assert_eq!(given(changes), expected, "{broker}");
        }
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn only_what_is_throttled_is_freed() {
        let topic = |name: &str, is_throttled| PlacedTopic {
            name: name.into(),
            is_throttled,
            ..PlacedTopic::default()
        };
        let broker = |id, throttle| PlacedBroker {
            id,
            is_registered: true,
            own: Some(OwnWords { throttle, ..OwnWords::default() }),
            ..PlacedBroker::default()
        };
        let down = PlacedBroker { is_fenced: true, ..broker(3, Some(5)) };
        let placement = PlacementView {
            brokers: vec![broker(1, None), broker(2, Some(5)), down],
            topics: vec![topic("slow", true), topic("free", false)],
        };
        let all = unthrottle(&placement);
        let freed: Vec<&SettingsOf> = all.keys().collect();
        assert_eq!(freed, [&SettingsOf::Topic("slow".into()), &SettingsOf::Broker(2)]);
        assert!(all.values().flatten().all(|(_, value)| value.is_none()));
        assert!(unthrottle(&PlacementView::default()).is_empty());
    }
}
