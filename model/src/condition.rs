//! Why an instance is as it is, as data: the engine decides by it, the store keeps it,
//! and people read the words that `words.rs` makes of it.
//!
//! Nothing compares, splits or searches those words. Texts in a reason are shown and never
//! decide: two conditions are alike by server, kind of reason and objections. Only `step` and
//! `what` tell them apart as well, because they name what a reason is about. A journal has an
//! entry for each new text.

mod first_few;
mod moving;
mod note;
mod objection;
mod words;

pub use first_few::FirstFew;
pub use moving::{Joining, MoveObstacle, Moving, Voting};
pub use note::Note;
pub use objection::{MissingReply, Objection, Place};
pub use words::{message, status, status_without_logs};

use crate::{InstanceId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that holds of an instance, or of one of its servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// The number of the server it is about; none: the instance as a whole.
    #[serde(default)]
    pub server: Option<u32>,
    /// Since when it holds; none until it is written down.
    #[serde(default)]
    pub since: Option<Timestamp>,
    pub reason: Reason,
}

/// What holds. Which server and since when is in the [`Condition`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Every server that shall run does, as it should.
    Running,
    /// As asked for: the instance, or one of its servers.
    Stopped,
    Paused,
    Deleting,
    TakingOver,
    /// The engine has not looked at it yet.
    Created,
    /// The engine has not looked at it since the control plane was started.
    ControlPlaneStarted,
    RestartCancelled,
    /// Every server is asked to stop; of one server, with why its agent may not stop it yet.
    ClusterStopping {
        refused: Option<String>,
    },

    ToStart,
    ToStop,
    ToStopOnceStarted,
    ToRestart,
    Preparing {
        detail: String,
    },
    AfterControllers,
    /// `start` counts the starts once one has failed, and `log` says why it did.
    Starting {
        start: Option<u32>,
        log: Vec<String>,
    },
    Loading {
        loading: Loading,
    },
    BrokerStopping,
    /// The broker does not run though it should.
    BrokerDown,
    /// The broker does not stay up; `log` are the lines that tell of trouble.
    Failing {
        detail: String,
        log: Vec<String>,
    },
    /// The disk is lost, somebody else's or full: a person has to mend that.
    Held {
        fault: String,
    },
    /// The agent has not reported since the server or the control plane was started.
    NotReportedYet,
    /// The agent has not been heard of since then.
    Unreachable,
    /// The broker has not answered its own agent since then.
    Unresponsive {
        instance: InstanceId,
        name: String,
        answers_us: bool,
    },
    /// In a phase that only a later release knows.
    UnknownPhase,
    /// Producers are slowed down for this server's disk.
    DiskNearlyFull,

    /// No broker says how the cluster is.
    Unseen {
        error: String,
    },
    /// Nobody is restarted before this is over. `or_stop` lags and is to be restarted; once
    /// that is cancelled it can be stopped and started instead.
    CatchingUp {
        objections: FirstFew<Objection>,
        or_stop: Option<u32>,
    },
    /// The server's turn has not come. `stopped` are those that could be started to help.
    Blocked {
        doing: Doing,
        stopped: Vec<u32>,
        objections: FirstFew<Objection>,
    },
    /// The server's turn has come.
    Next {
        doing: Doing,
    },
    /// The server may stop; `refused` is why its agent was not let do so yet.
    Leaving {
        doing: Doing,
        unresponsive: bool,
        refused: Option<String>,
    },
    /// The server gets the leaders back that it handed to others, a few at a time.
    LeadersReturning,
    LeadersPending {
        error: String,
    },
    /// The server was added and has come up; its cluster has not taken it in yet.
    Joining {
        waits_for: Joining,
    },
    /// The server was added so many minutes ago and has not come up.
    JoinOverdue {
        minutes: u32,
    },
    /// The server is empty, and is stopped and removed.
    Removing,
    /// No controller is given a vote, or loses its, before this is over.
    VotesPending {
        waits_for: Voting,
    },
    Moving {
        moving: Moving,
    },
    /// Replicas have to move and can't.
    MoveBlocked {
        obstacles: FirstFew<MoveObstacle>,
    },
    /// The cloud is not done.
    CloudPending {
        what: String,
    },
    /// A step failed, and is tried again after so many seconds, or waits for an operator.
    StepFailed {
        step: String,
        error: String,
        retry_after: Option<u64>,
    },

    /// Written by a release that kept a sentence alone.
    Sentence {
        text: String,
    },
}

/// What a server is let stop for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    Stopping,
    Restarting,
}

/// How far a broker that starts is with the logs on its disk, in Kafka's own counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Loading {
    pub done: u32,
    pub of: u32,
    /// The last end was not an orderly one: every log is gone through.
    #[serde(default)]
    pub recovers: bool,
}

/// What programs tell conditions apart by; there are more reasons than kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionKind {
    Running,
    /// As asked for: the instance as a whole, or one server.
    Stopped,
    Paused,
    Deleting,
    /// For something that is over by itself.
    Waiting,
    Starting,
    Stopping,
    Restarting,
    /// What was asked for waits until the other servers can do without this one.
    Blocked,
    /// A broker does not run though it should.
    Down,
    /// A broker does not stay up.
    Failing,
    /// A server waits for a person to mend its disk.
    Held,
    Unreachable,
    Unresponsive,
    DiskNearlyFull,
    /// The engine could not do something.
    Failed,
    /// Of a later release, or of one that kept a sentence alone.
    #[serde(other)]
    Unknown,
}

impl ConditionKind {
    /// Whether something is under way that needs no person.
    pub fn goes_on(self) -> bool {
        use ConditionKind::{Blocked, Restarting, Starting, Stopping, Waiting};
        matches!(self, Waiting | Starting | Stopping | Restarting | Blocked)
    }
}

