//! Where every copy of every partition is, and how many must be in sync:
//! Metadata of all topics, and DescribeConfigs for their `min.insync.replicas`.

use super::topics::{DescribeTopics, PartitionView};
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use crate::settings::MIN_IN_SYNC;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::DescribeConfigsRequest;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::DescribeConfigsResult;
use kafka_protocol::protocol::StrBytes;
use std::collections::HashMap;

const CALL: &str = "DescribeConfigs";
/// Kafka's number for a topic among resources.
const TOPIC: i8 = 2;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopicReplication {
    pub name: String,
    /// A write with acks=all is refused while fewer replicas are in sync.
    pub min_in_sync: usize,
    /// By number.
    pub partitions: Vec<PartitionView>,
}

impl TopicReplication {
    /// How many replicas of a partition must stay in sync for writes to go on:
    /// a topic with fewer copies than it demands can't have more.
    pub fn needed(&self, partition: &PartitionView) -> usize {
        self.min_in_sync.min(partition.replicas.len())
    }
}

/// Every topic, the internal ones too, by name; as the broker that is asked has
/// it in its memory, which may be a moment old.
pub struct DescribeReplication;

impl Call for DescribeReplication {
    type Answer = Vec<TopicReplication>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<TopicReplication>, Error> {
        let topics = DescribeTopics { names: None }.run(connection).await?;
        let names: Vec<&str> = topics.iter().map(|topic| &*topic.name).collect();
        let demands = demands(connection, &names).await?;
        let mut all: Vec<_> = topics
            .into_iter()
            // One without an answer was deleted between the two calls.
            .filter_map(|topic| {
                let min_in_sync = *demands.get(&topic.name)?;
                Some(TopicReplication {
                    name: topic.name,
                    min_in_sync,
                    partitions: topic.partitions,
                })
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }
}

/// What each of the topics demands.
async fn demands(
    connection: &mut Connection,
    topics: &[&str],
) -> Result<HashMap<String, usize>, Error> {
    if topics.is_empty() {
        return Ok(HashMap::new());
    }
    let resource = |name: &&str| {
        DescribeConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(StrBytes::from_string((*name).to_owned()))
            .with_configuration_keys(Some(vec![StrBytes::from_static_str(MIN_IN_SYNC)]))
    };
    let request =
        DescribeConfigsRequest::default().with_resources(topics.iter().map(resource).collect());
    let answer = connection.call(&request).await?;
    let mut demands = HashMap::new();
    for result in &answer.results {
        let name = result.resource_name.to_string();
        if result.error_code == ResponseError::UnknownTopicOrPartition.code() {
            continue;
        }
        check(CALL, &name, result.error_code, result.error_message.as_ref())?;
        let demand = demand(result).ok_or_else(|| {
            let reason = format!("it does not give {MIN_IN_SYNC} of {name}");
            connection.malformed::<DescribeConfigsRequest>(reason)
        })?;
        demands.insert(name, demand);
    }
    Ok(demands)
}

fn demand(result: &DescribeConfigsResult) -> Option<usize> {
    let setting = result.configs.iter().find(|setting| &*setting.name == MIN_IN_SYNC)?;
    setting.value.as_ref()?.parse().ok()
}
