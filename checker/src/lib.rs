//! Writes uniquely numbered records through real clients, reads back what every
//! replica kept, and judges one by the other.
//!
//! Three parts that know each other by data alone: a [`Load`] makes a
//! [`History`] of what clients were told, [`read_back`] makes [`Logs`] of what
//! brokers have, and [`judge`] compares the two without any I/O. What the
//! history does not say was acknowledged is never held against a cluster.
//!
//! Beside that, [`ask_admin_client`] asks a cluster through Kafka's own admin client.

mod access;
mod ask;
mod connect;
mod history;
mod jar;
mod judge;
mod load;
mod logs;
mod read_back;
mod record;
mod report;
mod topic;

pub use access::{Access, Auth, PropertiesError};
pub use ask::{AskError, Question, ask_admin_client};
pub use history::{Client, Event, History, HistoryError, Kind, Mode, Progress, Run};
pub use judge::judge;
pub use load::{Load, LoadError, LoadSpec};
pub use logs::{Entry, Logs, Marked, ReplicaLog};
pub use read_back::read_back;
pub use record::{RecordId, Text};
pub use report::{ClientReport, Finding, Findings, Report, Times, Wrong};
pub use topic::{TopicSpec, make_topic, remove_topic};
