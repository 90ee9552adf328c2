//! A large cluster of simulated brokers, which tell of it as real ones do: page by page, and
//! each of its own disk. Every answer is put into bytes once.

use super::Scale;
use crate::resources::brokers::{Asked, Reply, encode, speaks};
use anyhow::{Result, bail};
use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult,
};
use kafka_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use kafka_protocol::messages::describe_quorum_response::{PartitionData, ReplicaState, TopicData};
use kafka_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::{
    ApiKey, BrokerId, DescribeClusterResponse, DescribeConfigsRequest, DescribeConfigsResponse,
    DescribeLogDirsResponse, DescribeQuorumResponse, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, ListPartitionReassignmentsResponse, TopicName,
};
use kafka_protocol::protocol::{Decodable, StrBytes};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub const BROKERS: i32 = 7;
/// The broker that is asked, the call and its body.
type Question = (i32, i16, Vec<u8>);

const REPLICAS: usize = 3;
const DISK: i64 = 1_000_000_000_000_000;
/// The size of the largest partition.
const LARGEST: u64 = 20_000_000_000;
/// Kafka's number for the source of a value that was not set.
const DEFAULT: i8 = 5;
const TOPIC: i8 = 2;
const MIN_IN_SYNC: &str = "min.insync.replicas";
const CALLS: [(ApiKey, i16); 6] = [
    (ApiKey::DescribeCluster, 2),
    (ApiKey::DescribeConfigs, 4),
    (ApiKey::DescribeLogDirs, 4),
    (ApiKey::DescribeQuorum, 2),
    (ApiKey::DescribeTopicPartitions, 0),
    (ApiKey::ListPartitionReassignments, 0),
];

/// Partitions by topic and number.
pub struct Large {
    partitions: Vec<Placed>,
}

struct Placed {
    topic: StrBytes,
    index: i32,
    replicas: Vec<i32>,
    bytes: u64,
}

impl Large {
    /// Three replicas of each partition on the first of the brokers. Few topics are large.
    pub fn new(scale: Scale, brokers: i32) -> Self {
        let mut dice = Dice(7);
        let mut partitions = Vec::new();
        let mut left = u64::from(scale.replicas) / REPLICAS as u64;
        for topic in 0..scale.topics {
            let name = StrBytes::from_string(format!("topic-{topic:05}"));
            let most = LARGEST >> dice.below(12) >> dice.below(3);
            let number = (left / u64::from(scale.topics - topic)).max(1);
            left = left.saturating_sub(number);
            for index in (0..).take(usize::try_from(number).unwrap_or_default()) {
                let replicas = dice.some((1..=brokers).collect(), REPLICAS);
                let bytes = most / 2 + dice.below(most / 2 + 1);
                partitions.push(Placed { topic: name.clone(), index, replicas, bytes });
            }
        }
        Self { partitions }
    }

    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    pub fn reply(self) -> Reply {
        let known: Mutex<HashMap<Question, Vec<u8>>> = Mutex::default();
        Arc::new(move |asked| {
            let question = (asked.node, asked.key, asked.body.clone());
            let mut known = known.lock().expect("no thread panics while holding it");
            if let Some(answer) = known.get(&question) {
                return Ok(answer.clone());
            }
            let answer = self.answer(asked)?;
            Ok(known.entry(question).or_insert(answer).clone())
        })
    }

    fn answer(&self, asked: &Asked) -> Result<Vec<u8>> {
        let is = |key: ApiKey| asked.key == key as i16;
        if is(ApiKey::ApiVersions) {
            encode(asked, &speaks(&CALLS))
        } else if is(ApiKey::DescribeCluster) {
            encode(asked, &cluster())
        } else if is(ApiKey::DescribeQuorum) {
            encode(asked, &quorum())
        } else if is(ApiKey::ListPartitionReassignments) {
            encode(asked, &ListPartitionReassignmentsResponse::default())
        } else if is(ApiKey::DescribeConfigs) {
            encode(asked, &settings(asked)?)
        } else if is(ApiKey::DescribeLogDirs) {
            encode(asked, &self.disk(asked.node))
        } else if is(ApiKey::DescribeTopicPartitions) {
            encode(asked, &self.page(asked)?)
        } else {
            bail!("no simulated broker knows the call {}", asked.key)
        }
    }

