//! Bodies of `/api/instances/<ID>/actions`: what was asked of an instance's
//! servers, and how it goes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST …/actions/restart`, `reboot`, `stop`, `start`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Nodes {
    /// Names of servers; all of them if there is no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,
}

/// The answer to whatever asks for an action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    pub message: String,
    /// The action's id; null if everything is so already.
    pub action: Option<i64>,
    /// What the call would do; only where `dry_run` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<PlannedChange>,
}

/// What a call would do to servers and replicas.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PlannedChange {
    /// Names of servers that would be added.
    pub joining: Vec<String>,
    /// Names of servers that would be removed.
    pub leaving: Vec<String>,
    /// Names of servers whose brokers would be restarted, one at a time.
    pub restarting: Vec<String>,
    /// GB of each server afterwards.
    pub disk_size: u32,
    /// Bytes that would be copied between servers.
    pub bytes: u64,
    /// Partitions whose replicas would change, or their order.
    pub partitions: usize,
    /// The first thousand of these.
    pub moves: Vec<PlannedMove>,
    /// Partitions that would be led by their first replica again.
    pub leaders: usize,
    /// Topics that would keep one replica, for want of room on the disks.
    pub not_raised: Vec<String>,
}

/// New replicas of one partition, in order: the first is the preferred leader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlannedMove {
    pub topic: String,
    pub partition: i32,
    /// Names of servers.
    pub from: Vec<String>,
    pub to: Vec<String>,
    /// Of it, what would be copied.
    pub bytes: u64,
}

/// How far replicas have moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    pub bytes_done: u64,
    pub bytes_left: u64,
    /// Over the recent past; null until enough was seen.
    pub bytes_per_second: Option<u64>,
    /// When everything will be in its place; null while nothing can be foretold.
    pub ready_at: Option<Timestamp>,
}

/// One element of `GET …/actions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    pub id: i64,
    /// `create`, `cluster-restart`, `configure`, `cluster-stop`, `cluster-start`,
    /// `restart`, `stop`, `start`, `resize`, `rebalance`, `change-plan` or `resize-disk`.
    pub kind: String,
    /// The names of the servers it is about.
    pub servers: Vec<String>,
    /// An e-mail.
    pub asked_by: String,
    /// As in the audit log.
    pub source: String,
    pub asked_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `running`, `cancelling`, `cancelled`, `superseded` or `done`.
    pub state: String,
    /// What it waits for now, or how it ended, in a sentence.
    pub status: String,
}

/// `GET …/actions/<id>`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActionDetails {
    #[serde(flatten)]
    pub action: Action,
    /// How far replicas have moved, or had when it ended; null where none move, or before the
    /// first has.
    #[serde(default)]
    pub progress: Option<Progress>,
    pub steps: Vec<Step>,
}

/// Something that was done or waited for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub at: Timestamp,
    pub text: String,
}
