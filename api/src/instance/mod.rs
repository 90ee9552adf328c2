//! The Instance API: one endpoint a file, served by both listeners.

pub mod ca;
pub mod cluster;
pub mod details;
