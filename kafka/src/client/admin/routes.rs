//! Where brokers listen and who leads which partition: Metadata.

use super::{text, topic_name};
use crate::client::error::check;
use crate::client::{Broker, Call, Connection, Endpoint, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::MetadataRequest;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use std::collections::BTreeMap;

const CALL: &str = "Metadata";
/// More than any cluster has. All of them may be dialled at once.
const MOST_BROKERS: usize = 1 << 10;

/// What the broker that was asked knows of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    /// Those that live, by id, on the listener that was asked.
    pub brokers: BTreeMap<i32, Broker>,
    /// The leader of each partition of each topic that exists.
    pub topics: BTreeMap<String, BTreeMap<i32, Option<i32>>>,
}

pub struct FindRoutes<'a> {
    /// None of them: brokers alone.
    pub topics: &'a [String],
}

impl Call for FindRoutes<'_> {
    type Answer = Routes;

    async fn run(&self, connection: &mut Connection) -> Result<Routes, Error> {
        let topic =
            |name: &String| MetadataRequestTopic::default().with_name(Some(topic_name(name)));
        let request = MetadataRequest::default()
            .with_topics(Some(self.topics.iter().map(topic).collect()))
            .with_allow_auto_topic_creation(false);
        let answer = connection.call(&request).await?;
        check(CALL, "the cluster", answer.error_code, None)?;
        if answer.brokers.len() > MOST_BROKERS {
            let reason = format!("it names {} brokers", answer.brokers.len());
            return Err(connection.malformed::<MetadataRequest>(reason));
        }
        let mut routes = Routes::default();
        for broker in &answer.brokers {
            // A port that is none can't be dialled; that broker is not there.
            if let Ok(port) = u16::try_from(broker.port) {
                let endpoint = Endpoint::new(broker.host.as_str(), port);
                let node_id = broker.node_id.0;
                routes.brokers.insert(node_id, Broker::new(node_id, endpoint));
            }
        }
        if routes.brokers.is_empty() {
            // One that just starts does not know of itself yet. What nobody is asked
            // for would look as if it were not there.
            let none = ResponseError::BrokerNotAvailable.code();
            check(CALL, "the cluster", none, Some(&text("it names no broker that lives")))?;
        }
        for topic in &answer.topics {
            let Some(name) = topic.name.as_ref().filter(|_| is_there(topic.error_code)) else {
                continue;
            };
            let leaders = topic.partitions.iter().map(|partition| {
                (partition.partition_index, Some(partition.leader_id.0).filter(|id| *id >= 0))
            });
            routes.topics.insert(name.0.to_string(), leaders.collect());
        }
        Ok(routes)
    }
}

/// A topic that is just made may have no leaders; its partitions say so one by
/// one. Names that can't be a topic's are names of nothing.
fn is_there(code: i16) -> bool {
    code == 0 || code == ResponseError::LeaderNotAvailable.code()
}
