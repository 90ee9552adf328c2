//! What is answered about replicas, voters and registered brokers.

use super::orders;
use kafka_protocol::messages::*;

pub fn altered_reassignments() -> AlterPartitionReassignmentsResponse {
    use alter_partition_reassignments_response::{
        ReassignablePartitionResponse, ReassignableTopicResponse,
    };
    let topic = ReassignableTopicResponse::default()
        .with_name(orders())
        .with_partitions(vec![ReassignablePartitionResponse::default()]);
    AlterPartitionReassignmentsResponse::default().with_responses(vec![topic])
}

pub fn reassignments() -> ListPartitionReassignmentsResponse {
    use list_partition_reassignments_response::{
        OngoingPartitionReassignment, OngoingTopicReassignment,
    };
    let partition = OngoingPartitionReassignment::default()
        .with_replicas(vec![BrokerId(1)])
        .with_adding_replicas(vec![BrokerId(1)])
        .with_removing_replicas(vec![BrokerId(2)]);
    let topic =
        OngoingTopicReassignment::default().with_name(orders()).with_partitions(vec![partition]);
    ListPartitionReassignmentsResponse::default().with_topics(vec![topic])
}

pub fn partitions() -> DescribeTopicPartitionsResponse {
    use describe_topic_partitions_response::{
        DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
    };
    let partition = DescribeTopicPartitionsResponsePartition::default()
        .with_leader_id(BrokerId(1))
        .with_replica_nodes(vec![BrokerId(1)])
        .with_isr_nodes(vec![BrokerId(1)])
        .with_eligible_leader_replicas(Some(vec![BrokerId(2)]))
        .with_last_known_elr(Some(vec![BrokerId(2)]))
        .with_offline_replicas(vec![BrokerId(2)]);
    let topic = DescribeTopicPartitionsResponseTopic::default()
        .with_name(Some(orders()))
        .with_partitions(vec![partition]);
    DescribeTopicPartitionsResponse::default().with_topics(vec![topic])
}
