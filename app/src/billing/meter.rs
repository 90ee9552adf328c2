//! From histories to lines, in pure code.
//!
//! Time is counted in whole seconds: a change counts from the beginning of the
//! second it falls into, and of several in one second the last one counts. So
//! every second of an instance's life is on exactly one line, and a plan that
//! was there for less than a second is on none.

use model::{HistoryChange, HistoryEntry, InvoiceLine, Month, Timestamp};

/// What is to be paid for the part of a month before `until`. `entries` are
/// those of one account, by instance, oldest first.
pub fn lines(entries: &[HistoryEntry], month: Month, until: Timestamp) -> Vec<InvoiceLine> {
    let end = until.min(month.end()).as_second();
    entries
        .chunk_by(|a, b| a.instance_id == b.instance_id)
        .flat_map(runs)
        .filter_map(|run| run.line(month, end))
        .collect()
}

/// An instance as it was from one second on.
#[derive(Clone, Copy)]
struct State<'a> {
    from: i64,
    entry: &'a HistoryEntry,
}

/// An unbroken time on one plan at one price.
struct Run<'a> {
    states: Vec<State<'a>>,
    /// The first second that is not part of it; none while it goes on.
    to: Option<i64>,
}

fn runs(entries: &[HistoryEntry]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run> = Vec::new();
    for state in states(entries) {
        let deleted = state.entry.change == HistoryChange::Deleted;
        match runs.last_mut() {
            Some(run) if !deleted && run.goes_on(state) => run.states.push(state),
            Some(run) => run.to = run.to.or(Some(state.from)),
            None => {}
        }
        let ended = runs.last().is_none_or(|run| run.to.is_some());
        if !deleted && ended {
            runs.push(Run { states: vec![state], to: None });
        }
    }
    runs
}

/// One state for each second in which something changed.
fn states(entries: &[HistoryEntry]) -> Vec<State<'_>> {
    let mut states: Vec<State> = Vec::new();
    for entry in entries {
        let state = State { from: entry.at.as_second(), entry };
        match states.last_mut() {
            Some(last) if last.from == state.from => *last = state,
            _ => states.push(state),
        }
    }
    states
}

impl Run<'_> {
    fn goes_on(&self, state: State<'_>) -> bool {
        self.to.is_none()
            && self.states.last().is_some_and(|last| {
                last.entry.plan == state.entry.plan && last.entry.price == state.entry.price
            })
    }

    /// Its part of the month, unless nothing is to be paid for it.
    fn line(&self, month: Month, end: i64) -> Option<InvoiceLine> {
        let from = self.states.first()?.from.max(month.start().as_second());
        let to = self.to.unwrap_or(end).min(end);
        // As at its end, which is not part of it: what counts is its last second.
        let last = self.states.iter().rev().find(|state| state.from < to)?.entry;
        let amount = last.price.share((to - from).max(0), month.seconds());
        let line = InvoiceLine {
            instance_id: last.instance_id,
            amount,
            from: Timestamp::from_second(from).ok()?,
            to: Timestamp::from_second(to).ok()?,
            name: last.name.to_string(),
            plan: last.plan.to_string(),
            tags: last.tags.as_slice().to_vec(),
        };
        (from < to && amount.0 > 0).then_some(line)
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
