//! How far groups have come: OffsetFetch, asked of the coordinator.

use super::group_id;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, TopicPartition};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::OffsetFetchRequest;
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use std::collections::BTreeMap;

const CALL: &str = "OffsetFetch";

/// Every offset each of the groups has committed.
pub struct FetchOffsets<'a> {
    pub groups: Vec<&'a str>,
}

impl Call for FetchOffsets<'_> {
    type Answer = BTreeMap<String, BTreeMap<TopicPartition, i64>>;

    async fn run(&self, connection: &mut Connection) -> Result<Self::Answer, Error> {
        let group = |name: &&str| {
            OffsetFetchRequestGroup::default().with_group_id(group_id(name)).with_topics(None)
        };
        let request =
            OffsetFetchRequest::default().with_groups(self.groups.iter().map(group).collect());
        let answer = connection.call(&request).await?;
        let mut all = BTreeMap::new();
        for group in &answer.groups {
            let name = group.group_id.0.to_string();
            if group.error_code != ResponseError::GroupIdNotFound.code() {
                check(CALL, &name, group.error_code, None)?;
            }
            let mut offsets = BTreeMap::new();
            for topic in &group.topics {
                for partition in &topic.partitions {
                    let at = TopicPartition::new(topic.name.0.as_str(), partition.partition_index);
                    check(CALL, &at.to_string(), partition.error_code, None)?;
                    if partition.committed_offset >= 0 {
                        offsets.insert(at, partition.committed_offset);
                    }
                }
            }
            all.insert(name, offsets);
        }
        Ok(all)
    }
}
