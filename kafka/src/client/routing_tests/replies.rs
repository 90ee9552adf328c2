//! What three brokers answer, of which each leads one partition of a topic and two
//! coordinate a group. Whoever is asked for what is another's says so.

pub mod groups;

use super::brokers::{IDS, PORT, SPEAKS, host};
use crate::client::fake::{Asked, Reply, answer, speaks};
use bytes::{Bytes, BytesMut};
use groups::{
    classic_groups, commit, coordinator, delete_groups, fetch_offsets, list_groups, newer_groups,
};
use indexmap::IndexMap;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::{
    ApiKey, BrokerId, ConsumerGroupDescribeRequest, DeleteGroupsRequest, DescribeGroupsRequest,
    DescribeLogDirsRequest, DescribeLogDirsResponse, FetchRequest, FetchResponse,
    FindCoordinatorRequest, ListGroupsRequest, ListOffsetsRequest, ListOffsetsResponse,
    MetadataRequest, MetadataResponse, OffsetCommitRequest, OffsetFetchRequest, ProduceRequest,
    ProduceResponse, TopicName,
};
use kafka_protocol::messages::{
    describe_log_dirs_response as log_dirs, fetch_response as fetched,
    list_offsets_response as offsets, metadata_response as known, produce_response as produced,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use kafka_protocol::records::{
    Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

pub fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

pub fn correct_reply(broker: i32, asked: &Asked) -> Reply {
    reply_with_code(broker, asked, 0)
}

/// The same with this error code, where a good answer has none.
pub fn reply_with_code(broker: i32, asked: &Asked, code: i16) -> Reply {
    macro_rules! answers {
        ($($key:ident: $request:ident => $make:ident,)*) => {
            match ApiKey::try_from(asked.key).unwrap() {
                ApiKey::ApiVersions => speaks(asked, SPEAKS),
                $(ApiKey::$key => {
                    let body = &mut asked.body.clone();
                    let request = $request::decode(body, asked.version).unwrap();
                    answer::<$request>(asked, &$make(broker, &request, code))
                })*
                key => panic!("say what an answer to {key:?} is"),
            }
        };
    }
    answers! {
        ConsumerGroupDescribe: ConsumerGroupDescribeRequest => newer_groups,
        DeleteGroups: DeleteGroupsRequest => delete_groups,
        DescribeGroups: DescribeGroupsRequest => classic_groups,
        DescribeLogDirs: DescribeLogDirsRequest => directories,
        Fetch: FetchRequest => fetch,
        FindCoordinator: FindCoordinatorRequest => coordinator,
        ListGroups: ListGroupsRequest => list_groups,
        ListOffsets: ListOffsetsRequest => list_offsets,
        Metadata: MetadataRequest => metadata,
        OffsetCommit: OffsetCommitRequest => commit,
        OffsetFetch: OffsetFetchRequest => fetch_offsets,
        Produce: ProduceRequest => produce,
    }
}

/// The code, unless somebody else leads the partition.
fn code_of_leader(broker: i32, partition: i32, code: i16) -> i16 {
    let leads = partition == broker - 1;
    if leads { code } else { ResponseError::NotLeaderOrFollower.code() }
}

fn directories(_: i32, _: &DescribeLogDirsRequest, code: i16) -> DescribeLogDirsResponse {
    let copy = log_dirs::DescribeLogDirsPartition::default().with_partition_size(100);
    let topic = log_dirs::DescribeLogDirsTopic::default()
        .with_name(TopicName(text("orders")))
        .with_partitions(vec![copy]);
    let directory = log_dirs::DescribeLogDirsResult::default()
        .with_error_code(code)
        .with_log_dir(text("/data"))
        .with_topics(vec![topic]);
    DescribeLogDirsResponse::default().with_results(vec![directory])
}

/// Two messages, whatever was asked for.
pub fn fetch(broker: i32, request: &FetchRequest, code: i16) -> FetchResponse {
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            fetched::PartitionData::default()
                .with_partition_index(asked.partition)
                .with_error_code(code_of_leader(broker, asked.partition, code))
                .with_high_watermark(2)
                .with_records(Some(batch()))
        });
        fetched::FetchableTopicResponse::default()
            .with_topic(topic.topic.clone())
            .with_partitions(partitions.collect())
    });
    FetchResponse::default().with_responses(topics.collect())
}

fn batch() -> Bytes {
    let record = |offset: i32| Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: 0,
        producer_id: -1,
        producer_epoch: -1,
        timestamp_type: TimestampType::Creation,
        offset: offset.into(),
        sequence: offset,
        timestamp: 1_000,
        key: None,
        value: Some(Bytes::from_static(b"v")),
        headers: IndexMap::default(),
    };
    let records = [record(0), record(1)];
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    let mut bytes = BytesMut::new();
    RecordBatchEncoder::encode(&mut bytes, &records, &options).unwrap();
    bytes.freeze()
}

pub fn list_offsets(broker: i32, request: &ListOffsetsRequest, code: i16) -> ListOffsetsResponse {
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let offset = match asked.timestamp {
                -2 => 0,
                -1 => 2,
                _ => 1,
            };
            offsets::ListOffsetsPartitionResponse::default()
                .with_partition_index(asked.partition_index)
                .with_error_code(code_of_leader(broker, asked.partition_index, code))
                .with_offset(offset)
        });
        offsets::ListOffsetsTopicResponse::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    ListOffsetsResponse::default().with_topics(topics.collect())
}

/// All three live, and each leads one partition of whatever topic was asked for.
pub fn metadata(_: i32, request: &MetadataRequest, code: i16) -> MetadataResponse {
    let brokers = IDS.map(|id| {
        known::MetadataResponseBroker::default()
            .with_node_id(BrokerId(id))
            .with_host(StrBytes::from_string(host(id)))
            .with_port(PORT.into())
    });
    let partitions = IDS.map(|id| {
        known::MetadataResponsePartition::default()
            .with_partition_index(id - 1)
            .with_leader_id(BrokerId(id))
            .with_replica_nodes(vec![BrokerId(id)])
            .with_isr_nodes(vec![BrokerId(id)])
    });
    let asked = request.topics.iter().flatten();
    let topics = asked.map(|topic| {
        known::MetadataResponseTopic::default()
            .with_name(topic.name.clone())
            .with_error_code(code)
            .with_partitions(partitions.to_vec())
    });
    MetadataResponse::default().with_brokers(brokers.to_vec()).with_topics(topics.collect())
}

pub fn produce(broker: i32, request: &ProduceRequest, code: i16) -> ProduceResponse {
    let topics = request.topic_data.iter().map(|topic| {
        let partitions = topic.partition_data.iter().map(|asked| {
            let code = code_of_leader(broker, asked.index, code);
            produced::PartitionProduceResponse::default()
                .with_index(asked.index)
                .with_error_code(code)
                .with_base_offset(if code == 0 { 2 } else { -1 })
        });
        produced::TopicProduceResponse::default()
            .with_name(topic.name.clone())
            .with_partition_responses(partitions.collect())
    });
    ProduceResponse::default().with_responses(topics.collect())
}
