//! One file a call.

pub mod acls;
pub mod cluster;
pub mod copy;
pub mod elections;
pub mod log_dirs;
pub mod produce;
pub mod quorum;
pub mod replication;
pub mod scram;
pub mod topics;
