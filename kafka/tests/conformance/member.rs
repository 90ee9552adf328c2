//! A consumer that joins a real group, gets partitions, and leaves: with Kafka's
//! classic protocol or with the newer one, by hand.

use bytes::{BufMut, BytesMut};
use kafka::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, ConsumerProtocolAssignment,
    GroupId, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, SyncGroupRequest, TopicName,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use std::time::Duration;

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

/// How a member says that it goes.
const GONE: i32 = -1;

/// A member of the newer protocol, which names itself. As a call it leaves.
pub struct Newer<'a> {
    pub group: &'a str,
    pub member: &'a str,
}

impl Newer<'_> {
    fn request(&self, epoch: i32) -> ConsumerGroupHeartbeatRequest {
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_member_id(text(self.member))
            .with_member_epoch(epoch)
            .with_instance_id(None)
            .with_rack_id(None)
            .with_subscribed_topic_names(None)
            .with_subscribed_topic_regex(None)
            .with_server_assignor(None)
            .with_topic_partitions(None)
    }

    async fn beat(
        connection: &mut Connection,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Result<ConsumerGroupHeartbeatResponse, Error> {
        let answer = connection.call(request).await?;
        check("ConsumerGroupHeartbeat", answer.error_code)?;
        Ok(answer)
    }
}

/// It joins, and takes all that the coordinator assigns it.
pub struct JoinNewer<'a> {
    pub newer: Newer<'a>,
    pub topic: &'a str,
}

impl Call for JoinNewer<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let mut request = self
            .newer
            .request(0)
            .with_rebalance_timeout_ms(30_000)
            .with_subscribed_topic_names(Some(vec![TopicName(text(self.topic))]))
            .with_topic_partitions(Some(vec![]));
        loop {
            let answer = Newer::beat(connection, &request).await?;
            request = self.newer.request(answer.member_epoch);
            let assigned = answer.assignment.map(|it| it.topic_partitions).unwrap_or_default();
            if assigned.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
            let owned = assigned.into_iter().map(|it| {
                TopicPartitions::default().with_topic_id(it.topic_id).with_partitions(it.partitions)
            });
            request.topic_partitions = Some(owned.collect());
            return Newer::beat(connection, &request).await.map(drop);
        }
    }
}

impl Call for Newer<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        Newer::beat(connection, &self.request(GONE)).await.map(drop)
    }
}
