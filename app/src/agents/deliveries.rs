//! Which deliveries of a server's logs fail, as its agent reports.
//!
//! A report is cut to its bounds. What clears is written at once. Anything else of a server is
//! written once in ten seconds, together, since all instances share the store's one write lock; a
//! count that does nothing but grow is written once a minute.

use super::Agent;
use crate::{App, Result};
use model::agent::{Deliveries, FailedDelivery};
use model::{IntegrationId, MOST_INTEGRATIONS, ServerId, SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};
use store::{IntegrationFailure, integrations, servers};

/// Characters of a sentence that an agent reports.
const LENGTH: usize = 300;
/// How often what fails is written, of a server as of one of its integrations.
const SENTENCE_EVERY: SignedDuration = SignedDuration::from_secs(10);
/// How often a count is written that does nothing but grow.
const COUNT_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The servers of which something that fails was written a moment ago, and when, by
/// [`model::Clock::elapsed`]. Each control plane counts for itself.
#[derive(Default)]
pub(crate) struct RecentFailures(Mutex<HashMap<ServerId, SignedDuration>>);

impl RecentFailures {
    fn contain(&self, server: ServerId, now: SignedDuration) -> bool {
        self.recent(now).contains_key(&server)
    }

    fn note(&self, server: ServerId, now: SignedDuration) {
        self.recent(now).insert(server, now);
    }

    /// Without those that have become too old.
    fn recent(&self, now: SignedDuration) -> MutexGuard<'_, HashMap<ServerId, SignedDuration>> {
        let mut servers = self.0.lock().expect("no holder of this lock panics");
        servers.retain(|_, at| now - *at < SENTENCE_EVERY);
        servers
    }
}

