//! Every request about groups, quotas and messages as it is sent, and what
//! becomes of answers that are wrong.

use super::client_quotas::{AlterQuota, DescribeQuotas};
use super::commit_offsets::CommitOffsets;
use super::delete_groups::DeleteGroup;
use super::describe_consumer_groups::DescribeConsumerGroups;
use super::describe_groups::DescribeGroups;
use super::fetch::Fetch;
use super::fetch_offsets::FetchOffsets;
use super::find_coordinator::FindCoordinator;
use super::list_groups::ListGroups;
use super::list_offsets::{At, ListOffsets};
use super::routes::FindRoutes;
use super::write::Write;
use crate::client::fake::{Asked, Reply, connect};
use crate::client::messages::NewMessage;
use crate::client::quotas::{Name, QuotaEntity, QuotaKey};
use crate::client::{Call, Connection, Endpoint, Error, TopicPartition};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, ApiKey, ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse, DeleteGroupsRequest, DeleteGroupsResponse,
    DescribeClientQuotasRequest, DescribeClientQuotasResponse, DescribeGroupsRequest,
    DescribeGroupsResponse, FetchRequest, FetchResponse, FindCoordinatorRequest,
    FindCoordinatorResponse, GroupId, ListGroupsRequest, ListGroupsResponse, ListOffsetsRequest,
    ListOffsetsResponse, MetadataRequest, MetadataResponse, OffsetCommitRequest,
    OffsetCommitResponse, OffsetFetchRequest, OffsetFetchResponse, ProduceRequest, ProduceResponse,
    ResponseHeader, alter_client_quotas_response, describe_groups_response, fetch_response,
    find_coordinator_response, list_groups_response, offset_fetch_response,
};
use kafka_protocol::protocol::{Encodable, HeaderVersion, Request, StrBytes};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

/// As the newest release announces them.
const CALLS: &[(ApiKey, i16, i16)] = &[
    (ApiKey::Metadata, 0, 13),
    (ApiKey::FindCoordinator, 0, 6),
    (ApiKey::ListGroups, 0, 5),
    (ApiKey::DescribeGroups, 0, 6),
    (ApiKey::ConsumerGroupDescribe, 0, 1),
    (ApiKey::OffsetFetch, 1, 10),
    (ApiKey::OffsetCommit, 2, 10),
    (ApiKey::DeleteGroups, 0, 2),
    (ApiKey::ListOffsets, 1, 11),
    (ApiKey::Fetch, 4, 18),
    (ApiKey::Produce, 3, 13),
    (ApiKey::DescribeClientQuotas, 0, 1),
    (ApiKey::AlterClientQuotas, 0, 1),
];

/// One call, whatever it answers.
#[async_trait::async_trait]
trait Any: Send + Sync {
    async fn try_on(&self, connection: &mut Connection) -> Result<(), Error>;
}

#[async_trait::async_trait]
impl<C: Call> Any for C {
    async fn try_on(&self, connection: &mut Connection) -> Result<(), Error> {
        self.run(connection).await.map(drop)
    }
}

/// Runs a test's body on every call.
async fn on_every_call(run: impl AsyncFn(&str, &dyn Any)) {
    let topics = ["orders".to_owned()];
    let at = TopicPartition::new("orders", 1);
    let offsets = BTreeMap::from([(at.clone(), 42)]);
    let entity = QuotaEntity { user: Some(Name::Of("ada".into())), client_id: Some(Name::Default) };
    let changes = BTreeMap::from([
        (QuotaKey::ProducerByteRate, Some(1024.0)),
        (QuotaKey::RequestPercentage, None),
    ]);
    let message = NewMessage {
        key: Some(Bytes::from_static(b"k")),
        value: Some(Bytes::from_static(b"v")),
        headers: vec![("h".into(), None)],
        partition: None,
    };
    let batches = BTreeMap::from([(1, vec![&message, &message])]);
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    let partitions = || vec![&at];
    run("Metadata", &FindRoutes { topics: &topics }).await;
    run("FindCoordinator", &FindCoordinator { group: "billing" }).await;
    run("ListGroups", &ListGroups).await;
    run("DescribeGroups", &DescribeGroups { groups: vec!["billing"] }).await;
    run("ConsumerGroupDescribe", &DescribeConsumerGroups { groups: vec!["billing"] }).await;
    run("OffsetFetch", &FetchOffsets { groups: vec!["billing"] }).await;
    run("OffsetCommit", &CommitOffsets { group: "billing", offsets: &offsets }).await;
    run("DeleteGroups", &DeleteGroup { group: "billing" }).await;
    run("ListOffsets", &ListOffsets { partitions: partitions(), at: At::LatestStable }).await;
    run("Fetch", &Fetch { topic: "orders", from: vec![(1, 42)] }).await;
    run("Produce", &Write { topic: "orders", batches, at: now }).await;
    run("DescribeClientQuotas", &DescribeQuotas).await;
    run("AlterClientQuotas", &AlterQuota { entity: &entity, changes: &changes }).await;
}

