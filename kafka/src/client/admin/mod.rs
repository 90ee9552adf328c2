//! One file a call.

pub mod acls;
pub mod change_topic;
pub mod cluster;
pub mod configs;
pub mod copy;
pub mod delete_topic;
pub mod elections;
pub mod list_topics;
pub mod log_dirs;
pub mod produce;
pub mod quorum;
pub mod replication;
pub mod scram;
pub mod topics;
