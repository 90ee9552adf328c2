//! One file a call.

pub mod acls;
pub mod cluster;
pub mod produce;
pub mod quorum;
pub mod scram;
pub mod topics;
