//! Why a cluster does not run yet, in words for people.

use super::{LOOK_AGAIN, LOOK_AT_HEALTHY, PAUSED, RUNNING, STOPPED, Wait};
use crate::world::{ServerView, World};
use model::{LOG_SAID, LOG_SAYS, ServerId, SignedDuration};
use wire::agent::{Phase, Report, Run};

/// Of a log, in a status.
const REASONS: usize = 3;
/// Three reports of an agent that have not come.
const LOST: SignedDuration = SignedDuration::from_secs(30);
/// Of such an agent.
const NOT_REPORTED: &str = " has not reported since ";
/// Of a server that can't be started before somebody has mended its disk.
const HELD: &str = " is held: ";
/// What comes before the names of disks that are nearly full.
const SLOWED: &str = "producers are slowed down: ";

pub(super) fn of(world: &World) -> Wait {
    let of = each(world);
    if of.is_empty() {
        let stopped = world.servers.iter().filter(|view| view.server.stopped);
        let stopped: Vec<String> = stopped.map(ServerView::title).collect();
        let reason = match &stopped[..] {
            [] => RUNNING.to_owned(),
            some => format!("{RUNNING}, but for {}, stopped as asked", some.join(" and ")),
        };
        let reason = match slowed(world) {
            Some(why) => format!("{reason}, but {why}"),
            None => reason,
        };
        return Wait::new(reason, LOOK_AT_HEALTHY);
    }
    let waits = of.iter().map(|(_, sentence)| sentence.clone());
    let waits: Vec<String> = waits.chain(slowed(world)).collect();
    Wait::new(waits.join("; "), LOOK_AGAIN).about(of)
}

/// Whether this is the status of servers that all run as they should, as far as anybody
/// knows: brokers run on without their agents.
pub fn tells_of_all_running(status: &str) -> bool {
    let is_fine = |sentence: &str| {
        sentence.starts_with(RUNNING)
            || sentence.starts_with(SLOWED)
            || sentence.contains(NOT_REPORTED)
    };
    status.split("; ").all(is_fine)
}

/// Why a cluster stays as it is until a person does something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtRest {
    Stopped,
    Paused,
    /// Servers are, and nothing else is under way.
    Held,
}

/// Whether this is the status of such a cluster.
pub fn at_rest(status: &str) -> Option<AtRest> {
    let goes_on = || status.split("; ").any(|sentence| sentence.starts_with("waiting: "));
    match status {
        STOPPED => Some(AtRest::Stopped),
        PAUSED => Some(AtRest::Paused),
        _ if status.contains(HELD) && !goes_on() => Some(AtRest::Held),
        _ => None,
    }
}

/// The same by server, without what is about all of them.
fn each(world: &World) -> Vec<(ServerId, String)> {
    // What somebody may have to mend comes before what mends itself.
    let (failed, others): (Vec<&ServerView>, Vec<_>) =
        world.servers.iter().partition(|view| view.has_failed());
    let sentence = |view: &ServerView| {
        let sentence =
            server(view).or_else(|| lost(world, view)).or_else(|| silent(world, view))?;
        Some((view.server.id, sentence))
    };
    failed.into_iter().chain(others).filter_map(sentence).collect()
}

/// Why producers are slowed down, if they are.
fn slowed(world: &World) -> Option<String> {
    let full: Vec<String> =
        world.slowed_for().map(|view| format!("the disk of {}", view.title())).collect();
    let all = full.join(" and ");
    (!full.is_empty()).then(|| format!("{SLOWED}{all} is nearly full"))
}

/// A server whose broker ran as it should when its agent was last heard of.
fn lost(world: &World, view: &ServerView) -> Option<String> {
    let at = view.server.last_seen.filter(|_| !view.server.stopped)?;
    if world.now.duration_since(at) <= LOST {
        return None;
    }
    // After a start agents need a moment to find us, and what they said before it is old.
    let runs = world.now.duration_since(world.started_at);
    if (SignedDuration::ZERO..=LOST).contains(&runs) {
        return Some(format!("waiting: the agent of {} has not reported yet", view.title()));
    }
    let since = at.strftime("%Y-%m-%d %H:%M:%S UTC");
    Some(format!("the agent of {}{NOT_REPORTED}{since}", view.title()))
}

/// A broker that runs as it should and yet does not answer its agent. What it is asked
/// for there is its metrics, so clients may well be served, and whoever is told to
/// restart it has to know.
fn silent(world: &World, view: &ServerView) -> Option<String> {
    let since = view.silent_since().filter(|_| !view.server.stopped)?;
    let (title, name, id) = (view.title(), &view.server.name, world.instance.id);
    let since = since.strftime("%Y-%m-%d %H:%M:%S UTC");
    let known = format!("{title} has not answered its own agent since {since}");
    if !world.hangs(view) {
        return Some(format!("{known}, but answers the control plane"));
    }
    Some(format!(
        "{known}; if clients get no answer either, restart it with actions/restart \
         (castellan instance restart {id} --server {name})"
    ))
}

