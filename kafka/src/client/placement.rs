//! Reading where every copy of every partition is and how large it is, and changing that.
//!
//! One read gives what a mover of replicas goes by. It is taken from several brokers one after
//! another, so a part of it may be a moment older than another; where two parts contradict each
//! other it fails with [`Error::Stale`], and may be asked again.

mod read;
mod write;

use super::{Cluster, Error, TopicPartition};
use crate::placement::PlacementView;
use async_trait::async_trait;
use kafka_protocol::ResponseError;

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
