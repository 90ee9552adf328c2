//! Where logs begin and end, and what was written when: ListOffsets.
//!
//! The broker asked must lead the partitions; those it does not lead are left
//! out of the answer.

use super::topic_name;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, TopicPartition};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, ListOffsetsRequest};
use std::collections::BTreeMap;

/// A client that is no replica.
const CONSUMER: BrokerId = BrokerId(-1);

/// A place in a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    Earliest,
    /// After the last message that every replica in sync has.
    Latest,
    /// After the last message that is not part of an open transaction.
    LatestStable,
    /// The first message of that time or later, in milliseconds since 1970.
    Time(i64),
}

impl At {
    fn timestamp(self) -> i64 {
        match self {
            At::Latest | At::LatestStable => -1,
            At::Earliest => -2,
            At::Time(at) => at.max(0),
        }
    }

    fn isolation(self) -> i8 {
        i8::from(self == At::LatestStable)
    }
}

/// The offsets of that place in each of the partitions. None of one in which
/// nothing is that late.
pub struct ListOffsets<'a> {
    pub partitions: Vec<&'a TopicPartition>,
    pub at: At,
}

impl Call for ListOffsets<'_> {
    type Answer = BTreeMap<TopicPartition, Option<i64>>;

    async fn run(&self, connection: &mut Connection) -> Result<Self::Answer, Error> {
        let mut topics: BTreeMap<&str, Vec<ListOffsetsPartition>> = BTreeMap::new();
        for wanted in &self.partitions {
            let partition = ListOffsetsPartition::default()
                .with_partition_index(wanted.partition)
                .with_timestamp(self.at.timestamp());
            topics.entry(&wanted.topic).or_default().push(partition);
        }
        let topic = |(name, partitions)| {
            ListOffsetsTopic::default().with_name(topic_name(name)).with_partitions(partitions)
        };
        let request = ListOffsetsRequest::default()
            .with_replica_id(CONSUMER)
            .with_isolation_level(self.at.isolation())
            .with_topics(topics.into_iter().map(topic).collect());
        let answer = connection.call(&request).await?;
        let mut found = BTreeMap::new();
        for topic in &answer.topics {
            for partition in &topic.partitions {
                let at = TopicPartition::new(topic.name.0.as_str(), partition.partition_index);
                if leads(partition.error_code) {
                    check("ListOffsets", &at.to_string(), partition.error_code, None)?;
                    found.insert(at, Some(partition.offset).filter(|offset| *offset >= 0));
                }
            }
        }
        Ok(found)
    }
}

/// A partition whose leader just moves has no answer, and is no error.
fn leads(code: i16) -> bool {
    ResponseError::try_from_code(code).is_none_or(|code| !code.is_retriable())
}
