//! What coordinators answer: the second broker is that of the classic group `billing`,
//! the third that of `audit`, which is of the newer kind.

use super::text;
use crate::client::routing_tests::brokers::{IDS, PORT, host};
use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::{
    BrokerId, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DeleteGroupsRequest,
    DeleteGroupsResponse, DescribeGroupsRequest, DescribeGroupsResponse, FindCoordinatorRequest,
    FindCoordinatorResponse, GroupId, ListGroupsRequest, ListGroupsResponse, OffsetCommitRequest,
    OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse, TopicName,
};
use kafka_protocol::messages::{
    consumer_group_describe_response as newer, delete_groups_response as deleted,
    describe_groups_response as classic, find_coordinator_response as found,
    list_groups_response as listed, offset_commit_response as committed,
    offset_fetch_response as group_offsets,
};
use kafka_protocol::protocol::StrBytes;

const CLASSIC_COORDINATOR: i32 = 2;
const NEWER_COORDINATOR: i32 = 3;
/// Partitions 0 to 2 of `orders`, as members of classic groups say it.
const ASSIGNED: &[u8] =
    b"\0\0\0\0\0\x01\0\x06orders\0\0\0\x03\0\0\0\0\0\0\0\x01\0\0\0\x02\xff\xff\xff\xff";

fn code_of_coordinator(broker: i32, code: i16) -> i16 {
    let coordinates = broker == CLASSIC_COORDINATOR;
    if coordinates { code } else { ResponseError::NotCoordinator.code() }
}

pub fn coordinator(_: i32, request: &FindCoordinatorRequest, code: i16) -> FindCoordinatorResponse {
    at(request, CLASSIC_COORDINATOR, PORT.into(), code)
}

/// That broker coordinates all that was asked for.
pub fn at(
    request: &FindCoordinatorRequest,
    broker: i32,
    port: i32,
    code: i16,
) -> FindCoordinatorResponse {
    let one = |key: &StrBytes| {
        found::Coordinator::default()
            .with_key(key.clone())
            .with_node_id(BrokerId(broker))
            .with_host(StrBytes::from_string(host(broker)))
            .with_port(port)
            .with_error_code(code)
    };
    FindCoordinatorResponse::default()
        .with_coordinators(request.coordinator_keys.iter().map(one).collect())
}

pub fn list_groups(broker: i32, _: &ListGroupsRequest, code: i16) -> ListGroupsResponse {
    let group = |id, kind| {
        listed::ListedGroup::default().with_group_id(GroupId(text(id))).with_group_type(text(kind))
    };
    let groups = match broker {
        CLASSIC_COORDINATOR => vec![group("billing", "classic")],
        NEWER_COORDINATOR => vec![group("audit", "consumer")],
        _ => vec![],
    };
    ListGroupsResponse::default().with_error_code(code).with_groups(groups)
}

pub fn newer_groups(
    broker: i32,
    request: &ConsumerGroupDescribeRequest,
    code: i16,
) -> ConsumerGroupDescribeResponse {
    let group = |id: &GroupId| {
        let group = newer::DescribedGroup::default().with_group_id(id.clone());
        if broker != NEWER_COORDINATOR {
            let absent = ResponseError::GroupIdNotFound.code();
            return group.with_error_code(if code == 0 { absent } else { code });
        }
        let assigned = newer::TopicPartitions::default()
            .with_topic_name(TopicName(text("orders")))
            .with_partitions(vec![0, 1, 2]);
        let assigned = newer::Assignment::default().with_topic_partitions(vec![assigned]);
        let member = newer::Member::default().with_member_id(text("m1")).with_assignment(assigned);
        group.with_error_code(code).with_group_state(text("Stable")).with_members(vec![member])
    };
    ConsumerGroupDescribeResponse::default()
        .with_groups(request.group_ids.iter().map(group).collect())
}

pub fn classic_groups(
    broker: i32,
    request: &DescribeGroupsRequest,
    code: i16,
) -> DescribeGroupsResponse {
    let code = code_of_coordinator(broker, code);
    let group = |id: &GroupId| {
        let member = classic::DescribedGroupMember::default()
            .with_member_id(text("m1"))
            .with_member_assignment(Bytes::from_static(ASSIGNED));
        classic::DescribedGroup::default()
            .with_group_id(id.clone())
            .with_error_code(code)
            .with_group_state(text("Stable"))
            .with_protocol_type(text("consumer"))
            .with_members(vec![member])
    };
    DescribeGroupsResponse::default().with_groups(request.groups.iter().map(group).collect())
}

pub fn fetch_offsets(_: i32, request: &OffsetFetchRequest, code: i16) -> OffsetFetchResponse {
    let groups = request.groups.iter().map(|group| {
        let partitions = IDS.map(|id| {
            group_offsets::OffsetFetchResponsePartitions::default()
                .with_partition_index(id - 1)
                .with_committed_offset(1)
                .with_error_code(code)
        });
        let topic = group_offsets::OffsetFetchResponseTopics::default()
            .with_name(TopicName(text("orders")))
            .with_partitions(partitions.to_vec());
        group_offsets::OffsetFetchResponseGroup::default()
            .with_group_id(group.group_id.clone())
            .with_topics(vec![topic])
    });
    OffsetFetchResponse::default().with_groups(groups.collect())
}

pub fn commit(broker: i32, request: &OffsetCommitRequest, code: i16) -> OffsetCommitResponse {
    let code = code_of_coordinator(broker, code);
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            committed::OffsetCommitResponsePartition::default()
                .with_partition_index(asked.partition_index)
                .with_error_code(code)
        });
        committed::OffsetCommitResponseTopic::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    OffsetCommitResponse::default().with_topics(topics.collect())
}

pub fn delete_groups(
    broker: i32,
    request: &DeleteGroupsRequest,
    code: i16,
) -> DeleteGroupsResponse {
    let code = code_of_coordinator(broker, code);
    let group = |id: &GroupId| {
        deleted::DeletableGroupResult::default().with_group_id(id.clone()).with_error_code(code)
    };
    DeleteGroupsResponse::default().with_results(request.groups_names.iter().map(group).collect())
}
