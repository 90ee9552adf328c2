//! Groups of the newer kind and their members: ConsumerGroupDescribe, asked of
//! the coordinator.

use super::describe_groups::host;
use super::group_id;
use crate::client::error::check;
use crate::client::groups::{Assignment, GroupView, Member};
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::ConsumerGroupDescribeRequest;
use kafka_protocol::messages::consumer_group_describe_response::{
    DescribedGroup, Member as Described,
};

/// Those of the groups that are there and of that kind. A broker that does not
/// speak of them has none.
pub struct DescribeConsumerGroups<'a> {
    pub groups: Vec<&'a str>,
}

impl Call for DescribeConsumerGroups<'_> {
    type Answer = Vec<GroupView>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<GroupView>, Error> {
        if connection.version_of::<ConsumerGroupDescribeRequest>().is_err() {
            return Ok(Vec::new());
        }
        let groups = self.groups.iter().map(|name| group_id(name)).collect();
        let request = ConsumerGroupDescribeRequest::default().with_group_ids(groups);
        let answer = connection.call(&request).await?;
        let mut views = Vec::with_capacity(answer.groups.len());
        for group in &answer.groups {
            if is_elsewhere(group.error_code) {
                continue;
            }
            let message = group.error_message.as_ref();
            check("ConsumerGroupDescribe", &group.group_id.0, group.error_code, message)?;
            views.push(view(group));
        }
        Ok(views)
    }
}

/// Not there, of another kind, or a kind that is switched off.
fn is_elsewhere(code: i16) -> bool {
    [ResponseError::GroupIdNotFound, ResponseError::UnsupportedVersion]
        .iter()
        .any(|absent| absent.code() == code)
}

fn view(group: &DescribedGroup) -> GroupView {
    GroupView {
        name: group.group_id.0.to_string(),
        state: group.group_state.to_string(),
        protocol_type: "consumer".to_owned(),
        members: group.members.iter().map(member).collect(),
    }
}

fn member(member: &Described) -> Member {
    let assigned = member.assignment.topic_partitions.iter();
    let mut assignments: Vec<_> = assigned
        .map(|it| Assignment::new(it.topic_name.0.as_str(), it.partitions.clone()))
        .collect();
    assignments.sort();
    Member {
        id: member.member_id.to_string(),
        client_id: member.client_id.to_string(),
        host: host(&member.client_host),
        assignments,
    }
}
