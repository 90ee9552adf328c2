//! The Instance API: one noun a file, served by both listeners.

pub mod acls;
pub mod alarms;
pub mod ca;
pub mod cluster;
pub mod config;
pub mod details;
pub mod groups;
pub mod integrations;
pub mod messages;
pub mod metrics;
pub mod nodes;
pub mod quotas;
pub mod recipients;
pub mod topics;
pub mod users;