fn server(view: &ServerView) -> Option<String> {
    let title = view.title();
    if view.server.stopped {
        let starts = view.current_report().is_some_and(|report| report.phase == Phase::Starting);
        let wait = if starts { "stops once it has started" } else { "is to stop" };
        return (!view.is_stopped()).then(|| format!("waiting: {title} {wait}"));
    }
    if view.is_current() {
        return None;
    }
    let Some(report) = view.current_report() else {
        return Some(format!("waiting: the agent of {title} has not reported yet"));
    };
    let held_back = view.desired.as_ref().is_some_and(|told| told.run == Run::Stopped);
    let wait = match report.phase {
        Phase::Failed => failure(&title, report),
        Phase::Running => format!("waiting: {title} is to be restarted"),
        Phase::Starting => starting(&title, report),
        Phase::Stopping => format!("waiting: the broker of {title} is stopping"),
        Phase::Stopped if held_back => format!("waiting: {title} starts after the controllers"),
        Phase::Stopped => format!("the broker of {title} is stopped"),
        Phase::Preparing if report.detail.is_empty() => format!("waiting: {title} is preparing"),
        Phase::Preparing => format!("waiting: {title}: {}", report.detail),
        Phase::Unknown => format!("waiting: {title} is in a state that a newer Castellan knows"),
    };
    Some(wait)
}

fn failure(title: &str, report: &Report) -> String {
    if let Some(fault) = &report.disk_fault {
        return format!("{title}{HELD}{fault}");
    }
    let mut text = format!("{title} does not stay up: {}", report.detail);
    let reasons = reasons(report);
    if !reasons.is_empty() {
        text.push_str(LOG_SAYS);
        text.push_str(&reasons);
    }
    text
}

/// The first lines that tell of trouble. The chatter before an end, of a broker
/// that was killed, tells of none, and names what is nobody's business.
fn reasons(report: &Report) -> String {
    let is_chatter =
        |line: &&String| [" INFO ", " DEBUG ", " WARN "].iter().any(|word| line.contains(word));
    let lines = report.log_tail.iter().filter(|line| !is_chatter(line)).take(REASONS);
    lines.map(String::as_str).collect::<Vec<_>>().join(" | ")
}

fn starting(title: &str, report: &Report) -> String {
    match &report.loading {
        // How far it is tells more than why it ended.
        Some(loading) => format!("waiting: {title}: {loading}"),
        None if !report.log_tail.is_empty() => starting_again(title, report),
        None => format!("waiting: the broker of {title} is starting"),
    }
}

/// A start after failed ones must not hide why they failed.
fn starting_again(title: &str, report: &Report) -> String {
    let start = report.restarts + 1;
    let text = format!("waiting: the broker of {title} is starting (start {start})");
    match reasons(report) {
        reasons if reasons.is_empty() => text,
        reasons => format!("{text}{LOG_SAID}{reasons}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_runs_though_an_agent_is_lost_and_not_while_something_is_waited_for() {
        let lost = "the agent of server 2 has not reported since 2026-11-15 12:00:00 UTC";
        let slowed = "producers are slowed down: the disk of server 1 is nearly full";
        let check = |status: &str, expected: bool| {
            assert_eq!(tells_of_all_running(status), expected, "{status}");
        };
        check(RUNNING, true);
        check("running, but for server 3, stopped as asked", true);
        check(&format!("running, but {slowed}"), true);
        check(lost, true);
        check(&format!("{lost}; {slowed}"), true);
        check(&format!("{lost}; waiting: the broker of server 3 is starting"), false);
        check("waiting: the agent of server 1 has not reported yet", false);
        check("waiting: the control plane has just started and looks at the servers", false);
        check("server 1 is held: the disk is lost: it is not there", false);
        check("paused by the operator", false);
        check("", false);
    }

    #[test]
    fn a_cluster_rests_where_only_a_person_can_go_on() {
        let held = "server 1 is held: the disk is lost: it is not there";
        let check = |status: &str, expected: Option<AtRest>| {
            assert_eq!(at_rest(status), expected, "{status}");
        };
        check("stopped", Some(AtRest::Stopped));
        check("paused by the operator", Some(AtRest::Paused));
        check(held, Some(AtRest::Held));
        check(
            &format!("{held}; server 2 is held: the disk is lost: it is empty"),
            Some(AtRest::Held),
        );
        check(&format!("{held}; waiting: the broker of server 3 is starting"), None);
        check("waiting: every server is stopping", None);
        check("waiting: server 1 is stopping", None);
        check("waiting for the engine", None);
        check("failed to make the network: no; trying again in 1 s", None);
        check(RUNNING, None);
        check("running, but for server 3, stopped as asked", None);
    }
}
