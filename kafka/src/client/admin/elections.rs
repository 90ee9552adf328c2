//! Leaders back where they belong: ElectLeaders.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::ElectLeadersRequest;

const CALL: &str = "ElectLeaders";
/// Kafka's number for the election of the first replica of each partition.
const PREFERRED: i8 = 0;

/// Has every partition led by its first replica. A partition whose first
/// replica is not in sync keeps its leader, and is an error that passes.
pub struct ElectPreferredLeaders;

#[async_trait]
impl Call for ElectPreferredLeaders {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let request = ElectLeadersRequest::default()
            .with_election_type(PREFERRED)
            .with_topic_partitions(None)
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        check(CALL, "every partition", answer.error_code, None)?;
        for topic in &answer.replica_election_results {
            for partition in &topic.partition_result {
                if partition.error_code == ResponseError::ElectionNotNeeded.code() {
                    continue;
                }
                let subject = format!("{}-{}", topic.topic.0, partition.partition_id);
                check(CALL, &subject, partition.error_code, partition.error_message.as_ref())?;
            }
        }
        Ok(())
    }
}
