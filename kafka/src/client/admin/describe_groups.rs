//! Classic groups and their members: DescribeGroups, asked of the coordinator.

use super::group_id;
use crate::client::error::check;
use crate::client::groups::{Assignment, GroupView, Member};
use crate::client::{Call, Connection, Error};
use bytes::{Buf, Bytes, TryGetError};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::DescribeGroupsRequest;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};

/// What members of this type of group are assigned are partitions.
const CONSUMER: &str = "consumer";
/// How releases before 4.0 tell of a group that is not there.
const DEAD: &str = "Dead";

/// Those of the groups that are there.
pub struct DescribeGroups<'a> {
    pub groups: Vec<&'a str>,
}

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
pub(super) fn host(address: &str) -> String {
    address.trim_start_matches('/').to_owned()
}

/// A version, and topics with their partitions. Any client may send anything as
/// its assignment, so nothing is reserved for what it announces, and what can't
/// be read is no assignment.
fn assignments(bytes: &Bytes) -> Vec<Assignment> {
    let mut bytes = bytes.clone();
    let mut all = read(&mut bytes).unwrap_or_default();
    all.sort();
    all
}

fn read(bytes: &mut Bytes) -> Result<Vec<Assignment>, TryGetError> {
    bytes.try_get_i16()?;
    let mut all = Vec::new();
    for _ in 0..bytes.try_get_i32()? {
        let length = usize::try_from(bytes.try_get_i16()?).unwrap_or_default();
        if length > bytes.len() {
            return Err(TryGetError { requested: length, available: bytes.len() });
        }
        let topic = String::from_utf8_lossy(&bytes.split_to(length)).into_owned();
        let mut partitions = Vec::new();
        for _ in 0..bytes.try_get_i32()? {
            partitions.push(bytes.try_get_i32()?);
        }
        all.push(Assignment::new(topic, partitions));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{BufMut, BytesMut};
    use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
    use kafka_protocol::messages::{ConsumerProtocolAssignment, TopicName};
    use kafka_protocol::protocol::{Encodable, StrBytes};

    fn encoded() -> Bytes {
        let topic = |name: &'static str, partitions: &[i32]| {
            TopicPartition::default()
                .with_topic(TopicName(StrBytes::from_static_str(name)))
                .with_partitions(partitions.to_vec())
        };
        let mut bytes = BytesMut::new();
        bytes.put_i16(3);
        ConsumerProtocolAssignment::default()
            .with_assigned_partitions(vec![topic("orders", &[2, 0]), topic("bills", &[1])])
            .with_user_data(Some(Bytes::from_static(b"anything")))
            .encode(&mut bytes, 3)
            .unwrap();
        bytes.freeze()
    }

    #[test]
    fn assignments_are_read_by_topic_and_number() {
        let expected = [Assignment::new("bills", vec![1]), Assignment::new("orders", vec![0, 2])];
        assert_eq!(assignments(&encoded()), expected);
        assert_eq!(assignments(&Bytes::new()), []);
    }

    #[test]
    fn what_a_client_makes_up_costs_nothing() {
        let whole = encoded();
        for end in 0..whole.len() {
            assert!(assignments(&whole.slice(..end)).len() <= 2, "cut at {end}");
        }
        for at in 0..whole.len() {
            for wrong in [0x7f, 0x80, 0xff] {
                let mut bytes = BytesMut::from(&whole[..]);
                bytes[at] = wrong;
                assert!(assignments(&bytes.freeze()).len() <= 2, "{wrong} at {at}");
            }
        }
        assert_eq!(assignments(&Bytes::from_static(b"\0\0\x7f\xff\xff\xff")), []);
    }
}
