use super::*;
use crate::client::fake::{Asked, Reply, answer, connect};
use crate::client::groups::Assignment;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_group_describe_response::{
    self as newer, Assignment as Assigned, TopicPartitions,
};
use kafka_protocol::messages::describe_groups_response as classic;
use kafka_protocol::messages::list_groups_response::ListedGroup;
use kafka_protocol::messages::{
    ApiKey, ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribeGroupsRequest,
    DescribeGroupsResponse, GroupId, ListGroupsRequest, ListGroupsResponse, OffsetFetchRequest,
    OffsetFetchResponse, TopicName,
};
use kafka_protocol::protocol::{Decodable, StrBytes};

/// As Kafka 4 speaks.
const ALL: &[(ApiKey, i16, i16)] = &[
    (ApiKey::ListGroups, 0, 5),
    (ApiKey::DescribeGroups, 0, 6),
    (ApiKey::ConsumerGroupDescribe, 0, 1),
    (ApiKey::OffsetFetch, 1, 10),
];
/// As Kafka 3.9 does.
const CLASSIC: &[(ApiKey, i16, i16)] =
    &[(ApiKey::ListGroups, 0, 4), (ApiKey::DescribeGroups, 0, 5), (ApiKey::OffsetFetch, 1, 9)];

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

/// A coordinator of the classic group `old` and of `new`, whose coordinator does the
/// assigning. It is asked about each by the call that is for it.
fn coordinator(asked: &Asked) -> Reply {
    let body = &mut asked.body.clone();
    match ApiKey::try_from(asked.key).unwrap() {
        ApiKey::ListGroups => {
            let group = |name, kind| {
                let kind = if asked.version >= 5 { text(kind) } else { StrBytes::default() };
                ListedGroup::default().with_group_id(GroupId(text(name))).with_group_type(kind)
            };
            let mut groups = vec![group("old", "classic")];
            if asked.version >= 5 {
                groups.extend([group("new", "consumer"), group("shared", "share")]);
            }
            let response = ListGroupsResponse::default().with_groups(groups);
            answer::<ListGroupsRequest>(asked, &response)
        }
        ApiKey::DescribeGroups => {
            let request = DescribeGroupsRequest::decode(body, asked.version).unwrap();
            let group = |name: &GroupId| {
                let state = if *name.0 == *"old" { "Empty" } else { "Dead" };
                classic::DescribedGroup::default()
                    .with_group_id(name.clone())
                    .with_group_state(text(state))
            };
            let groups = request.groups.iter().map(group).collect();
            let response = DescribeGroupsResponse::default().with_groups(groups);
            answer::<DescribeGroupsRequest>(asked, &response)
        }
        ApiKey::ConsumerGroupDescribe => {
            let request = ConsumerGroupDescribeRequest::decode(body, asked.version).unwrap();
            let groups = request.group_ids.iter().map(newer_group).collect();
            let response = ConsumerGroupDescribeResponse::default().with_groups(groups);
            answer::<ConsumerGroupDescribeRequest>(asked, &response)
        }
        _ => answer::<OffsetFetchRequest>(asked, &OffsetFetchResponse::default()),
    }
}

fn newer_group(name: &GroupId) -> newer::DescribedGroup {
    let group = newer::DescribedGroup::default().with_group_id(name.clone());
    if *name.0 != *"new" {
        return group.with_error_code(ResponseError::GroupIdNotFound.code());
    }
    let assigned = TopicPartitions::default()
        .with_topic_name(TopicName(text("orders")))
        .with_partitions(vec![1, 0]);
    let member = newer::Member::default()
        .with_member_id(text("m1"))
        .with_client_host(text("/192.0.2.7"))
        .with_assignment(Assigned::default().with_topic_partitions(vec![assigned]));
    group.with_group_state(text("Stable")).with_members(vec![member])
}

fn names(groups: &[Group]) -> Vec<(&str, &str, usize)> {
    let views = groups.iter().map(|group| &group.view);
    views.map(|view| (view.name.as_str(), view.state.as_str(), view.members.len())).collect()
}

#[tokio::test]
async fn each_kind_of_group_is_asked_for_by_its_own_call() {
    let mut connection = connect(ALL, coordinator).await;
    let groups = Coordinated.run(&mut connection).await.unwrap();
    assert_eq!(names(&groups), [("old", "Empty", 0), ("new", "Stable", 1)]);
    let member = &groups[1].view.members[0];
    assert_eq!((member.id.as_str(), member.host.as_str()), ("m1", "192.0.2.7"));
    assert_eq!(member.assignments, [Assignment::new("orders", vec![0, 1])]);
    let partitions: Vec<i32> = groups[1].offsets.iter().map(|it| it.at.partition).collect();
    assert_eq!(partitions, [0, 1], "what it is assigned, though it has committed nothing");
}

#[tokio::test]
async fn a_release_without_the_newer_kind_is_asked_for_the_other_alone() {
    let mut connection = connect(CLASSIC, coordinator).await;
    let groups = Coordinated.run(&mut connection).await.unwrap();
    assert_eq!(names(&groups), [("old", "Empty", 0)]);
}

#[tokio::test]
async fn one_group_is_found_whatever_its_kind() {
    for (speaks, name, expected) in [
        (ALL, "new", Some("Stable")),
        (ALL, "old", Some("Empty")),
        (ALL, "absent", None),
        (CLASSIC, "old", Some("Empty")),
        (CLASSIC, "absent", None),
    ] {
        let mut connection = connect(speaks, coordinator).await;
        let found = OneGroup { name }.run(&mut connection).await.unwrap();
        assert_eq!(found.as_ref().map(|it| it.view.state.as_str()), expected, "{name}");
    }
}
