//! Topics: CreateTopics, and Metadata for where their partitions are.

use super::topic_name;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::metadata_response::{
    MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, CreateTopicsRequest, MetadataRequest};
use kafka_protocol::protocol::StrBytes;

/// A topic to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewTopic {
    pub name: String,
    pub partitions: i32,
    pub replicas: i16,
    pub settings: Vec<(String, String)>,
}

/// Makes a topic, if there is none of that name: one that is there keeps its
/// partitions, replicas and settings.
pub struct CreateTopic<'a> {
    pub name: &'a str,
    pub partitions: i32,
    pub replicas: i16,
    pub settings: &'a [(String, String)],
}

impl<'a> From<&'a NewTopic> for CreateTopic<'a> {
    fn from(topic: &'a NewTopic) -> Self {
        let NewTopic { name, partitions, replicas, settings } = topic;
        Self { name, partitions: *partitions, replicas: *replicas, settings }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    New,
    AlreadyThere,
}

impl Call for CreateTopic<'_> {
    type Answer = Created;

    async fn run(&self, connection: &mut Connection) -> Result<Created, Error> {
        let request = CreateTopicsRequest::default()
            .with_topics(vec![self.topic()])
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        for result in &answer.topics {
            if result.error_code == ResponseError::TopicAlreadyExists.code() {
                return Ok(Created::AlreadyThere);
            }
            check("CreateTopics", self.name, result.error_code, result.error_message.as_ref())?;
        }
        let what = format!("leaders of topic {}", self.name);
        let question = DescribeTopics { names: Some(&[self.name.to_owned()]) };
        let is_led = |topic: &TopicView| topic.partitions.iter().all(|it| it.leader.is_some());
        until_readable(connection, &what, &question, |found| found.iter().any(is_led)).await?;
        Ok(Created::New)
    }

    /// Repeated, it would find what it made itself and say that it was there.
    fn is_repeatable(&self) -> bool {
        false
    }
}

impl CreateTopic<'_> {
    fn topic(&self) -> CreatableTopic {
        let setting = |(name, value): &(String, String)| {
            CreatableTopicConfig::default()
                .with_name(StrBytes::from_string(name.clone()))
                .with_value(Some(StrBytes::from_string(value.clone())))
        };
        CreatableTopic::default()
            .with_name(topic_name(self.name))
            .with_num_partitions(self.partitions)
            .with_replication_factor(self.replicas)
            .with_configs(self.settings.iter().map(setting).collect())
    }
}

/// Where the partitions of these topics are, or of all. Topics that don't exist
/// are not in the answer.
pub struct DescribeTopics<'a> {
    pub names: Option<&'a [String]>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopicView {
    pub name: String,
    /// By number.
    pub partitions: Vec<PartitionView>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionView {
    pub index: i32,
    pub leader: Option<i32>,
    pub replicas: Vec<i32>,
    pub in_sync: Vec<i32>,
}

impl Call for DescribeTopics<'_> {
    type Answer = Vec<TopicView>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<TopicView>, Error> {
        let topic =
            |name: &String| MetadataRequestTopic::default().with_name(Some(topic_name(name)));
        let request = MetadataRequest::default()
            .with_topics(self.names.map(|names| names.iter().map(topic).collect()))
            .with_allow_auto_topic_creation(false);
        let answer = connection.call(&request).await?;
        check("Metadata", "the cluster", answer.error_code, None)?;
        let mut topics = Vec::with_capacity(answer.topics.len());
        for topic in &answer.topics {
            let name = topic.name.as_ref().map(|name| name.0.to_string()).unwrap_or_default();
            if topic.error_code == ResponseError::UnknownTopicOrPartition.code() {
                continue;
            }
            // A topic that is just made may have no leader; its partitions
            // say so one by one.
            if topic.error_code != ResponseError::LeaderNotAvailable.code() {
                check("Metadata", &name, topic.error_code, None)?;
            }
            topics.push(TopicView { name, partitions: partitions(topic) });
        }
        Ok(topics)
    }
}

fn partitions(topic: &MetadataResponseTopic) -> Vec<PartitionView> {
    let ids = |nodes: &[BrokerId]| nodes.iter().map(|id| id.0).collect();
    let view = |partition: &MetadataResponsePartition| PartitionView {
        index: partition.partition_index,
        leader: Some(partition.leader_id.0).filter(|id| *id >= 0),
        replicas: ids(&partition.replica_nodes),
        in_sync: ids(&partition.isr_nodes),
    };
    let mut views: Vec<_> = topic.partitions.iter().map(view).collect();
    views.sort_by_key(|partition| partition.index);
    views
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fake::{answer, connect};
    use kafka_protocol::messages::create_topics_response::CreatableTopicResult;
    use kafka_protocol::messages::{ApiKey, CreateTopicsResponse};

    /// One of its partitions may be without a leader for as long as a server is away.
    #[tokio::test]
    async fn leaders_of_a_topic_that_was_there_are_not_waited_for() {
        // It does not speak Metadata, so that nobody can ask who leads what.
        const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::CreateTopics, 2, 7)];
        let mut connection = connect(CALLS, |asked| {
            let there = CreatableTopicResult::default()
                .with_name(topic_name("orders"))
                .with_error_code(ResponseError::TopicAlreadyExists.code());
            let response = CreateTopicsResponse::default().with_topics(vec![there]);
            answer::<CreateTopicsRequest>(asked, &response)
        })
        .await;
        let create = CreateTopic { name: "orders", partitions: 1, replicas: 1, settings: &[] };
        assert_eq!(create.run(&mut connection).await, Ok(Created::AlreadyThere));
    }
}