impl fmt::Display for ConditionKind {
    /// As in JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl From<Reason> for Condition {
    /// Of the instance as a whole.
    fn from(reason: Reason) -> Self {
        Self { server: None, since: None, reason }
    }
}

impl Reason {
    /// Of one server, by its number.
    pub fn of(self, server: u32) -> Condition {
        Condition { server: Some(server), since: None, reason: self }
    }

    pub fn kind(&self) -> ConditionKind {
        match self {
            Self::Running => ConditionKind::Running,
            Self::Stopped => ConditionKind::Stopped,
            Self::Paused => ConditionKind::Paused,
            Self::Deleting => ConditionKind::Deleting,
            Self::TakingOver
            | Self::Created
            | Self::ControlPlaneStarted
            | Self::RestartCancelled
            | Self::UnknownPhase
            | Self::Unseen { .. }
            | Self::LeadersReturning
            | Self::LeadersPending { .. }
            | Self::Moving { .. }
            | Self::CloudPending { .. } => ConditionKind::Waiting,
            Self::ToStart
            | Self::Preparing { .. }
            | Self::AfterControllers
            | Self::Starting { .. }
            | Self::Loading { .. }
            | Self::NotReportedYet
            | Self::Joining { .. } => ConditionKind::Starting,
            Self::ClusterStopping { .. }
            | Self::ToStop
            | Self::ToStopOnceStarted
            | Self::BrokerStopping
            | Self::Removing => ConditionKind::Stopping,
            Self::ToRestart => ConditionKind::Restarting,
            Self::Next { doing } | Self::Leaving { doing, .. } => match doing {
                Doing::Stopping => ConditionKind::Stopping,
                Doing::Restarting => ConditionKind::Restarting,
            },
            Self::CatchingUp { .. }
            | Self::Blocked { .. }
            | Self::JoinOverdue { .. }
            | Self::VotesPending { .. }
            | Self::MoveBlocked { .. } => ConditionKind::Blocked,
            Self::BrokerDown => ConditionKind::Down,
            Self::Failing { .. } => ConditionKind::Failing,
            Self::Held { .. } => ConditionKind::Held,
            Self::Unreachable => ConditionKind::Unreachable,
            Self::Unresponsive { .. } => ConditionKind::Unresponsive,
            Self::DiskNearlyFull => ConditionKind::DiskNearlyFull,
            Self::StepFailed { .. } => ConditionKind::Failed,
            Self::Sentence { .. } => ConditionKind::Unknown,
        }
    }

    /// The same without numbers of what is done or left, which change all the time.
    fn without_counts(&self) -> Self {
        let mut same = self.clone();
        match &mut same {
            Self::Loading { loading } => (loading.done, loading.of) = (0, 0),
            Self::CatchingUp { objections, .. } | Self::Blocked { objections, .. } => {
                objections.more = objections.more.min(1);
                objections.first.iter_mut().for_each(Objection::drop_counts);
            }
            Self::Moving { moving } => *moving = Moving::default(),
            Self::JoinOverdue { minutes } => *minutes = 0,
            Self::VotesPending { waits_for } => waits_for.drop_counts(),
            Self::MoveBlocked { obstacles } => moving::drop_counts(obstacles),
            _ => {}
        }
        same
    }

    /// The same also without texts that say more of it: they change while the matter stays.
    fn without_details(&self) -> Self {
        let mut same = self.without_counts();
        match &mut same {
            Self::CatchingUp { objections, .. } | Self::Blocked { objections, .. } => {
                objections.first.iter_mut().for_each(Objection::drop_texts);
            }
            Self::Starting { start, log } => {
                *start = None;
                log.clear();
            }
            Self::Failing { detail, log } => {
                detail.clear();
                log.clear();
            }
            Self::ClusterStopping { refused } | Self::Leaving { refused, .. } => *refused = None,
            Self::StepFailed { error, retry_after, .. } => {
                error.clear();
                *retry_after = None;
            }
            Self::Preparing { detail: text }
            | Self::Held { fault: text }
            | Self::Unseen { error: text }
            | Self::LeadersPending { error: text }
            | Self::Sentence { text } => text.clear(),
            _ => {}
        }
        same
    }
}

impl Condition {
    /// Whether both are about the same thing, whatever is done or left of it or said about it.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_same_kind = self.server == other.server
            && std::mem::discriminant(&self.reason) == std::mem::discriminant(&other.reason);
        is_same_kind && self.reason.without_details() == other.reason.without_details()
    }

    /// Whether both say the same but for numbers of what is done or left, since whenever.
    fn differs_in_counts_alone(&self, other: &Self) -> bool {
        self.server == other.server && self.reason.without_counts() == other.reason.without_counts()
    }

    /// Whether both say the same, since whenever.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.server == other.server && self.reason == other.reason
    }

    /// The same without lines of a broker's log, for places that others read, too.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        if let Reason::Starting { log, .. } | Reason::Failing { log, .. } = &mut self.reason {
            log.clear();
        }
        self
    }
}

/// New conditions with the time since when they hold: that of one that is like it and
/// held before, and now otherwise.
pub fn since_when(new: Vec<Condition>, before: &[Condition], now: Timestamp) -> Vec<Condition> {
    let since = |condition: &Condition| {
        let known = before.iter().find(|it| it.is_like(condition));
        condition.since.or_else(|| known.and_then(|it| it.since)).unwrap_or(now)
    };
    let dated = |condition: Condition| Condition { since: Some(since(&condition)), ..condition };
    new.into_iter().map(dated).collect()
}
