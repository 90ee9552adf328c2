//! The one place where conditions, objections and notes become words for people.

mod moving;

use super::{Condition, Doing, FirstFew, Loading, MissingReply, Note, Objection, Reason};
use crate::Timestamp;
use std::fmt;

/// What one condition says.
pub fn message(condition: &Condition) -> String {
    let Condition { server, since, reason } = condition;
    let Some(number) = server else { return of_instance(reason) };
    of_server(&format!("server {number}"), *since, reason)
}

/// What all conditions of an instance say together.
pub fn status(conditions: &[Condition]) -> String {
    let slowed = slowed(conditions);
    if conditions.iter().any(|it| it.server.is_none() && it.reason == Reason::Running) {
        return running(conditions, slowed);
    }
    let is_joined = |it: &&Condition| is_stopping(it) || it.reason == Reason::DiskNearlyFull;
    let alone = conditions.iter().filter(|it| !is_joined(it)).map(message);
    alone.chain(stopping(conditions)).chain(slowed).collect::<Vec<_>>().join("; ")
}

/// The same without lines of brokers' logs, for places that others read, too.
pub fn status_without_logs(conditions: &[Condition]) -> String {
    let short = |condition: &Condition| match condition.reason {
        // Nobody knows where in it a log begins.
        Reason::Sentence { .. } => Reason::Created.into(),
        _ => condition.clone().without_log(),
    };
    status(&conditions.iter().map(short).collect::<Vec<_>>())
}

fn running(conditions: &[Condition], slowed: Option<String>) -> String {
    let stopped = conditions.iter().filter(|it| it.reason == Reason::Stopped);
    let stopped: Vec<String> =
        stopped.filter_map(|it| it.server).map(|number| format!("server {number}")).collect();
    let running = of_instance(&Reason::Running);
    let text = match &stopped[..] {
        [] => running,
        some => format!("{running}, but for {}, stopped as asked", some.join(" and ")),
    };
    match slowed {
        Some(why) => format!("{text}, but {why}"),
        None => text,
    }
}

/// Why producers are slowed down, if they are.
fn slowed(conditions: &[Condition]) -> Option<String> {
    let full = conditions.iter().filter(|it| it.reason == Reason::DiskNearlyFull);
    let full: Vec<String> = full
        .filter_map(|it| it.server)
        .map(|number| format!("the disk of server {number}"))
        .collect();
    let all = full.join(" and ");
    (!full.is_empty()).then(|| format!("producers are slowed down: {all} is nearly full"))
}

fn is_stopping(condition: &Condition) -> bool {
    condition.server.is_some() && matches!(condition.reason, Reason::ClusterStopping { .. })
}

/// Servers that stop together, in one sentence.
fn stopping(conditions: &[Condition]) -> Option<String> {
    let each: Vec<String> = conditions.iter().filter_map(cluster_stopping).collect();
    (!each.is_empty()).then(|| format!("waiting: {}", each.join(", ")))
}

fn cluster_stopping(condition: &Condition) -> Option<String> {
    let (Some(number), Reason::ClusterStopping { refused }) = (condition.server, &condition.reason)
    else {
        return None;
    };
    Some(match refused {
        Some(why) => format!("server {number} has no leave to stop yet: {why}"),
        None => format!("server {number} is stopping"),
    })
}

fn of_instance(reason: &Reason) -> String {
    match reason {
        Reason::Running => "running".into(),
        Reason::Stopped => "stopped".into(),
        Reason::Paused => "paused by the operator".into(),
        Reason::Deleting => "being deleted".into(),
        Reason::TakingOver => "being taken over".into(),
        Reason::Created => "waiting for the engine".into(),
        Reason::ControlPlaneStarted => {
            "waiting: the control plane has just started and looks at the servers".into()
        }
        Reason::RestartCancelled => {
            "waiting: a restart was cancelled, and the servers are looked at".into()
        }
        Reason::ClusterStopping { .. } => "waiting: every server is stopping".into(),
        Reason::Unseen { error } => {
            format!("waiting: no broker tells how the cluster is: {error}")
        }
        Reason::CatchingUp { objections, or_stop } => catching_up(objections, *or_stop),
        Reason::LeadersPending { error } => {
            format!("waiting: leaders can't be given back yet: {error}")
        }
        Reason::VotesPending { waits_for } => {
            format!("waiting before controllers change: {waits_for}")
        }
        Reason::Moving { moving } => format!("waiting: {moving}"),
        Reason::MoveBlocked { obstacles } => {
            format!("waiting before replicas move: {obstacles}")
        }
        Reason::CloudPending { what } => format!("waiting: {what}"),
        Reason::StepFailed { step, error, retry_after } => failed(step, error, *retry_after),
        Reason::Sentence { text } => text.clone(),
        // These are about one server each.
        other => of_server("a server", None, other),
    }
}

