//! Topics with what was set for them: Metadata and DescribeConfigs, one request
//! each.

use super::configs::{Of, describe};
use super::topics::DescribeTopics;
use crate::client::{Call, Connection, Error, Topic};
use async_trait::async_trait;

/// These topics, or all, by name. One that does not exist is not in the answer.
pub struct ListTopics<'a> {
    pub names: Option<&'a [String]>,
}

#[async_trait]
impl Call for ListTopics<'_> {
    type Answer = Vec<Topic>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Topic>, Error> {
        let found = DescribeTopics { names: self.names }.run(connection).await?;
        let all: Vec<Of> = found.iter().map(|topic| Of::Topic(&topic.name)).collect();
        let mut settings = describe(connection, &all).await?;
        let mut topics: Vec<Topic> = found
            .into_iter()
            // One without an answer was deleted between the two calls.
            .filter_map(|topic| {
                let settings = settings.remove(&topic.name)?;
                Some(Topic { name: topic.name, partitions: topic.partitions, settings })
            })
            .collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(topics)
    }
}
