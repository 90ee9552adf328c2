//! Leaders back where they belong: ElectLeaders.

use super::topic_name;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, TopicPartition};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::ElectLeadersRequest;
use kafka_protocol::messages::elect_leaders_request::TopicPartitions;
use std::collections::BTreeMap;

const CALL: &str = "ElectLeaders";
/// Kafka's number for the election of the first replica of each partition.
const PREFERRED: i8 = 0;

/// What became of partitions that were to be led by their first replicas. Those that were
/// led so before are not in it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Elected {
    /// Led by their first replicas from now on.
    pub moved: Vec<TopicPartition>,
    /// They keep the leader they have: the first replica can't lead now, or the partition
    /// is gone.
    pub refused: Vec<TopicPartition>,
}

/// Has these partitions led by their first replicas.
pub struct ElectPreferredLeaders<'a> {
    pub partitions: &'a [TopicPartition],
}

impl Call for ElectPreferredLeaders<'_> {
    type Answer = Elected;

    async fn run(&self, connection: &mut Connection) -> Result<Elected, Error> {
        let request = ElectLeadersRequest::default()
            .with_election_type(PREFERRED)
            .with_topic_partitions(Some(self.by_topic()))
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        check(CALL, "these partitions", answer.error_code, None)?;
        let mut elected = Elected::default();
        for topic in &answer.replica_election_results {
            for result in &topic.partition_result {
                let place = TopicPartition::new(topic.topic.0.as_str(), result.partition_id);
                match ResponseError::try_from_code(result.error_code) {
                    None => elected.moved.push(place),
                    Some(ResponseError::ElectionNotNeeded) => {}
                    Some(code) if refuses_one(code) => elected.refused.push(place),
                    // A controller that could not be asked is told for each partition, too.
                    Some(_) => {
                        let message = result.error_message.as_ref();
                        check(CALL, &place.to_string(), result.error_code, message)?;
                    }
                }
            }
        }
        Ok(elected)
    }
}

impl ElectPreferredLeaders<'_> {
    fn by_topic(&self) -> Vec<TopicPartitions> {
        let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
        for TopicPartition { topic, partition } in self.partitions {
            topics.entry(topic).or_default().push(*partition);
        }
        let topic = |(name, partitions)| {
            TopicPartitions::default().with_topic(topic_name(name)).with_partitions(partitions)
        };
        topics.into_iter().map(topic).collect()
    }
}

/// What is wrong with one partition, and with no other.
fn refuses_one(code: ResponseError) -> bool {
    use ResponseError::{
        EligibleLeadersNotAvailable, InvalidTopicException, PreferredLeaderNotAvailable,
        UnknownTopicOrPartition,
    };
    matches!(
        code,
        PreferredLeaderNotAvailable
            | EligibleLeadersNotAvailable
            | UnknownTopicOrPartition
            | InvalidTopicException
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fake::{answer, connect};
    use kafka_protocol::messages::elect_leaders_response::{
        PartitionResult, ReplicaElectionResult,
    };
    use kafka_protocol::messages::{ApiKey, ElectLeadersResponse};

    const CALLS: &[(ApiKey, i16, i16)] = &[(ApiKey::ElectLeaders, 0, 2)];

    /// What follows from these answers for partitions 0, 1, 2 …
    async fn elect(codes: &'static [Option<ResponseError>]) -> Result<Elected, Error> {
        let result = |(index, code): (i32, &Option<ResponseError>)| {
            let code = code.as_ref().map_or(0, ResponseError::code);
            PartitionResult::default().with_partition_id(index).with_error_code(code)
        };
        let mut connection = connect(CALLS, move |asked| {
            let results = (0..).zip(codes).map(result).collect();
            let topic = ReplicaElectionResult::default()
                .with_topic(topic_name("t"))
                .with_partition_result(results);
            let response = ElectLeadersResponse::default();
            let response = response.with_replica_election_results(vec![topic]);
            answer::<ElectLeadersRequest>(asked, &response)
        })
        .await;
        let partitions: Vec<_> =
            (0..).zip(codes).map(|(index, _)| TopicPartition::new("t", index)).collect();
        ElectPreferredLeaders { partitions: &partitions }.run(&mut connection).await
    }

    #[tokio::test]
    async fn what_can_not_be_led_by_its_first_replica_is_left() {
        use ResponseError::{
            ElectionNotNeeded, PreferredLeaderNotAvailable, UnknownTopicOrPartition,
        };
        const CODES: &[Option<ResponseError>] = &[
            None,
            Some(ElectionNotNeeded),
            Some(PreferredLeaderNotAvailable),
            Some(UnknownTopicOrPartition),
        ];
        let place = |index| TopicPartition::new("t", index);
        let expected = Elected { moved: vec![place(0)], refused: vec![place(2), place(3)] };
        assert_eq!(elect(CODES).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn a_controller_that_moves_is_an_error() {
        const CODES: &[Option<ResponseError>] = &[Some(ResponseError::NotController)];
        let Err(Error::Kafka { code, .. }) = elect(CODES).await else { panic!("an error") };
        assert_eq!(code, ResponseError::NotController);
    }
}
