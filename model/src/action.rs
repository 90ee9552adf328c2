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
    /// More servers, or fewer.
    Resize,
    /// The same servers, more evenly used.
    Rebalance,
    /// Another plan, with as many servers.
    ChangePlan,
    /// Larger disks.
    ResizeDisk,
}

impl ActionKind {
    pub const ALL: [Self; 12] = [
        Self::Create,
        Self::ClusterRestart,
        Self::Configure,
        Self::ClusterStop,
        Self::ClusterStart,
        Self::Restart,
        Self::Stop,
        Self::Start,
        Self::Resize,
        Self::Rebalance,
        Self::ChangePlan,
        Self::ResizeDisk,
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
            Self::Resize => "resize",
            Self::Rebalance => "rebalance",
            Self::ChangePlan => "change-plan",
            Self::ResizeDisk => "resize-disk",
        }
    }

    /// Whether it has brokers started anew, one after another.
    pub fn restarts(self) -> bool {
        matches!(self, Self::ClusterRestart | Self::Configure | Self::Restart | Self::ChangePlan)
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
    /// The later action that replaced it before it was carried out.
    pub superseded_by: Option<ActionId>,
}

/// How an action stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionState {
    Running,
    /// Cancelled, but what was begun is brought to its end.
    Cancelling,
    Cancelled,
    /// Replaced by a later action, which undoes it.
    Superseded,
    Done,
}

impl Action {
    pub fn state(&self) -> ActionState {
        match (self.cancelled_at, self.ended_at) {
            (None, None) => ActionState::Running,
            (Some(_), None) => ActionState::Cancelling,
            (Some(_), Some(_)) => ActionState::Cancelled,
            (None, Some(_)) if self.superseded_by.is_some() => ActionState::Superseded,
            (None, Some(_)) => ActionState::Done,
        }
    }

    /// Whether it is about the server with this number.
    pub fn is_about(&self, number: u32) -> bool {
        self.servers.is_empty() || self.servers.contains(&number)
    }

    /// What was asked for, in words such as "start of server 2".
    pub fn title(&self) -> String {
        let whole = match self.kind {
            ActionKind::Create => "create",
            ActionKind::ClusterRestart => "restart of the cluster",
            ActionKind::Configure => "change of settings",
            ActionKind::ClusterStop => "stop of the cluster",
            ActionKind::ClusterStart => "start of the cluster",
            ActionKind::Resize => "change of the number of servers",
            ActionKind::Rebalance => "rebalance",
            ActionKind::ChangePlan => "change of plan",
            ActionKind::ResizeDisk => "change of disks",
            ActionKind::Restart | ActionKind::Stop | ActionKind::Start => {
                return format!("{} of {}", self.kind, servers_in_words(&self.servers));
            }
        };
        whole.into()
    }
}

/// Servers by their numbers, as people call them.
fn servers_in_words(numbers: &[u32]) -> String {
    match numbers {
        [] => "every server".into(),
        [one] => format!("server {one}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("servers {} and {last}", first.join(", "))
        }
    }
}

impl ActionState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn action(kind: ActionKind, servers: &[u32]) -> Action {
        Action {
            id: ActionId(7),
            instance_id: InstanceId(1),
            kind,
            servers: servers.to_vec(),
            asked_by: "ada@example.test".into(),
            source: "cli".into(),
            asked_at: Timestamp::UNIX_EPOCH,
            generation: 2,
            cancelled_at: None,
            ended_at: None,
            superseded_by: None,
        }
    }

    #[test]
    fn what_was_superseded_is_never_done() {
        let now = Some(Timestamp::UNIX_EPOCH);
        let check = |superseded: bool, cancelled_at, ended_at, expected: &str| {
            let superseded_by = superseded.then_some(ActionId(8));
            let action = action(ActionKind::Stop, &[1, 2]);
            let action = Action { cancelled_at, ended_at, superseded_by, ..action };
            assert_eq!(action.state().as_str(), expected);
        };
        check(false, None, None, "running");
        check(false, None, now, "done");
        check(true, None, None, "running");
        check(true, None, now, "superseded");
        check(true, now, None, "cancelling");
        check(true, now, now, "cancelled");
    }

    #[test]
    fn an_action_is_called_by_what_it_is_about() {
        let check = |kind, servers: &[u32], expected: &str| {
            assert_eq!(action(kind, servers).title(), expected);
        };
        check(ActionKind::Start, &[2], "start of server 2");
        check(ActionKind::Restart, &[1, 3], "restart of servers 1 and 3");
        check(ActionKind::Stop, &[1, 2, 4], "stop of servers 1, 2 and 4");
        check(ActionKind::ClusterStop, &[], "stop of the cluster");
    }
}
