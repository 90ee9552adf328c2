//! The controllers' quorum: DescribeQuorum.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use crate::quorum::{Quorum, Replica};
use kafka_protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use kafka_protocol::messages::describe_quorum_response::ReplicaState;
use kafka_protocol::messages::{DescribeQuorumRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use model::Timestamp;

const CALL: &str = "DescribeQuorum";
const METADATA_LOG: &str = "__cluster_metadata";

/// The state of the quorum, as its leader sees it.
pub struct DescribeQuorum;

impl Call for DescribeQuorum {
    type Answer = Quorum;

    async fn run(&self, connection: &mut Connection) -> Result<Quorum, Error> {
        let topic = TopicData::default()
            .with_topic_name(TopicName(StrBytes::from_static_str(METADATA_LOG)))
            .with_partitions(vec![PartitionData::default().with_partition_index(0)]);
        let request = DescribeQuorumRequest::default().with_topics(vec![topic]);
        let answer = connection.call(&request).await?;
        check(CALL, METADATA_LOG, answer.error_code, answer.error_message.as_ref())?;
        let partition = answer.topics.first().and_then(|topic| topic.partitions.first());
        let Some(partition) = partition else {
            let reason = format!("it says nothing of {METADATA_LOG}");
            return Err(connection.malformed::<DescribeQuorumRequest>(reason));
        };
        check(CALL, METADATA_LOG, partition.error_code, partition.error_message.as_ref())?;
        Ok(Quorum {
            leader: Some(partition.leader_id.0).filter(|id| *id >= 0),
            leader_epoch: partition.leader_epoch,
            high_watermark: partition.high_watermark,
            voters: partition.current_voters.iter().map(replica).collect(),
            observers: partition.observers.iter().map(replica).collect(),
        })
    }
}

fn replica(state: &ReplicaState) -> Replica {
    Replica {
        id: state.replica_id.0,
        directory: Some(state.replica_directory_id).filter(|id| !id.is_nil()),
        log_end_offset: Some(state.log_end_offset).filter(|offset| *offset >= 0),
        last_fetch: time(state.last_fetch_timestamp),
        last_caught_up: time(state.last_caught_up_timestamp),
    }
}

fn time(milliseconds: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(milliseconds).ok().filter(|_| milliseconds >= 0)
}
