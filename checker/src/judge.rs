//! Compares what clients were told with what brokers have. Pure.
//!
//! Nothing is held against a cluster that it did not promise: a record that was
//! never acknowledged may be there or not, one that was must be there once, in
//! the order in which its client sent it, on every replica alike, and visible
//! if and only if its transaction was committed.

mod client_view;
mod copies;
mod kept;
mod visible;

#[cfg(test)]
mod tests;

use crate::report::{ClientReport, Findings, Report, Times};
use crate::{Event, History, Logs};
use client_view::{Answer, ClientView, End};

pub fn judge(history: &History, logs: &Logs) -> Report {
    let view = ClientView::from_history(history);
    let mut findings = Findings::default();
    failed(&view, &mut findings);
    copies::judge(&view, logs, &mut findings);
    kept::judge(&view, logs, &mut findings);
    report(history, &view, findings)
}

fn failed(view: &ClientView<'_>, findings: &mut Findings) {
    for (id, record) in &view.records {
        if let Answer::Failed { error, at } = &record.answer {
            let waited = seconds(at.saturating_sub(record.sent_at));
            findings.failed(
                *id,
                record.partition,
                format!("given up after {waited:.1} s: {error}"),
            );
        }
    }
}

fn report(history: &History, view: &ClientView<'_>, findings: Findings) -> Report {
    let History { run, events } = history;
    let ended = |kind: fn(&End) -> bool| view.ends.values().filter(|end| kind(end)).count() as u64;
    let trouble = |event: &Event| match event {
        Event::Trouble { who, at, error } => {
            Some(format!("{who}, {:.1} s after the begin: {error}", seconds(*at)))
        }
        _ => None,
    };
    let clients = run.clients.iter().enumerate();
    Report {
        run: run.clone(),
        whole: view.whole && view.every_client_was_acked(),
        seconds: events.iter().map(Event::at).max().map_or(0.0, seconds),
        sent: view.records.len() as u64,
        acked: view.acked().count() as u64,
        failed: findings.count(crate::Wrong::Failed),
        committed: ended(|end| matches!(end, End::Committed)),
        aborted: ended(|end| matches!(end, End::Aborted)),
        unsure: ended(|end| matches!(end, End::Unsure)),
        seen: view.seen.len() as u64,
        send_to_ack: Times::from_waits(view.waits(None)),
        clients: clients
            .map(|(number, client)| ClientReport {
                client: client.to_string(),
                send_to_ack: Times::from_waits(view.waits(Some(number))),
            })
            .collect(),
        troubles: events.iter().filter_map(trouble).collect(),
        findings,
    }
}

fn seconds(micros: u64) -> f64 {
    std::time::Duration::from_micros(micros).as_secs_f64()
}