fn of_server(title: &str, since: Option<Timestamp>, reason: &Reason) -> String {
    match reason {
        Reason::Stopped => format!("{title} is stopped as asked"),
        Reason::ClusterStopping { refused: None } => format!("waiting: {title} is stopping"),
        Reason::ClusterStopping { refused: Some(why) } => {
            format!("waiting: {title} has no leave to stop yet: {why}")
        }
        Reason::ToStart => format!("waiting: {title} is to start"),
        Reason::ToStop => format!("waiting: {title} is to stop"),
        Reason::ToStopOnceStarted => format!("waiting: {title} stops once it has started"),
        Reason::ToRestart => format!("waiting: {title} is to be restarted"),
        Reason::Preparing { detail } if detail.is_empty() => {
            format!("waiting: {title} is preparing")
        }
        Reason::Preparing { detail } => format!("waiting: {title}: {detail}"),
        Reason::AfterControllers => format!("waiting: {title} starts after the controllers"),
        Reason::Starting { start, log } => starting(title, *start, log),
        Reason::Loading { loading } => format!("waiting: {title}: {loading}"),
        Reason::BrokerStopping => format!("waiting: the broker of {title} is stopping"),
        Reason::BrokerDown => format!("the broker of {title} is stopped"),
        Reason::Failing { detail, log } => {
            format!("{title} does not stay up: {detail}{}", lines("; its log says: ", log))
        }
        Reason::Held { fault } => format!("{title} is held: {fault}"),
        Reason::NotReportedYet => format!("waiting: the agent of {title} has not reported yet"),
        Reason::Unreachable => {
            format!("the agent of {title} has not reported since {}", time(since))
        }
        Reason::Unresponsive { instance, name, answers_us } => {
            let known = format!("{title} has not answered its own agent since {}", time(since));
            if *answers_us {
                return format!("{known}, but answers the control plane");
            }
            // What its agent asks for is its metrics, so clients may well be served.
            format!(
                "{known}; if clients get no answer either, restart it with actions/restart \
                 (castellan instance restart {instance} --server {name})"
            )
        }
        Reason::UnknownPhase => {
            format!("waiting: {title} is in a state that a newer Castellan knows")
        }
        Reason::DiskNearlyFull => {
            format!("producers are slowed down: the disk of {title} is nearly full")
        }
        Reason::Blocked { doing, stopped, objections } => {
            format!("waiting before {doing} {title}: {}", blocked(stopped, objections))
        }
        Reason::Next { doing } => format!("{doing} {title} is next"),
        Reason::Leaving { doing, refused: Some(why), .. } => {
            format!("waiting: {doing} {title}, which has no leave to stop yet: {why}")
        }
        Reason::Leaving { doing, unresponsive: true, .. } => {
            format!("waiting: {doing} {title}, which does not answer")
        }
        Reason::Leaving { doing, .. } => format!("waiting: {doing} {title}"),
        Reason::Joining { waits_for } => {
            format!("waiting: {title} joins the cluster: {waits_for}")
        }
        Reason::JoinOverdue { minutes } => format!(
            "{title} has not joined the cluster within {minutes} minutes; cancel the change to \
             take it away again"
        ),
        Reason::Removing => format!("waiting: {title} is being removed"),
        Reason::LeadersReturning => format!("waiting: {title} gets its leaders back"),
        // These say whom they are about.
        Reason::Running
        | Reason::Paused
        | Reason::Deleting
        | Reason::TakingOver
        | Reason::Created
        | Reason::ControlPlaneStarted
        | Reason::RestartCancelled
        | Reason::Unseen { .. }
        | Reason::CatchingUp { .. }
        | Reason::LeadersPending { .. }
        | Reason::VotesPending { .. }
        | Reason::Moving { .. }
        | Reason::MoveBlocked { .. }
        | Reason::CloudPending { .. }
        | Reason::StepFailed { .. }
        | Reason::Sentence { .. } => of_instance(reason),
    }
}

fn starting(title: &str, start: Option<u32>, log: &[String]) -> String {
    let count = start.map(|start| format!(" (start {start})")).unwrap_or_default();
    let said = lines("; before, its log said: ", log);
    format!("waiting: the broker of {title} is starting{count}{said}")
}

fn lines(before: &str, log: &[String]) -> String {
    if log.is_empty() { String::new() } else { format!("{before}{}", log.join(" | ")) }
}

fn time(at: Option<Timestamp>) -> String {
    at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default()
}