    fn page(&self, asked: &Asked) -> Result<DescribeTopicPartitionsResponse> {
        let request =
            DescribeTopicPartitionsRequest::decode(&mut asked.body.as_slice(), asked.version)?;
        let from = request.cursor.map_or(0, |cursor| {
            let at = |it: &Placed| {
                (it.topic.as_str(), it.index) < (cursor.topic_name.as_str(), cursor.partition_index)
            };
            self.partitions.partition_point(at)
        });
        let to = from + usize::try_from(request.response_partition_limit)?;
        let to = to.min(self.partitions.len());
        let topics = self.partitions[from..to].chunk_by(|a, b| a.topic == b.topic);
        let topics = topics.map(|partitions| {
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(TopicName(partitions[0].topic.clone())))
                .with_partitions(partitions.iter().map(described).collect())
        });
        let next = self.partitions.get(to).map(|next| {
            let name = TopicName(next.topic.clone());
            Cursor::default().with_topic_name(name).with_partition_index(next.index)
        });
        let response = DescribeTopicPartitionsResponse::default();
        Ok(response.with_topics(topics.collect()).with_next_cursor(next))
    }

    fn disk(&self, node: i32) -> DescribeLogDirsResponse {
        let here: Vec<&Placed> =
            self.partitions.iter().filter(|it| it.replicas.contains(&node)).collect();
        let log = |it: &&Placed| {
            DescribeLogDirsPartition::default()
                .with_partition_index(it.index)
                .with_partition_size(i64::try_from(it.bytes).unwrap_or(i64::MAX))
        };
        let topics = here.chunk_by(|a, b| a.topic == b.topic).map(|logs| {
            DescribeLogDirsTopic::default()
                .with_name(TopicName(logs[0].topic.clone()))
                .with_partitions(logs.iter().map(log).collect())
        });
        let used: u64 = here.iter().map(|it| it.bytes).sum();
        let directory = DescribeLogDirsResult::default()
            .with_log_dir(StrBytes::from_static_str("/disk/data"))
            .with_total_bytes(DISK)
            .with_usable_bytes(DISK.saturating_sub_unsigned(used))
            .with_topics(topics.collect());
        DescribeLogDirsResponse::default().with_results(vec![directory])
    }
}

fn described(it: &Placed) -> DescribeTopicPartitionsResponsePartition {
    let nodes: Vec<BrokerId> = it.replicas.iter().copied().map(BrokerId).collect();
    DescribeTopicPartitionsResponsePartition::default()
        .with_partition_index(it.index)
        .with_leader_id(nodes[0])
        .with_replica_nodes(nodes.clone())
        .with_isr_nodes(nodes)
        .with_eligible_leader_replicas(Some(vec![]))
}

fn cluster() -> DescribeClusterResponse {
    let broker = |node| {
        DescribeClusterBroker::default()
            .with_broker_id(BrokerId(node))
            .with_host(StrBytes::from_static_str("127.0.0.1"))
            .with_port(1)
    };
    DescribeClusterResponse::default()
        .with_cluster_id(StrBytes::from_static_str("large"))
        .with_brokers((1..=BROKERS).map(broker).collect())
}

fn quorum() -> DescribeQuorumResponse {
    let voter = |node| ReplicaState::default().with_replica_id(BrokerId(node));
    let log = PartitionData::default()
        .with_leader_id(BrokerId(1))
        .with_current_voters((1..=3).map(voter).collect());
    let topic = TopicData::default().with_partitions(vec![log]);
    DescribeQuorumResponse::default().with_topics(vec![topic])
}

/// Nothing is set for any of them.
fn settings(asked: &Asked) -> Result<DescribeConfigsResponse> {
    let request = DescribeConfigsRequest::decode(&mut asked.body.as_slice(), asked.version)?;
    let setting = |name: StrBytes| {
        let value = if name.as_str() == MIN_IN_SYNC { "2" } else { "" };
        DescribeConfigsResourceResult::default()
            .with_name(name)
            .with_value(Some(StrBytes::from_static_str(value)))
            .with_config_source(DEFAULT)
    };
    let results = request.resources.into_iter().map(|of| {
        let names = of.configuration_keys.unwrap_or_default().into_iter();
        let is_known = |name: &StrBytes| of.resource_type == TOPIC || name.as_str() != MIN_IN_SYNC;
        DescribeConfigsResult::default()
            .with_resource_type(of.resource_type)
            .with_resource_name(of.resource_name)
            .with_configs(names.filter(is_known).map(setting).collect())
    });
    Ok(DescribeConfigsResponse::default().with_results(results.collect()))
}

/// The same chances in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    fn some(&mut self, mut of: Vec<i32>, number: usize) -> Vec<i32> {
        let mut one = || {
            let at = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
            of.swap_remove(at)
        };
        (0..number).map(|_| one()).collect()
    }
}
