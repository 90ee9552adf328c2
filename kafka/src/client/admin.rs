//! One file a call.

pub mod acls;
pub mod change_topic;
pub mod client_quotas;
pub mod cluster;
pub mod commit_offsets;
pub mod configs;
pub mod copy;
pub mod delete_groups;
pub mod delete_topic;
pub mod describe_consumer_groups;
pub mod describe_groups;
pub mod elections;
pub mod fetch;
pub mod fetch_offsets;
pub mod find_coordinator;
pub mod init_producer;
pub mod list_groups;
pub mod list_offsets;
pub mod list_topics;
pub mod log_dirs;
pub mod own_words;
pub mod placement_parts;
pub mod produce;
pub mod quorum;
pub mod raft_voters;
pub mod reassignments;
pub mod replication;
pub mod routes;
pub mod scram;
pub mod topic_partitions;
pub mod topics;
pub mod unregister;
pub mod write;

use kafka_protocol::messages::{GroupId, TopicName};
use kafka_protocol::protocol::StrBytes;

fn topic_name(name: &str) -> TopicName {
    TopicName(text(name))
}

fn group_id(name: &str) -> GroupId {
    GroupId(text(name))
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