fn shown<R: Request + Debug>(asked: &Asked) -> String {
    let request = R::decode(&mut asked.body.clone(), asked.version).unwrap();
    format!("version {}\n{request:#?}", asked.version)
}

fn decoded(asked: &Asked) -> String {
    match ApiKey::try_from(asked.key).unwrap() {
        ApiKey::Metadata => shown::<MetadataRequest>(asked),
        ApiKey::FindCoordinator => shown::<FindCoordinatorRequest>(asked),
        ApiKey::ListGroups => shown::<ListGroupsRequest>(asked),
        ApiKey::DescribeGroups => shown::<DescribeGroupsRequest>(asked),
        ApiKey::ConsumerGroupDescribe => shown::<ConsumerGroupDescribeRequest>(asked),
        ApiKey::OffsetFetch => shown::<OffsetFetchRequest>(asked),
        ApiKey::OffsetCommit => shown::<OffsetCommitRequest>(asked),
        ApiKey::DeleteGroups => shown::<DeleteGroupsRequest>(asked),
        ApiKey::ListOffsets => shown::<ListOffsetsRequest>(asked),
        ApiKey::Fetch => shown::<FetchRequest>(asked),
        ApiKey::Produce => shown::<ProduceRequest>(asked),
        ApiKey::DescribeClientQuotas => shown::<DescribeClientQuotasRequest>(asked),
        ApiKey::AlterClientQuotas => shown::<AlterClientQuotasRequest>(asked),
        other => panic!("{other:?} is not one of these"),
    }
}

#[tokio::test]
async fn every_request_as_it_is_sent() {
    let all = Mutex::new(String::new());
    on_every_call(async |name, call| {
        let sent = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&sent);
        let mut connection = connect(CALLS, move |asked| {
            *seen.lock().unwrap() = decoded(asked);
            Reply::HangUp
        })
        .await;
        call.try_on(&mut connection).await.unwrap_err();
        let sent = sent.lock().unwrap().clone();
        write!(all.lock().unwrap(), "{name} {sent}\n\n").unwrap();
    })
    .await;
    insta::assert_snapshot!("requests", all.into_inner().unwrap());
}

