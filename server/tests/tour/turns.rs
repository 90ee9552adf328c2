//! Whose turn it is in a roll with bad luck in it: nobody is let stop while another, who
//! was let stop before, is not back. Never are two servers away because of us.

use crate::roll_faults::{Case, Victim};
use test_support::installation::Installation;
use test_support::left_over;

const LEAVE: &str = "may stop now: server ";

pub struct Turns {
    /// The action's journal.
    path: String,
    /// How often somebody was let stop, as far as it was looked at.
    given: usize,
    /// A server that is away, or silent, by bad luck.
    hit: Option<usize>,
    /// That is over, but it may not be back yet.
    is_over: bool,
}

impl Turns {
    pub fn of(id: i64, action: i64) -> Self {
        let path = format!("/api/instances/{id}/actions/{action}");
        Self { path, given: 0, hit: None, is_over: false }
    }

    /// Something is about to happen. One that runs may end by it; one whose turn it is was
    /// let stop, and nobody else is before it is back.
    pub async fn hits(&mut self, castellan: &Installation, case: Case, victim: usize) {
        let is_hit = match case.victim {
            Victim::Nobody => false,
            Victim::Another => true,
            Victim::Moving => runs(castellan, victim).await,
        };
        (self.hit, self.is_over) = (is_hit.then_some(victim), false);
    }

    /// Whether somebody has been let stop by the last look.
    pub fn have_begun(&self) -> bool {
        self.given > 0
    }

    /// It is over, and every broker is there.
    pub fn is_over(&mut self) {
        self.is_over = true;
    }

    /// Whenever somebody has been let stop since the last look, everybody else runs.
    /// Whether the roll has ended.
    pub async fn look(&mut self, castellan: &Installation) -> bool {
        let (_, action) = castellan.get(&self.path).await;
        let has_ended = action["ended_at"].is_string();
        let steps = action["steps"].as_array().cloned().unwrap_or_default();
        let texts = steps.iter().filter_map(|step| step["text"].as_str());
        let leaves: Vec<usize> = texts.filter_map(leaving).collect();
        if leaves.len() == self.given && self.hit.is_none() {
            return has_ended;
        }
        let reports = Box::pin(left_over::reports(castellan)).await;
        let runs = |server: usize| reports[server].0["phase"] == "running";
        if leaves.len() > self.given {
            let last = leaves[leaves.len() - 1];
            let others = (0..reports.len()).filter(|it| *it != last && Some(*it) != self.hit);
            // What an agent said is forgotten when it is started anew; its broker runs on.
            let is_away = |server: &usize| !runs(*server) && !reports[*server].0.is_null();
            let away: Vec<usize> = others.filter(is_away).collect();
            assert!(away.is_empty(), "{last} was let stop while {away:?} are away: {action}");
            self.given = leaves.len();
        }
        if self.is_over && self.hit.is_some_and(runs) {
            self.hit = None;
        }
        has_ended
    }
}

/// Whether its agent said last that its broker runs.
pub async fn runs(castellan: &Installation, server: usize) -> bool {
    left_over::reports(castellan).await[server].0["phase"] == "running"
}

/// By its place among the servers.
fn leaving(step: &str) -> Option<usize> {
    let number = step.strip_prefix(LEAVE)?.split(',').next()?;
    number.parse::<usize>().ok()?.checked_sub(1)
}