fn failed(step: &str, error: &str, retry_after: Option<u64>) -> String {
    match retry_after {
        Some(seconds) => format!("failed to {step}: {error}; trying again in {seconds} s"),
        None => format!("failed to {step}: {error}; it needs an operator"),
    }
}

fn catching_up(objections: &FirstFew<Objection>, or_stop: Option<u32>) -> String {
    let way_out = or_stop.map_or_else(String::new, |number| {
        format!("; to stop and start server {number} instead, cancel this first")
    });
    format!("waiting: {objections}{way_out}")
}

/// Servers that were stopped as asked come first: starting them may resolve the rest.
fn blocked(stopped: &[u32], objections: &FirstFew<Objection>) -> String {
    let sentence = |number: &u32| {
        format!(
            "server {number} is stopped as asked; cancel this action, or start its servers again, \
             and then start server {number}"
        )
    };
    let mut reasons: Vec<String> = stopped.iter().map(sentence).collect();
    reasons.push(objections.to_string());
    reasons.join("; ")
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopping => "stopping",
            Self::Restarting => "restarting",
        })
    }
}

impl fmt::Display for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, of, recovers } = self;
        let what = if *recovers { "recovering its logs after a crash" } else { "loading its logs" };
        write!(f, "the broker is {what}: {done} of {of} done")
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReplicationKnown => f.write_str("no broker tells of its partitions"),
            Self::NoActiveController => f.write_str("no controller is active"),
            Self::QuorumLost { left, all, needed } => write!(
                f,
                "{left} of {all} controllers would be left with all metadata, {needed} are needed"
            ),
            Self::OwnReplicaLagging { partition } => {
                write!(f, "its replica of {partition} is not in sync")
            }
            Self::TooFewInSync { partition, left, needed } => write!(
                f,
                "partition {partition} would have {left} of the {needed} replicas in sync that \
                 it needs"
            ),
            Self::ReplicaLagging { partition, in_sync, replicas, place } => write!(
                f,
                "{partition} has {in_sync} of {replicas} replicas in sync, the one on {place} lags"
            ),
            Self::Unresponsive { server, remedy } => {
                write!(f, "server {server} does not answer")?;
                remedy.as_ref().map_or(Ok(()), |remedy| write!(f, "{remedy}"))
            }
            Self::ControllerLagging { server } => {
                write!(f, "the controller of server {server} lags")
            }
            Self::LookFailed { error } => write!(f, "no broker tells how the cluster is: {error}"),
            Self::Gone => f.write_str("the server is gone"),
            Self::Down { server } => write!(f, "server {server} is down"),
        }
    }
}

impl fmt::Display for MissingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restart => f.write_str("; restart that server with actions/restart"),
            Self::CancelAndRestart => f.write_str(
                "; cancel this action, or start its servers again, and then restart that server \
                 with actions/restart",
            ),
            Self::Missed { objections } => {
                write!(f, ", and the others can't do without it: {objections}")
            }
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conditions { conditions } => f.write_str(&status(conditions)),
            Self::MayStop { server, comes_back, unavoidable } => {
                may_stop(f, *server, *comes_back, unavoidable)
            }
            Self::TakesNoWrites { partitions } => write!(
                f,
                "these partitions demand every replica they have, and take no writes while a \
                 server of theirs restarts: {partitions}"
            ),
            Self::CancelledBy { email } => write!(f, "cancelled by {email}"),
            Self::NotRaised { topics } => write!(
                f,
                "these topics keep one replica, because the disks have no room for more: {topics}"
            ),
            Self::MinIsrLowered { topics } => write!(
                f,
                "these topics have fewer replicas, so their own min.insync.replicas was lowered; \
                 it stays so when servers are added again: {topics}"
            ),
            Self::MinIsrLow { topics } => write!(
                f,
                "these topics have more replicas now, and their own min.insync.replicas of 1 \
                 still takes writes that one server alone has; give them a higher one if that is \
                 not meant: {topics}"
            ),
            Self::RanOnAfterRestore => {
                f.write_str("taken back: an earlier store was restored while the servers ran")
            }
        }
    }
}

fn may_stop(
    f: &mut fmt::Formatter<'_>,
    server: Option<u32>,
    comes_back: bool,
    unavoidable: &FirstFew<String>,
) -> fmt::Result {
    match (server, comes_back) {
        (None, _) => f.write_str("may stop now: every server, because the cluster is stopped")?,
        (Some(number), true) => write!(f, "may stop now: server {number}, to be started anew")?,
        (Some(number), false) => {
            write!(f, "may stop now: server {number}, because it was asked for")?;
        }
    }
    if unavoidable.is_empty() {
        return Ok(());
    }
    write!(f, "; these demand every replica they have and take no writes meanwhile: {unavoidable}")
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