/// Writes what has changed of the deliveries that fail; `has_failures` is true if any did before.
/// A report about settings that are others by now is passed over: the agent fetches those and
/// reports anew.
pub(super) async fn take(
    agent: &Agent,
    app: &App,
    reported: &Deliveries,
    has_failures: bool,
) -> Result<()> {
    if reported.revision != agent.integrations_revision {
        return Ok(());
    }
    let reported = bounded(&reported.failures);
    // A report of a server whose logs arrive costs nothing more.
    if reported.is_empty() && !has_failures {
        return Ok(());
    }
    let mut reader = app.store().reader();
    let known = integrations::failures_of(&mut reader, agent.server_id).await?;
    let there = servers::find_log_integrations(&mut reader, agent.instance_id).await?;
    let mut failures = on_record(&reported, &known, &there, app.now());
    if app.recent_failures.contain(agent.server_id, app.elapsed()) {
        failures = without_news(failures, &known);
    }
    if failures == known {
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    // The server may have been replaced since the first look.
    let enrolled = agent.enrolled(&mut work).await?;
    if enrolled.integrations_revision != agent.integrations_revision {
        return Ok(());
    }
    integrations::set_failures(&mut work, agent.instance_id, agent.server_id, &failures).await?;
    work.commit().await?;
    if failures.iter().any(|failure| !known.contains(failure)) {
        app.recent_failures.note(agent.server_id, app.elapsed());
    }
    Ok(())
}

/// What was known stays as it was, but for what has cleared.
fn without_news(
    failures: Vec<IntegrationFailure>,
    known: &[IntegrationFailure],
) -> Vec<IntegrationFailure> {
    let failing: BTreeSet<_> = failures.into_iter().map(|failure| failure.id).collect();
    known.iter().filter(|failure| failing.contains(&failure.id)).cloned().collect()
}

/// What an agent reports of one delivery, cut to its bounds.
struct Failed {
    error: String,
    dropped: u64,
}

impl Failed {
    /// As it would read with that count.
    fn sentence(&self, dropped: u64) -> String {
        let left_out = match dropped {
            0 => return self.error.clone(),
            1 => "1 event of a server's logs was left out".to_owned(),
            _ => format!("{dropped} events of a server's logs were left out"),
        };
        match self.error.as_str() {
            "" => format!("{left_out}, more than could be sent"),
            error => format!("{error}; {left_out}"),
        }
    }

    /// What is on record from now on: what was before, until it is time to write again.
    fn on_record(
        &self,
        id: IntegrationId,
        known: Option<&IntegrationFailure>,
        now: Timestamp,
    ) -> IntegrationFailure {
        let message = self.sentence(self.dropped);
        let new = IntegrationFailure { id, message, dropped: self.dropped, at: now };
        let Some(known) = known else { return new };
        let is_counted = self.sentence(known.dropped) == known.message;
        let pause = if is_counted { COUNT_EVERY } else { SENTENCE_EVERY };
        let is_same = (&new.message, new.dropped) == (&known.message, known.dropped);
        // The clock may have been set back since.
        let is_early = (known.at..known.at + pause).contains(&now);
        if is_same || is_early { known.clone() } else { new }
    }
}

fn bounded(reported: &[FailedDelivery]) -> BTreeMap<IntegrationId, Failed> {
    let failed = reported.iter().take(MOST_INTEGRATIONS).map(|delivery| {
        let error = delivery.error.chars().take(LENGTH);
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let error = error.map(plain).collect::<String>().trim().to_owned();
        // As much as the store's column holds.
        let dropped = delivery.dropped.min(i64::MAX.unsigned_abs());
        (delivery.id, Failed { error, dropped })
    });
    failed.filter(|(_, failed)| !failed.error.is_empty() || failed.dropped > 0).collect()
}

/// What is on record of the integrations that are there, by id.
fn on_record(
    reported: &BTreeMap<IntegrationId, Failed>,
    known: &[IntegrationFailure],
    there: &BTreeSet<IntegrationId>,
    now: Timestamp,
) -> Vec<IntegrationFailure> {
    let known: BTreeMap<_, _> = known.iter().map(|failure| (failure.id, failure)).collect();
    let failed = reported.iter().filter(|(id, _)| there.contains(id));
    failed.map(|(id, failed)| failed.on_record(*id, known.get(id).copied(), now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(error: &str, dropped: u64) -> FailedDelivery {
        FailedDelivery { id: IntegrationId(1), error: error.into(), dropped }
    }

    #[test]
    fn a_sentence_is_bounded_and_tells_what_was_left_out() {
        let check = |delivery: FailedDelivery, expected: Option<&str>| {
            let reported = bounded(&[delivery]);
            let sentence = reported.values().next().map(|failed| failed.sentence(failed.dropped));
            assert_eq!(sentence.as_deref(), expected);
        };
        check(reported("", 0), None);
        check(reported("the token\r\nis refused ", 0), Some("the token  is refused"));
        check(
            reported("it is away", 1),
            Some("it is away; 1 event of a server's logs was left out"),
        );
        let thinned = "7 events of a server's logs were left out, more than could be sent";
        check(reported("", 7), Some(thinned));
        check(reported(&"é".repeat(400), 0), Some(&"é".repeat(300)));
        let many: Vec<_> = (0..200)
            .map(|id| FailedDelivery { id: IntegrationId(id), ..reported("x", 0) })
            .collect();
        assert_eq!(bounded(&many).len(), MOST_INTEGRATIONS);
    }

    #[test]
    fn a_count_is_written_once_a_minute_and_another_sentence_every_ten_seconds() {
        const AWAY: &str = "it is away; 7 events of a server's logs were left out";
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let failure = |message: &str, dropped, seconds| IntegrationFailure {
            id: IntegrationId(1),
            message: message.into(),
            dropped,
            at: now + SignedDuration::from_secs(seconds),
        };
        let before = [failure(AWAY, 7, 0)];
        let check = |reported: &[FailedDelivery], known: &[_], seconds, expected: &[_]| {
            let now = now + SignedDuration::from_secs(seconds);
            let there = [IntegrationId(1)].into();
            assert_eq!(on_record(&bounded(reported), known, &there, now), expected, "{reported:?}");
        };
        check(&[reported("it is away", 7)], &before, 600, &before);
        check(&[reported("it is away", 8)], &before, 59, &before);
        let counted = "it is away; 8 events of a server's logs were left out";
        check(&[reported("it is away", 8)], &before, 60, &[failure(counted, 8, 60)]);
        check(&[reported("it is slow", 0)], &before, 9, &before);
        check(&[reported("it is slow", 0)], &before, 10, &[failure("it is slow", 0, 10)]);
        check(&[reported("it is slow", 0)], &before, -1, &[failure("it is slow", 0, -1)]);
        // What clears is written at once, and so is what fails for the first time.
        check(&[], &before, 0, &[]);
        check(&[], &[], 0, &[]);
        check(&[reported("it is away", 0)], &[], 0, &[failure("it is away", 0, 0)]);
        // Of an integration that is not there nothing is kept.
        let of_none = FailedDelivery { id: IntegrationId(2), ..reported("of none", 0) };
        check(&[reported("it is away", 7), of_none], &before, 600, &before);
    }
}
