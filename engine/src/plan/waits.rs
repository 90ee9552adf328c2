//! Why a cluster does not run yet, or what is wrong with one that does.

use super::{LOOK_AGAIN, LOOK_AT_HEALTHY, Wait};
use crate::world::{ServerView, World};
use model::{Condition, Membership, Reason, SignedDuration};
use wire::agent::{Phase, Report, Run};

/// Lines of a log, in a status.
const LOG_LINES: usize = 3;
/// Three reports of an agent that have not come.
const UNREACHABLE: SignedDuration = SignedDuration::from_secs(30);

/// A new server is up sooner, even if its cloud takes its time.
const LATEST_JOIN: SignedDuration = SignedDuration::from_mins(10);

/// What is to be told while nothing can be done.
pub(super) fn reasons_to_wait(world: &World) -> Wait {
    let servers = each(world);
    let slowed = world.slowed_for().map(|view| Reason::DiskNearlyFull.of(view.server.number));
    if !servers.is_empty() {
        let conditions = servers.into_iter().chain(slowed).collect();
        return Wait { conditions, after: LOOK_AGAIN };
    }
    let stopped = world.members().filter(|view| view.server.wanted.is_stopped());
    let stopped = stopped.map(|view| Reason::Stopped.of(view.server.number));
    let running = std::iter::once(Reason::Running.into());
    let conditions = running.chain(stopped).chain(slowed).collect();
    Wait { conditions, after: LOOK_AT_HEALTHY }
}

/// What is to be told of single servers.
fn each(world: &World) -> Vec<Condition> {
    // What a person may have to mend comes before what mends itself.
    let (failed, others): (Vec<&ServerView>, Vec<_>) =
        world.servers.iter().partition(|view| view.has_failed());
    let condition = |view: &ServerView| {
        let on_its_way = phase(view).map(|reason| reason.of(view.server.number));
        on_its_way.or_else(|| unreachable(world, view)).or_else(|| unresponsive(world, view))
    };
    let each = failed.into_iter().chain(others).filter_map(condition);
    each.chain(world.servers.iter().filter_map(|view| overdue(world, view))).collect()
}

/// A server that was added long ago and is not up.
fn overdue(world: &World, view: &ServerView) -> Option<Condition> {
    let action = world.resize.as_ref().map(|resize| resize.action_id)?;
    let asked = world.actions.iter().find(|it| it.id == action)?.asked_at;
    let is_missing = view.server.membership == Membership::Joining && !view.is_current();
    let is_late = is_missing && world.now.duration_since(asked) >= LATEST_JOIN;
    let minutes = u32::try_from(LATEST_JOIN.as_mins()).unwrap_or_default();
    is_late.then(|| Reason::JoinOverdue { minutes }.of(view.server.number))
}

/// A server whose broker ran as it should when its agent was last heard of.
fn unreachable(world: &World, view: &ServerView) -> Option<Condition> {
    let at = view.server.last_seen.filter(|_| !view.server.wanted.is_stopped())?;
    if world.now.duration_since(at) <= UNREACHABLE {
        return None;
    }
    // After a start agents need a moment to find us, and what they said before it is old.
    let runs = world.now.duration_since(world.started_at);
    if (SignedDuration::ZERO..=UNREACHABLE).contains(&runs) {
        return Some(Reason::NotReportedYet.of(view.server.number));
    }
    Some(Condition { since: Some(at), ..Reason::Unreachable.of(view.server.number) })
}

/// A broker that runs as it should and yet does not answer its agent.
fn unresponsive(world: &World, view: &ServerView) -> Option<Condition> {
    let since = view.unresponsive_since().filter(|_| !view.server.wanted.is_stopped())?;
    let reason = Reason::Unresponsive {
        instance: world.instance.id,
        name: view.server.name.clone(),
        answers_us: !world.is_unresponsive(view),
    };
    Some(Condition { since: Some(since), ..reason.of(view.server.number) })
}

/// How far a server is that does not run as it should.
fn phase(view: &ServerView) -> Option<Reason> {
    if view.server.is_leaving() && view.server.wanted.is_stopped() {
        return Some(Reason::Removing);
    }
    if view.server.wanted.is_stopped() {
        if view.desired.is_some() && view.current_report().is_none() {
            return Some(Reason::NotReportedYet);
        }
        let starts = view.current_report().is_some_and(|report| report.phase == Phase::Starting);
        let reason = if starts { Reason::ToStopOnceStarted } else { Reason::ToStop };
        return (!view.is_stopped()).then_some(reason);
    }
    if view.is_current() {
        return None;
    }
    let Some(report) = view.current_report() else { return Some(Reason::NotReportedYet) };
    let held_back = view.desired.as_ref().is_some_and(|told| told.run == Run::Stopped);
    Some(match report.phase {
        Phase::Failed => failure(report),
        Phase::Running => Reason::ToRestart,
        Phase::Starting => starting(report),
        Phase::Stopping => Reason::BrokerStopping,
        Phase::Stopped if held_back => Reason::AfterControllers,
        Phase::Stopped => Reason::BrokerDown,
        Phase::Preparing => Reason::Preparing { detail: report.detail.clone() },
        Phase::Unknown => Reason::UnknownPhase,
    })
}

fn failure(report: &Report) -> Reason {
    match &report.disk_fault {
        Some(fault) => Reason::Held { fault: fault.clone() },
        None => Reason::Failing { detail: report.detail.clone(), log: troubles(report) },
    }
}

/// The first lines that tell of trouble. The chatter before an end, of a broker
/// that was killed, tells of none, and names what is nobody's business.
fn troubles(report: &Report) -> Vec<String> {
    let is_chatter =
        |line: &&String| [" INFO ", " DEBUG ", " WARN "].iter().any(|word| line.contains(word));
    report.log_tail.iter().filter(|line| !is_chatter(line)).take(LOG_LINES).cloned().collect()
}

fn starting(report: &Report) -> Reason {
    match report.loading {
        // How far it is tells more than why it ended.
        Some(loading) => Reason::Loading { loading },
        // A start after failed ones must not hide why they failed.
        None => Reason::Starting {
            start: (!report.log_tail.is_empty()).then_some(report.restarts + 1),
            log: troubles(report),
        },
    }
}
