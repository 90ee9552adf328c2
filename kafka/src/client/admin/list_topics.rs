//! Topics with what was set for them: Metadata and DescribeConfigs, one request
//! each.

use super::configs::{Of, describe};
use super::topics::DescribeTopics;
use crate::client::{Call, Connection, Error, Topic};
use crate::throttle::is_ours;

/// These topics, or all, by name. One that does not exist is not in the answer, and neither are
/// the throttles that we set while replicas move.
pub struct ListTopics<'a> {
    pub names: Option<&'a [String]>,
}

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
                let mut settings = settings.remove(&topic.name)?;
                settings.retain(|setting| !is_ours(&setting.name));
                Some(Topic { name: topic.name, partitions: topic.partitions, settings })
            })
            .collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(topics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::admin::{text, topic_name};
    use crate::client::fake::{Asked, answer, connect};
    use kafka_protocol::messages::describe_configs_response::DescribeConfigsResult;
    use kafka_protocol::messages::metadata_response::MetadataResponseTopic;
    use kafka_protocol::messages::{
        ApiKey, DescribeConfigsRequest, DescribeConfigsResponse, MetadataRequest, MetadataResponse,
    };
    use std::sync::{Arc, Mutex};

    const CALLS: &[(ApiKey, i16, i16)] =
        &[(ApiKey::Metadata, 0, 12), (ApiKey::DescribeConfigs, 0, 4)];

    fn names(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("t{number:03}"))
    }

    /// What a broker with so many topics is asked.
    async fn requests(count: usize) -> Vec<i16> {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let reply = move |asked: &Asked| {
            seen.lock().unwrap().push(asked.key);
            if asked.key == ApiKey::Metadata as i16 {
                let topic = |name: String| {
                    MetadataResponseTopic::default().with_name(Some(topic_name(&name)))
                };
                let topics = names(count).map(topic).collect();
                let response = MetadataResponse::default().with_topics(topics);
                return answer::<MetadataRequest>(asked, &response);
            }
            let result =
                |name: String| DescribeConfigsResult::default().with_resource_name(text(&name));
            let results = names(count).map(result).collect();
            let response = DescribeConfigsResponse::default().with_results(results);
            answer::<DescribeConfigsRequest>(asked, &response)
        };
        let mut connection = connect(CALLS, reply).await;
        let topics = ListTopics { names: None }.run(&mut connection).await.unwrap();
        assert_eq!(topics.len(), count);
        asked.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn however_many_there_are_it_is_two_requests() {
        let both = [ApiKey::Metadata as i16, ApiKey::DescribeConfigs as i16];
        for count in [1, 50, 2000] {
            assert_eq!(requests(count).await, both, "{count}");
        }
    }
}
