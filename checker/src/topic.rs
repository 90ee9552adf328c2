//! The topic that is written to: three copies, of which two must be in sync,
//! and nothing leaves it by age.

use crate::Access;
use crate::access::librdkafka_settings;
use kafka::client::admin::topics::{CreateTopic, DescribeTopics};
use kafka::client::{Call, Error, Remedy};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::types::RDKafkaErrorCode;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopicSpec {
    pub name: String,
    pub partitions: i32,
    pub replicas: i16,
    pub min_in_sync: i16,
}

/// Makes the topic, if there is none of that name. How many partitions it has.
pub async fn make_topic(access: &Access, topic: &TopicSpec) -> Result<i32, Error> {
    let settings = [
        ("min.insync.replicas", topic.min_in_sync.to_string()),
        ("cleanup.policy", "delete".into()),
        ("retention.ms", "-1".into()),
        ("retention.bytes", "-1".into()),
        // We read copies as they are written.
        ("compression.type", "producer".into()),
        ("unclean.leader.election.enable", "false".into()),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let TopicSpec { name, partitions, replicas, .. } = topic;
    let (partitions, replicas) = (*partitions, *replicas);
    let create = CreateTopic { name, partitions, replicas, settings: &settings };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let made = async {
            let mut connection = access.any().await?;
            create.run(&mut connection).await?;
            let names = Some(std::slice::from_ref(name));
            let topics = DescribeTopics { names }.run(&mut connection).await?;
            Ok::<_, Error>(topics.iter().flat_map(|topic| &topic.partitions).count())
        };
        match made.await {
            Ok(count) => return Ok(i32::try_from(count).unwrap_or(i32::MAX)),
            Err(error) if error.remedy() == Remedy::Refused || Instant::now() > deadline => {
                return Err(error);
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Removes the topic with all that is in it, if it is there.
pub async fn remove_topic(access: &Access, topic: &str) -> Result<(), String> {
    let mut config = ClientConfig::new();
    for (name, value) in librdkafka_settings(access) {
        config.set(name, value);
    }
    let in_words = |error: rdkafka::error::KafkaError| error.to_string();
    let admin: AdminClient<DefaultClientContext> = config.create().map_err(in_words)?;
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    let results = admin.delete_topics(&[topic], &options).await.map_err(in_words)?;
    let refused = results.into_iter().filter_map(Result::err).find(|(_, code)| {
        !matches!(code, RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic)
    });
    refused.map_or(Ok(()), |(topic, code)| Err(format!("topic {topic} stays: {code}")))
}
