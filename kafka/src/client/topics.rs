//! What people do with topics.

use super::admin::change_topic::ChangeTopic;
use super::admin::delete_topic::DeleteTopic;
use super::admin::list_topics::ListTopics;
use super::admin::topics::{DescribeTopics, TopicView};
use super::{Cluster, Error, PartitionView, ProtocolAdmin, Setting};
use async_trait::async_trait;
use std::collections::BTreeMap;

/// A topic as people know it.
#[derive(Clone, PartialEq, Debug)]
pub struct Topic {
    pub name: String,
    /// By number; none while it is being made.
    pub partitions: Vec<PartitionView>,
    /// What was set for this very topic, by name.
    pub settings: Vec<Setting>,
}

impl Topic {
    /// How many copies there are of each partition.
    pub fn replicas(&self) -> usize {
        self.partitions.first().map_or(0, |partition| partition.replicas.len())
    }

    /// What was set under this name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// What a topic shall have; what is not given stays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopicChange {
    pub partitions: Option<i32>,
    /// All that is set for this very topic from then on.
    pub settings: Option<BTreeMap<String, String>>,
}

#[async_trait]
pub trait Topics: Send + Sync {
    /// Every topic, by name, in the same number of requests however many there
    /// are.
    async fn list_topics(&self, cluster: &Cluster) -> Result<Vec<Topic>, Error>;

    async fn describe_topic(&self, cluster: &Cluster, name: &str) -> Result<Option<Topic>, Error>;

    /// How many partition replicas each topic has, by name, in one request.
    async fn count_replicas(&self, cluster: &Cluster) -> Result<BTreeMap<String, usize>, Error>;

    /// Everything that is asked or, where Kafka refuses a part of it, nothing.
    /// False if there is no such topic. On return the broker that was asked shows
    /// it, and knows a leader of each new partition.
    async fn change_topic(
        &self,
        cluster: &Cluster,
        name: &str,
        change: &TopicChange,
    ) -> Result<bool, Error>;

    /// False if there was no such topic. On return the broker that was asked no
    /// longer knows it.
    async fn delete_topic(&self, cluster: &Cluster, name: &str) -> Result<bool, Error>;
}

#[async_trait]
impl Topics for ProtocolAdmin {
    async fn list_topics(&self, cluster: &Cluster) -> Result<Vec<Topic>, Error> {
        self.ask(cluster, &ListTopics { names: None }).await
    }

    async fn describe_topic(&self, cluster: &Cluster, name: &str) -> Result<Option<Topic>, Error> {
        let found = self.ask(cluster, &ListTopics { names: Some(&[name.to_owned()]) }).await?;
        Ok(found.into_iter().next())
    }

    async fn count_replicas(&self, cluster: &Cluster) -> Result<BTreeMap<String, usize>, Error> {
        let topics = self.ask(cluster, &DescribeTopics { names: None }).await?;
        let replicas =
            |topic: &TopicView| topic.partitions.iter().map(|it| it.replicas.len()).sum();
        Ok(topics.iter().map(|topic| (topic.name.clone(), replicas(topic))).collect())
    }

    async fn change_topic(
        &self,
        cluster: &Cluster,
        name: &str,
        change: &TopicChange,
    ) -> Result<bool, Error> {
        self.ask(cluster, &ChangeTopic { name, change }).await
    }

    async fn delete_topic(&self, cluster: &Cluster, name: &str) -> Result<bool, Error> {
        self.ask(cluster, &DeleteTopic { name }).await
    }
}