/// An answer with something in every list, as far as that is easily said.
fn answer(asked: &Asked) -> Vec<u8> {
    fn whole<R: Request>(asked: &Asked, response: &R::Response) -> Vec<u8> {
        let mut body = BytesMut::new();
        ResponseHeader::default()
            .with_correlation_id(asked.correlation)
            .encode(&mut body, R::Response::header_version(asked.version))
            .unwrap();
        response.encode(&mut body, asked.version).unwrap();
        body.to_vec()
    }
    let text = StrBytes::from_static_str;
    match ApiKey::try_from(asked.key).unwrap() {
        ApiKey::FindCoordinator => {
            let found = find_coordinator_response::Coordinator::default()
                .with_key(text("billing"))
                .with_host(text("b1"))
                .with_port(9091);
            let response = FindCoordinatorResponse::default().with_coordinators(vec![found]);
            whole::<FindCoordinatorRequest>(asked, &response)
        }
        ApiKey::ListGroups => {
            let group = list_groups_response::ListedGroup::default()
                .with_group_id(GroupId(text("billing")));
            let response = ListGroupsResponse::default().with_groups(vec![group]);
            whole::<ListGroupsRequest>(asked, &response)
        }
        ApiKey::DescribeGroups => {
            let member = describe_groups_response::DescribedGroupMember::default()
                .with_member_assignment(Bytes::from_static(b"\0\0\0\0\0\x01\0\x01t\0\0\0\0"));
            let group = describe_groups_response::DescribedGroup::default()
                .with_protocol_type(text("consumer"))
                .with_members(vec![member]);
            let response = DescribeGroupsResponse::default().with_groups(vec![group]);
            whole::<DescribeGroupsRequest>(asked, &response)
        }
        ApiKey::OffsetFetch => {
            let partition = offset_fetch_response::OffsetFetchResponsePartitions::default();
            let topic = offset_fetch_response::OffsetFetchResponseTopics::default()
                .with_partitions(vec![partition]);
            let group =
                offset_fetch_response::OffsetFetchResponseGroup::default().with_topics(vec![topic]);
            let response = OffsetFetchResponse::default().with_groups(vec![group]);
            whole::<OffsetFetchRequest>(asked, &response)
        }
        ApiKey::Fetch => {
            let partition = fetch_response::PartitionData::default()
                .with_records(Some(Bytes::from_static(&[0; 80])));
            let topic =
                fetch_response::FetchableTopicResponse::default().with_partitions(vec![partition]);
            whole::<FetchRequest>(asked, &FetchResponse::default().with_responses(vec![topic]))
        }
        ApiKey::Metadata => whole::<MetadataRequest>(asked, &MetadataResponse::default()),
        ApiKey::ConsumerGroupDescribe => {
            whole::<ConsumerGroupDescribeRequest>(asked, &ConsumerGroupDescribeResponse::default())
        }
        ApiKey::OffsetCommit => {
            whole::<OffsetCommitRequest>(asked, &OffsetCommitResponse::default())
        }
        ApiKey::DeleteGroups => {
            whole::<DeleteGroupsRequest>(asked, &DeleteGroupsResponse::default())
        }
        ApiKey::ListOffsets => whole::<ListOffsetsRequest>(asked, &ListOffsetsResponse::default()),
        ApiKey::Produce => whole::<ProduceRequest>(asked, &ProduceResponse::default()),
        ApiKey::DescribeClientQuotas => {
            whole::<DescribeClientQuotasRequest>(asked, &DescribeClientQuotasResponse::default())
        }
        // A refusal, because what was taken is looked for until it shows.
        _ => {
            let entry = alter_client_quotas_response::EntryData::default().with_error_code(42);
            let response = AlterClientQuotasResponse::default().with_entries(vec![entry]);
            whole::<AlterClientQuotasRequest>(asked, &response)
        }
    }
}

fn framed(length: usize, body: &[u8]) -> Reply {
    let mut frame = i32::try_from(length).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    Reply::Frame(frame)
}

/// Runs every call against answers that were made worse like this, until there is
/// nothing left to make worse.
async fn made_worse(worse: fn(&[u8], usize) -> Option<Reply>) {
    on_every_call(async |name, call| {
        for step in 0.. {
            let over = Arc::new(Mutex::new(false));
            let seen = Arc::clone(&over);
            let mut connection = connect(CALLS, move |asked| {
                worse(&answer(asked), step).unwrap_or_else(|| {
                    *seen.lock().unwrap() = true;
                    Reply::HangUp
                })
            })
            .await;
            // That it returns at all, and does not panic, is what counts.
            let done = tokio::time::timeout(connection.limits().call, call.try_on(&mut connection));
            assert!(done.await.is_ok(), "{name} hangs at {step}");
            if *over.lock().unwrap() {
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn answers_that_are_cut_off_are_errors() {
    made_worse(|body, step| {
        let end = body.len().checked_sub(step + 1).filter(|end| *end >= 4)?;
        Some(framed(end, &body[..end]))
    })
    .await;
}

#[tokio::test]
async fn answers_that_announce_too_much_are_not_read() {
    let too_much = |error: Error| matches!(error, Error::Oversize { .. });
    on_every_call(async |name, call| {
        let mut connection =
            connect(CALLS, |_| Reply::Frame(i32::MAX.to_be_bytes().to_vec())).await;
        assert!(too_much(call.try_on(&mut connection).await.unwrap_err()), "{name}");
        assert_eq!(connection.endpoint(), &Endpoint::new("b1", 9091));
    })
    .await;
}
