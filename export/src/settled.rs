//! Whether all samples of a minute are in that will ever be. Pure.
//!
//! A minute is sent once and not again, so it waits for samples that are on their way: of an
//! agent that comes back and sends what it kept, of one that talks to another control plane,
//! which writes them into the history after each minute, and of all agents after a start. It
//! does not wait for a server that no control plane hears.

use crate::schedule::MINUTE;
use model::{SignedDuration, Timestamp};
use series::STEP;
use std::collections::HashSet;
use watch::metrics::{Heard, SETTLE, is_heard_by_any};

/// After a start agents are back by then.
const AGENTS_RETURN: SignedDuration = SignedDuration::from_secs(60);
/// What an agent kept is sent within that.
const BACKLOG: SignedDuration = SignedDuration::from_secs(15);
/// Seconds that the last samples of a minute are waited for: clocks of agents may be behind.
const LATEST: i64 = 120;
/// Seconds after the end of a minute by which another control plane has written it.
const WRITTEN: i64 = 90;

/// What decides whether the samples of a server's agent are waited for.
#[derive(Clone, Debug)]
pub struct AgentState {
    /// By this control plane.
    pub heard: Option<Heard>,
    /// By any.
    pub last_seen: Option<Timestamp>,
    /// The times of its samples, as far as they were read.
    pub times: HashSet<i64>,
}

/// When a minute is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub now: i64,
    /// How long this control plane has been running.
    pub running: SignedDuration,
}

/// Whether the minute that begins then may be sent.
pub fn is_settled(minute: i64, at: Moment, agents: &[AgentState]) -> bool {
    let end = minute + MINUTE;
    at.now >= end + SETTLE && !agents.iter().any(|agent| is_awaited(agent, minute, at))
}

fn is_awaited(agent: &AgentState, minute: i64, at: Moment) -> bool {
    let end = minute + MINUTE;
    let is_whole = (0..MINUTE / STEP).all(|slot| agent.times.contains(&(minute + slot * STEP)));
    if is_whole {
        return false;
    }
    match agent.heard {
        Some(heard) if heard.lasting < BACKLOG => true,
        Some(heard) => heard.latest < end - STEP && at.now < end + LATEST,
        None if at.running < AGENTS_RETURN => true,
        None => is_heard_by_any(agent.last_seen, at.now) && at.now < end + WRITTEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second minute of a window.
    const MINUTE_AT: i64 = 1_000_000_260;
    const END: i64 = MINUTE_AT + 60;
    const LONG: SignedDuration = SignedDuration::from_hours(1);

    fn agent(samples: usize) -> AgentState {
        let times = (0..60).step_by(10).map(|second| MINUTE_AT + second);
        AgentState { heard: None, last_seen: None, times: times.take(samples).collect() }
    }

    fn heard(samples: usize, lasting: SignedDuration, latest: i64) -> AgentState {
        let last_seen = Some(Timestamp::from_second(latest).unwrap());
        AgentState { heard: Some(Heard { lasting, latest }), last_seen, ..agent(samples) }
    }

    /// From when on it is settled, in seconds after its end.
    fn settled(running: SignedDuration, agents: &[AgentState]) -> i64 {
        let is_settled_after =
            |after: &i64| is_settled(MINUTE_AT, Moment { now: END + after, running }, agents);
        (0..3600).find(is_settled_after).unwrap_or(i64::MAX)
    }

    #[test]
    fn a_minute_waits_for_samples_on_their_way_and_for_no_server_that_is_gone() {
        assert_eq!(settled(LONG, &[agent(6), heard(6, LONG, END)]), 20);
        assert_eq!(settled(LONG, &[agent(6), agent(0)]), 20, "no control plane hears it");
        assert_eq!(settled(LONG, &[heard(4, LONG, END)]), 20, "it has missed some");
        let late = heard(4, LONG, END - 20);
        assert_eq!(settled(LONG, &[agent(6), late]), 120, "its clock is behind");
        let back = heard(1, SignedDuration::from_secs(14), END);
        assert_eq!(settled(LONG, &[back]), i64::MAX, "it has only just come back");
        assert_eq!(settled(LONG, &[heard(1, BACKLOG, END)]), 20, "that is all it had");
    }

    #[test]
    fn after_a_start_agents_are_waited_for_unless_everything_is_there() {
        let young = SignedDuration::from_secs(59);
        assert_eq!(settled(young, &[agent(6)]), 20);
        assert_eq!(settled(young, &[agent(6), agent(5)]), i64::MAX);
        assert_eq!(settled(AGENTS_RETURN, &[agent(6), agent(5)]), 20);
    }

    #[test]
    fn what_another_control_plane_hears_is_waited_for_until_it_is_written() {
        let seen = |at: i64| {
            let last_seen = Some(Timestamp::from_second(at).unwrap());
            AgentState { last_seen, ..agent(0) }
        };
        assert_eq!(settled(LONG, &[seen(END + 3600)]), WRITTEN);
        assert_eq!(settled(LONG, &[seen(END - 10)]), 51, "it was last seen a minute ago");
        assert_eq!(settled(LONG, &[AgentState { times: agent(6).times, ..seen(END + 3600) }]), 20);
    }
}
