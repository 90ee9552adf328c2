//! Where every copy of every partition is, how large it is, and how that is changed.
//!
//! One read gives what a mover of replicas goes by. It is taken from several brokers one after
//! another, so a part of it may be a moment older than another; where two parts contradict each
//! other it fails with [`Error::Stale`], and may be asked again.

mod read;
mod write;

use super::{Cluster, Error, TopicPartition};
use async_trait::async_trait;
use kafka_protocol::ResponseError;

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

/// A reassignment as the active controller has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reassignment {
    pub at: TopicPartition,
    pub replicas: Vec<i32>,
    pub adding: Vec<i32>,
    pub removing: Vec<i32>,
}

/// The replicas that a partition shall have, the preferred leader first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    pub at: TopicPartition,
    pub replicas: Vec<i32>,
}

/// What became of each partition of a request.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Altered {
    /// Begun, or cancelled; for replicas that are so already, nothing.
    pub done: Vec<TopicPartition>,
    /// Kafka's reason, whose remedy says whether it passes. A topic that is gone is here, and
    /// where there was nothing to cancel: see [`Altered::nothing_under_way`].
    pub refused: Vec<(TopicPartition, Error)>,
}

impl Altered {
    /// Partitions that had no reassignment to cancel.
    pub fn nothing_under_way(&self) -> impl Iterator<Item = &TopicPartition> {
        self.refused_for(ResponseError::NoReassignmentInProgress)
    }

    /// Partitions that are not there, or not known to the active controller yet.
    pub fn gone(&self) -> impl Iterator<Item = &TopicPartition> {
        self.refused_for(ResponseError::UnknownTopicOrPartition)
    }

    fn refused_for(&self, reason: ResponseError) -> impl Iterator<Item = &TopicPartition> {
        let is_it =
            move |error: &Error| matches!(error, Error::Kafka { code, .. } if *code == reason);
        self.refused.iter().filter(move |(_, error)| is_it(error)).map(|(at, _)| at)
    }
}

#[async_trait]
pub trait Placement: Send + Sync {
    /// Everything at once. Brokers that are registered or named in `cluster` and don't answer
    /// for themselves are in it without their own words. Takes metadata from the broker beside
    /// the active controller, if it is one of `cluster`, because it is the first to know.
    async fn read_placement(&self, cluster: &Cluster) -> Result<PlacementView, Error>;

    /// Begins to make the replicas these, in requests of a bounded size. A partition that has a
    /// reassignment under way goes on to these instead. To repeat it does no harm. Nothing of
    /// it says that this is safe: that is the caller's to know.
    async fn reassign(&self, cluster: &Cluster, to: &[Assignment]) -> Result<Altered, Error>;

    /// Restores the replicas from before.
    async fn cancel_reassignments(
        &self,
        cluster: &Cluster,
        of: &[TopicPartition],
    ) -> Result<Altered, Error>;

    /// All that are under way, as the active controller has it.
    async fn list_reassignments(&self, cluster: &Cluster) -> Result<Vec<Reassignment>, Error>;
}
