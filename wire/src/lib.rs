//! The bodies that travel: both APIs' and the agent protocol's.
//!
//! Types here only carry; they decide nothing.

pub mod account;
pub mod actions;
pub mod agent;
pub mod alarms;
pub mod apikeys;
pub mod billing;
pub mod ca;
pub mod customer;
pub mod groups;
pub mod instance;
pub mod integrations;
pub mod messages;
pub mod metrics;
pub mod nodes;
pub mod quotas;
pub mod sessions;
pub mod settings;
pub mod team;
pub mod topics;
pub mod users;
