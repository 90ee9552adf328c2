//! A consumer that joins a real group, gets two partitions, and leaves: with
//! Kafka's classic protocol, by hand.

use async_trait::async_trait;
use bytes::{BufMut, BytesMut};
use kafka::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerProtocolAssignment, GroupId, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    SyncGroupRequest, TopicName,
};
use kafka_protocol::protocol::{Encodable, StrBytes};

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn check(call: &'static str, code: i16) -> Result<(), Error> {
    let Some(code) = ResponseError::try_from_code(code) else { return Ok(()) };
    Err(Error::Kafka { call, subject: "the group".into(), code, message: String::new() })
}

/// The member's id.
pub struct Join<'a> {
    pub group: &'a str,
    pub topic: &'a str,
}

impl Join<'_> {
    async fn join(
        &self,
        connection: &mut Connection,
        member: &StrBytes,
    ) -> Result<JoinGroupResponse, Error> {
        let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
        let request = JoinGroupRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_session_timeout_ms(30_000)
            .with_rebalance_timeout_ms(30_000)
            .with_member_id(member.clone())
            .with_protocol_type(text("consumer"))
            .with_protocols(vec![protocol]);
        connection.call(&request).await
    }
}

#[async_trait]
impl Call for Join<'_> {
    type Answer = String;

    async fn run(&self, connection: &mut Connection) -> Result<String, Error> {
        let mut joined = self.join(connection, &text("")).await?;
        if joined.error_code == ResponseError::MemberIdRequired.code() {
            joined = self.join(connection, &joined.member_id).await?;
        }
        check("JoinGroup", joined.error_code)?;
        let assigned = TopicPartition::default()
            .with_topic(TopicName(text(self.topic)))
            .with_partitions(vec![1, 0]);
        let mut bytes = BytesMut::new();
        bytes.put_i16(0);
        ConsumerProtocolAssignment::default()
            .with_assigned_partitions(vec![assigned])
            .encode(&mut bytes, 0)
            .unwrap();
        let assignment = SyncGroupRequestAssignment::default()
            .with_member_id(joined.member_id.clone())
            .with_assignment(bytes.freeze());
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_generation_id(joined.generation_id)
            .with_member_id(joined.member_id.clone())
            .with_protocol_type(Some(text("consumer")))
            .with_protocol_name(Some(text("range")))
            .with_assignments(vec![assignment]);
        check("SyncGroup", connection.call(&request).await?.error_code)?;
        Ok(joined.member_id.to_string())
    }
}

pub struct Leave<'a> {
    pub group: &'a str,
    pub member: &'a str,
}

#[async_trait]
impl Call for Leave<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let member = MemberIdentity::default().with_member_id(text(self.member));
        let request = LeaveGroupRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_members(vec![member]);
        check("LeaveGroup", connection.call(&request).await?.error_code)
    }
}
