//! Consumer groups: who is in them, how far they have come, where they go on.
//!
//! Every broker tells of the groups it coordinates, so a list is a few requests
//! to each broker, however many groups there are.

mod protocol;
mod reset;
mod view;

pub use reset::{Moved, NotMoved, ResetTo, plan};
pub use view::{Assignment, Group, GroupOffset, GroupView, Member};

use super::{At, Cluster, Error, TopicPartition};
use async_trait::async_trait;
use std::collections::BTreeMap;

#[async_trait]
pub trait Groups {
    /// Every group by name, with members and offsets. While a broker that coordinates
    /// some does not answer, and others have not taken over, it is an error that
    /// passes: a group that is left out would look deleted.
    async fn list_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error>;

    /// The groups of those brokers that answer, for who looks again soon.
    async fn glimpse_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error>;

    /// One group, if it is there.
    async fn describe_group(&self, cluster: &Cluster, name: &str) -> Result<Option<Group>, Error>;

    /// The offset of that place in each of the partitions: none where nothing is
    /// that late. A partition that nobody leads, or that is not there, is not in
    /// the answer.
    async fn find_offsets(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
        at: At,
    ) -> Result<BTreeMap<TopicPartition, Option<i64>>, Error>;

    /// Has a group without members go on from these offsets.
    async fn commit_offsets(
        &self,
        cluster: &Cluster,
        group: &str,
        offsets: &BTreeMap<TopicPartition, i64>,
    ) -> Result<(), Error>;

    /// Forgets a group without members; whether it was there.
    async fn delete_group(&self, cluster: &Cluster, name: &str) -> Result<bool, Error>;

    /// The numbers of the partitions of those of the topics that are there.
    async fn find_partitions(
        &self,
        cluster: &Cluster,
        topics: &[String],
    ) -> Result<BTreeMap<String, Vec<i32>>, Error>;
}
