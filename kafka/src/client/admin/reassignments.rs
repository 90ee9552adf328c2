//! Changes of replicas: AlterPartitionReassignments and ListPartitionReassignments.

use super::topic_name;
use crate::client::error::check;
use crate::client::{Altered, Call, Connection, Error, Reassignment, TopicPartition};
use kafka_protocol::messages::alter_partition_reassignments_request::{
    ReassignablePartition, ReassignableTopic,
};
use kafka_protocol::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, ListPartitionReassignmentsRequest,
};
use std::collections::BTreeMap;

const ALTER: &str = "AlterPartitionReassignments";
const LIST: &str = "ListPartitionReassignments";

/// Replicas for each partition; none to go back to those from before its reassignment.
pub struct AlterReassignments<'a> {
    pub partitions: &'a [(&'a TopicPartition, Option<&'a [i32]>)],
}

impl Call for AlterReassignments<'_> {
    type Answer = Altered;

    async fn run(&self, connection: &mut Connection) -> Result<Altered, Error> {
        let request = AlterPartitionReassignmentsRequest::default()
            .with_topics(self.by_topic())
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        check(ALTER, "these partitions", answer.error_code, answer.error_message.as_ref())?;
        let mut altered = Altered::default();
        for topic in &answer.responses {
            for result in &topic.partitions {
                let at = TopicPartition::new(topic.name.0.as_str(), result.partition_index);
                let message = result.error_message.as_ref();
                match check(ALTER, &at.to_string(), result.error_code, message) {
                    Ok(()) => altered.done.push(at),
                    Err(error) => altered.refused.push((at, error)),
                }
            }
        }
        Ok(altered)
    }
}

impl AlterReassignments<'_> {
    fn by_topic(&self) -> Vec<ReassignableTopic> {
        let mut topics: BTreeMap<&str, Vec<ReassignablePartition>> = BTreeMap::new();
        for (at, replicas) in self.partitions {
            let replicas = replicas.map(|all| all.iter().copied().map(BrokerId).collect());
            let partition = ReassignablePartition::default()
                .with_partition_index(at.partition)
                .with_replicas(replicas);
            topics.entry(&at.topic).or_default().push(partition);
        }
        let topic = |(name, partitions)| {
            ReassignableTopic::default().with_name(topic_name(name)).with_partitions(partitions)
        };
        topics.into_iter().map(topic).collect()
    }
}

/// Those under way, as the active controller has them.
pub struct ListReassignments;

impl Call for ListReassignments {
    /// By topic and number.
    type Answer = Vec<Reassignment>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Reassignment>, Error> {
        let request = ListPartitionReassignmentsRequest::default()
            .with_topics(None)
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        check(LIST, "all partitions", answer.error_code, answer.error_message.as_ref())?;
        let ids = |nodes: &[BrokerId]| nodes.iter().map(|id| id.0).collect();
        let mut all = Vec::new();
        for topic in &answer.topics {
            all.extend(topic.partitions.iter().map(|it| Reassignment {
                at: TopicPartition::new(topic.name.0.as_str(), it.partition_index),
                replicas: ids(&it.replicas),
                adding: ids(&it.adding_replicas),
                removing: ids(&it.removing_replicas),
            }));
        }
        all.sort_by(|a, b| a.at.cmp(&b.at));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Remedy;
    use crate::client::fake::{answer, connect};
    use kafka_protocol::ResponseError;
    use kafka_protocol::messages::alter_partition_reassignments_response::{
        ReassignablePartitionResponse, ReassignableTopicResponse,
    };
    use kafka_protocol::messages::{AlterPartitionReassignmentsResponse, ApiKey};

    const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::AlterPartitionReassignments, 0, 1)];

    #[tokio::test]
    async fn each_partition_has_an_answer_of_its_own() {
        let codes = [
            0,
            ResponseError::NoReassignmentInProgress.code(),
            ResponseError::NotController.code(),
            ResponseError::UnknownTopicOrPartition.code(),
        ];
        let mut connection = connect(CALLS, move |asked| {
            let result = |(index, code): (i32, i16)| {
                ReassignablePartitionResponse::default()
                    .with_partition_index(index)
                    .with_error_code(code)
            };
            let topic = ReassignableTopicResponse::default()
                .with_name(topic_name("t"))
                .with_partitions((0..).zip(codes).map(result).collect());
            let response =
                AlterPartitionReassignmentsResponse::default().with_responses(vec![topic]);
            answer::<AlterPartitionReassignmentsRequest>(asked, &response)
        })
        .await;
        let places: Vec<_> = (0..4).map(|index| TopicPartition::new("t", index)).collect();
        let partitions: Vec<_> = places.iter().map(|at| (at, None)).collect();
        let altered =
            AlterReassignments { partitions: &partitions }.run(&mut connection).await.unwrap();
        assert_eq!(altered.done, places[..1]);
        let remedies: Vec<Remedy> =
            altered.refused.iter().map(|(_, error)| error.remedy()).collect();
        // Kafka calls an unknown topic something that passes: its brokers may not know it yet.
        assert_eq!(remedies, [Remedy::Refused, Remedy::Retry, Remedy::Retry]);
        assert_eq!(altered.nothing_under_way().collect::<Vec<_>>(), [&places[1]]);
        assert_eq!(altered.gone().collect::<Vec<_>>(), [&places[3]]);
    }
}
