//! All partitions with what may lead them: DescribeTopicPartitions, page by page. A broker that
//! does not speak it knows of no eligible leader replicas: Metadata tells the rest.

use super::topics::DescribeTopics;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, PartitionView, PlacedPartition};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_topic_partitions_request::Cursor;
use kafka_protocol::messages::describe_topic_partitions_response::{
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::{BrokerId, DescribeTopicPartitionsRequest};
use std::collections::BTreeMap;

const CALL: &str = "DescribeTopicPartitions";
/// Partitions of one page. Brokers answer with no more than this by default.
const PAGE: i32 = 2000;
/// Pages of any cluster; one whose pages never end is broken.
const MOST_PAGES: usize = 1000;

/// The partitions of every topic, by name and number. Each partition is as the broker had it at
/// one moment; their sizes and reassignments are not known to this call.
pub struct DescribePartitions;

type Found = BTreeMap<String, Vec<PlacedPartition>>;

impl Call for DescribePartitions {
    type Answer = Found;

    async fn run(&self, connection: &mut Connection) -> Result<Found, Error> {
        match connection.version_of::<DescribeTopicPartitionsRequest>() {
            Ok(_) => all_pages(connection).await,
            Err(Error::Unsupported { .. }) => by_metadata(connection).await,
            Err(error) => Err(error),
        }
    }
}

async fn all_pages(connection: &mut Connection) -> Result<Found, Error> {
    let mut found = Found::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let request = DescribeTopicPartitionsRequest::default()
            .with_response_partition_limit(PAGE)
            .with_cursor(cursor);
        let answer = connection.call(&request).await?;
        for topic in &answer.topics {
            take(topic, &mut found)?;
        }
        let Some(next) = answer.next_cursor else { return Ok(sorted(found)) };
        let next = Cursor::default()
            .with_topic_name(next.topic_name)
            .with_partition_index(next.partition_index);
        cursor = Some(next);
    }
    let reason = format!("it goes on after {MOST_PAGES} pages");
    Err(connection.malformed::<DescribeTopicPartitionsRequest>(reason))
}

fn take(topic: &DescribeTopicPartitionsResponseTopic, found: &mut Found) -> Result<(), Error> {
    let name = topic.name.as_ref().map(|name| name.0.to_string()).unwrap_or_default();
    if topic.error_code == ResponseError::UnknownTopicOrPartition.code() {
        // It was deleted between two pages.
        return Ok(());
    }
    check(CALL, &name, topic.error_code, None)?;
    found.entry(name).or_default().extend(topic.partitions.iter().map(placed));
    Ok(())
}

fn placed(partition: &DescribeTopicPartitionsResponsePartition) -> PlacedPartition {
    let ids = |nodes: &[BrokerId]| nodes.iter().map(|id| id.0).collect();
    PlacedPartition {
        index: partition.partition_index,
        leader: Some(partition.leader_id.0).filter(|id| *id >= 0),
        replicas: ids(&partition.replica_nodes),
        in_sync: ids(&partition.isr_nodes),
        elr: partition.eligible_leader_replicas.as_deref().map(ids).unwrap_or_default(),
        bytes: 0,
        reassignment: None,
    }
}

fn sorted(mut found: Found) -> Found {
    for partitions in found.values_mut() {
        partitions.sort_by_key(|partition| partition.index);
        // The last of a page may be the first of the next.
        partitions.dedup_by_key(|partition| partition.index);
    }
    found
}

async fn by_metadata(connection: &mut Connection) -> Result<Found, Error> {
    let topics = DescribeTopics { names: None }.run(connection).await?;
    let placed = |it: PartitionView| PlacedPartition {
        index: it.index,
        leader: it.leader,
        replicas: it.replicas,
        in_sync: it.in_sync,
        ..PlacedPartition::default()
    };
    let topics = topics.into_iter();
    Ok(topics.map(|it| (it.name, it.partitions.into_iter().map(placed).collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::admin::topic_name;
    use crate::client::fake::{Asked, answer, connect};
    use kafka_protocol::messages::describe_topic_partitions_response::Cursor as NextCursor;
    use kafka_protocol::messages::metadata_response::{
        MetadataResponsePartition, MetadataResponseTopic,
    };
    use kafka_protocol::messages::{
        ApiKey, DescribeTopicPartitionsResponse, MetadataRequest, MetadataResponse,
    };
    use kafka_protocol::protocol::Decodable;

    fn partition(
        index: i32,
        elr: Option<Vec<BrokerId>>,
    ) -> DescribeTopicPartitionsResponsePartition {
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(index)
            .with_leader_id(BrokerId(-1))
            .with_replica_nodes(vec![BrokerId(2), BrokerId(1)])
            .with_eligible_leader_replicas(elr)
    }

    fn page(asked: &Asked) -> DescribeTopicPartitionsResponse {
        let request =
            DescribeTopicPartitionsRequest::decode(&mut asked.body.clone(), asked.version).unwrap();
        let topic = |name, partitions| {
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(topic_name(name)))
                .with_partitions(partitions)
        };
        let response = DescribeTopicPartitionsResponse::default();
        let Some(cursor) = request.cursor else {
            let next =
                NextCursor::default().with_topic_name(topic_name("t")).with_partition_index(1);
            let topics =
                vec![topic("a", vec![partition(0, None)]), topic("t", vec![partition(0, None)])];
            return response.with_topics(topics).with_next_cursor(Some(next));
        };
        assert_eq!((&*cursor.topic_name.0, cursor.partition_index), ("t", 1));
        let gone =
            topic("z", vec![]).with_error_code(ResponseError::UnknownTopicOrPartition.code());
        response.with_topics(vec![topic("t", vec![partition(1, Some(vec![BrokerId(7)]))]), gone])
    }

    #[tokio::test]
    async fn pages_are_put_together() {
        const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::DescribeTopicPartitions, 0, 0)];
        let mut connection =
            connect(CALLS, |asked| answer::<DescribeTopicPartitionsRequest>(asked, &page(asked)))
                .await;
        let found = DescribePartitions.run(&mut connection).await.unwrap();
        let names: Vec<(&str, usize)> =
            found.iter().map(|(name, partitions)| (&**name, partitions.len())).collect();
        assert_eq!(names, [("a", 1), ("t", 2)]);
        assert_eq!((found["t"][1].leader, &found["t"][1].elr[..]), (None, &[7][..]));
        assert!(found["t"][0].elr.is_empty());
        assert_eq!(found["t"][0].replicas, [2, 1], "in Kafka's order");
    }

    #[tokio::test]
    async fn a_broker_without_the_call_is_asked_for_metadata() {
        const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::Metadata, 0, 12)];
        let mut connection = connect(CALLS, |asked| {
            let partition = MetadataResponsePartition::default().with_leader_id(BrokerId(1));
            let topic = MetadataResponseTopic::default()
                .with_name(Some(topic_name("t")))
                .with_partitions(vec![partition]);
            answer::<MetadataRequest>(asked, &MetadataResponse::default().with_topics(vec![topic]))
        })
        .await;
        let found = DescribePartitions.run(&mut connection).await.unwrap();
        assert_eq!((found["t"][0].leader, found["t"][0].elr.len()), (Some(1), 0));
    }
}
