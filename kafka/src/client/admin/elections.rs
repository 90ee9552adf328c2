//! Leaders back where they belong: ElectLeaders.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::ElectLeadersRequest;

const CALL: &str = "ElectLeaders";
/// Kafka's number for the election of the first replica of each partition.
const PREFERRED: i8 = 0;

/// Has every partition led by its first replica. A partition whose first
/// replica is not in sync keeps its leader, and is an error that passes, told only
/// where there is no other.
pub struct ElectPreferredLeaders;

impl Call for ElectPreferredLeaders {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let request = ElectLeadersRequest::default()
            .with_election_type(PREFERRED)
            .with_topic_partitions(None)
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        check(CALL, "every partition", answer.error_code, None)?;
        let mut lacking = None;
        for topic in &answer.replica_election_results {
            for partition in &topic.partition_result {
                if partition.error_code == ResponseError::ElectionNotNeeded.code() {
                    continue;
                }
                let subject = format!("{}-{}", topic.topic.0, partition.partition_id);
                let message = partition.error_message.as_ref();
                match check(CALL, &subject, partition.error_code, message) {
                    Err(error) if error.lacks_preferred_leader() => {
                        lacking.get_or_insert(error);
                    }
                    checked => checked?,
                }
            }
        }
        lacking.map_or(Ok(()), Err)
    }
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

    /// Kafka's word for what is wrong, where its partitions are answered with these.
    async fn refusal(codes: &'static [ResponseError]) -> Option<ResponseError> {
        let result = |code: &ResponseError| PartitionResult::default().with_error_code(code.code());
        let mut connection = connect(CALLS, move |asked| {
            let results = codes.iter().map(result).collect();
            let topic = ReplicaElectionResult::default().with_partition_result(results);
            let response = ElectLeadersResponse::default();
            let response = response.with_replica_election_results(vec![topic]);
            answer::<ElectLeadersRequest>(asked, &response)
        })
        .await;
        match ElectPreferredLeaders.run(&mut connection).await {
            Err(Error::Kafka { code, .. }) => Some(code),
            elected => {
                elected.unwrap();
                None
            }
        }
    }

    #[tokio::test]
    async fn a_first_replica_that_is_away_hides_nothing_else() {
        use ResponseError::{ElectionNotNeeded, NotController, PreferredLeaderNotAvailable};
        assert_eq!(refusal(&[ElectionNotNeeded]).await, None);
        let away = &[PreferredLeaderNotAvailable, ElectionNotNeeded];
        assert_eq!(refusal(away).await, Some(PreferredLeaderNotAvailable));
        let moving = &[PreferredLeaderNotAvailable, NotController];
        assert_eq!(refusal(moving).await, Some(NotController));
    }
}
