//! Writing down where a group goes on: OffsetCommit, asked of the coordinator.

use super::{group_id, topic_name};
use crate::client::error::check;
use crate::client::{Call, Connection, Error, TopicPartition};
use kafka_protocol::messages::OffsetCommitRequest;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use std::collections::{BTreeMap, BTreeSet};

const CALL: &str = "OffsetCommit";

/// Committed by nobody who is a member: the coordinator refuses it while there
/// are any.
pub struct CommitOffsets<'a> {
    pub group: &'a str,
    pub offsets: &'a BTreeMap<TopicPartition, i64>,
}

impl Call for CommitOffsets<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let mut topics: BTreeMap<&str, Vec<OffsetCommitRequestPartition>> = BTreeMap::new();
        for (at, offset) in self.offsets {
            let partition = OffsetCommitRequestPartition::default()
                .with_partition_index(at.partition)
                .with_committed_offset(*offset);
            topics.entry(&at.topic).or_default().push(partition);
        }
        let topic = |(name, partitions)| {
            OffsetCommitRequestTopic::default()
                .with_name(topic_name(name))
                .with_partitions(partitions)
        };
        let request = OffsetCommitRequest::default()
            .with_group_id(group_id(self.group))
            .with_topics(topics.into_iter().map(topic).collect());
        let answer = connection.call(&request).await?;
        let mut untold: BTreeSet<&TopicPartition> = self.offsets.keys().collect();
        for topic in &answer.topics {
            for partition in &topic.partitions {
                let at = TopicPartition::new(topic.name.0.as_str(), partition.partition_index);
                let subject = format!("{} of group {}", at, self.group);
                check(CALL, &subject, partition.error_code, None)?;
                untold.remove(&at);
            }
        }
        match untold.first() {
            None => Ok(()),
            // Nothing is committed that the coordinator does not say.
            Some(at) => {
                let reason = format!("it does not mention {at}");
                Err(connection.malformed::<OffsetCommitRequest>(reason))
            }
        }
    }
}
