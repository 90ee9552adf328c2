//! Classic groups and their members: DescribeGroups, asked of the coordinator.

use super::group_id;
use crate::client::error::check;
use crate::client::groups::{Assignment, GroupView, Member};
use crate::client::{Call, Connection, Error};
use async_trait::async_trait;
use bytes::{Buf, Bytes};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::{ConsumerProtocolAssignment, DescribeGroupsRequest};
use kafka_protocol::protocol::Decodable;

/// What members of this type of group are assigned are partitions.
const CONSUMER: &str = "consumer";
/// How releases before 4.0 tell of a group that is not there.
const DEAD: &str = "Dead";
/// The layout of an assignment that all later ones begin with.
const ASSIGNMENT: i16 = 0;

/// Those of the groups that are there.
pub struct DescribeGroups<'a> {
    pub groups: Vec<&'a str>,
}

#[async_trait]
impl Call for DescribeGroups<'_> {
    type Answer = Vec<GroupView>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<GroupView>, Error> {
        let groups = self.groups.iter().map(|name| group_id(name)).collect();
        let request = DescribeGroupsRequest::default().with_groups(groups);
        let answer = connection.call(&request).await?;
        let mut views = Vec::with_capacity(answer.groups.len());
        for group in &answer.groups {
            let absent = group.error_code == ResponseError::GroupIdNotFound.code();
            if absent || *group.group_state == *DEAD {
                continue;
            }
            let message = group.error_message.as_ref();
            check("DescribeGroups", &group.group_id.0, group.error_code, message)?;
            views.push(view(group));
        }
        Ok(views)
    }
}

fn view(group: &DescribedGroup) -> GroupView {
    let partitions = *group.protocol_type == *CONSUMER;
    let member = |member: &DescribedGroupMember| Member {
        id: member.member_id.to_string(),
        client_id: member.client_id.to_string(),
        host: host(&member.client_host),
        assignments: if partitions { assignments(&member.member_assignment) } else { vec![] },
    };
    GroupView {
        name: group.group_id.0.to_string(),
        state: group.group_state.to_string(),
        protocol_type: group.protocol_type.to_string(),
        members: group.members.iter().map(member).collect(),
    }
}

/// Kafka writes an address as Java does, with a slash in front.
pub(super) fn host(told: &str) -> String {
    told.trim_start_matches('/').to_owned()
}

/// A version and what it lays out. A client may send anything as its assignment:
/// what can't be read is no assignment.
fn assignments(bytes: &Bytes) -> Vec<Assignment> {
    let mut bytes = bytes.clone();
    if bytes.try_get_i16().is_err() {
        return Vec::new();
    }
    let Ok(assigned) = ConsumerProtocolAssignment::decode(&mut bytes, ASSIGNMENT) else {
        return Vec::new();
    };
    let topic = |it: &kafka_protocol::messages::consumer_protocol_assignment::TopicPartition| {
        Assignment::new(it.topic.0.as_str(), it.partitions.clone())
    };
    let mut all: Vec<_> = assigned.assigned_partitions.iter().map(topic).collect();
    all.sort();
    all
}
