//! Where every copy of every partition is, and how large it is, as it was read at one moment.
//! Plain data, which planners go by: [`crate::client::Placement`] reads it.

use crate::client::TopicPartition;

/// Everything that moving replicas depends on.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlacementView {
    /// Those that are registered and those that were asked, by id.
    pub brokers: Vec<PlacedBroker>,
    /// All topics, the internal ones too, by name.
    pub topics: Vec<PlacedTopic>,
}

impl PlacementView {
    pub fn broker(&self, id: i32) -> Option<&PlacedBroker> {
        self.brokers.iter().find(|broker| broker.id == id)
    }

    pub fn topic(&self, name: &str) -> Option<&PlacedTopic> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// Partitions that have a replica on this broker, get one there, or lose one.
    pub fn on(&self, broker: i32) -> impl Iterator<Item = TopicPartition> {
        let partitions =
            self.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |it| (topic, it)));
        let here = partitions.filter(move |(_, it)| it.replicas.contains(&broker));
        here.map(|(topic, it)| TopicPartition::new(&*topic.name, it.index))
    }
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlacedBroker {
    pub id: i32,
    pub rack: Option<String>,
    /// The controllers know it. One that was never up, or was unregistered, is not.
    pub is_registered: bool,
    /// Registered, but not serving. Releases before 4.0 don't list such brokers: there it is not
    /// registered either.
    pub is_fenced: bool,
    /// What it said of its own disks and settings. None if it did not answer.
    pub own: Option<OwnWords>,
}

impl PlacedBroker {
    /// It is registered, serves, and answered.
    pub fn is_up(&self) -> bool {
        self.is_registered && !self.is_fenced && self.own.is_some()
    }
}

/// What a broker says of itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct OwnWords {
    /// All logs together, those that are copied here too.
    pub log_bytes: u64,
    /// Of the file systems that its directories are on, where the release tells.
    pub total_bytes: Option<u64>,
    pub usable_bytes: Option<u64>,
    /// Bytes per second that throttled copies to and from it may take together. None where
    /// nothing is set.
    pub throttle: Option<u64>,
    /// Kafka places no new replicas there by itself (from 4.3).
    pub is_cordoned: bool,
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlacedTopic {
    pub name: String,
    /// The effective `min.insync.replicas`.
    pub min_in_sync: usize,
    /// It is set for this very topic, and does not follow the cluster's.
    pub has_own_min_in_sync: bool,
    /// Some of its replicas are throttled.
    pub is_throttled: bool,
    /// By number.
    pub partitions: Vec<PlacedPartition>,
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PlacedPartition {
    pub index: i32,
    pub leader: Option<i32>,
    /// In Kafka's order. While a reassignment is under way they include those that it adds and
    /// those that it removes.
    pub replicas: Vec<i32>,
    pub in_sync: Vec<i32>,
    /// Eligible leader replicas. Kafka before 4.0 has none.
    pub elr: Vec<i32>,
    /// The largest log of its replicas; 0 if no broker told of one.
    pub bytes: u64,
    pub reassignment: Option<UnderWay>,
}

/// A reassignment that Kafka is carrying out.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct UnderWay {
    pub adding: Vec<i32>,
    pub removing: Vec<i32>,
    /// Size of the added logs so far, all together.
    pub copied_bytes: u64,
}
