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
}

/// One element of `GET …/actions`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    pub id: i64,
    /// `create`, `cluster-restart`, `configure`, `cluster-stop`, `cluster-start`,
    /// `restart`, `stop` or `start`.
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
    pub steps: Vec<Step>,
}

/// Something that was done or waited for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub at: Timestamp,
    pub text: String,
}
