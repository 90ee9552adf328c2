//! What was asked of an instance, and how it goes: its journal.

use crate::{ActionId, InstanceId, Timestamp};
use std::fmt;
use std::str::FromStr;

/// What can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActionKind {
    Create,
    /// Of every server: one at a time, without losing a write.
    ClusterRestart,
    /// The same, because of settings that brokers read at their start.
    Configure,
    ClusterStop,
    ClusterStart,
    /// Of single servers.
    Restart,
    Stop,
    Start,
}

impl ActionKind {
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::ClusterRestart,
        Self::Configure,
        Self::ClusterStop,
        Self::ClusterStart,
        Self::Restart,
        Self::Stop,
        Self::Start,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::ClusterRestart => "cluster-restart",
            Self::Configure => "configure",
            Self::ClusterStop => "cluster-stop",
            Self::ClusterStart => "cluster-start",
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::Start => "start",
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is no action this Castellan knows")]
pub struct UnknownAction;

impl FromStr for ActionKind {
    type Err = UnknownAction;

    fn from_str(text: &str) -> Result<Self, UnknownAction> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(UnknownAction)
    }
}

/// An action's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    pub id: ActionId,
    pub instance_id: InstanceId,
    pub kind: ActionKind,
    /// The numbers of the servers it is about; none: all of them.
    pub servers: Vec<u32>,
    /// An e-mail.
    pub asked_by: String,
    /// As in the audit log.
    pub source: String,
    pub asked_at: Timestamp,
    /// The intent that it raised; it ends once servers have reached that.
    pub generation: i64,
    pub cancelled_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// How an action stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionState {
    Running,
    /// Cancelled, but what was begun is brought to its end.
    Cancelling,
    Cancelled,
    Done,
}

impl Action {
    pub fn state(&self) -> ActionState {
        match (self.cancelled_at, self.ended_at) {
            (None, None) => ActionState::Running,
            (Some(_), None) => ActionState::Cancelling,
            (Some(_), Some(_)) => ActionState::Cancelled,
            (None, Some(_)) => ActionState::Done,
        }
    }
}

impl ActionState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Done => "done",
        }
    }
}

/// Something that was done or waited for, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActionStep {
    pub at: Timestamp,
    pub text: String,
}
