//! Where an agent sends its server's logs, and what it says of that.
//!
//! Keys to other people's services go to the agents of that instance alone, and only for
//! logs: metrics are sent from here.

use super::Agent;
use crate::{App, Result};
use model::agent::{Deliveries, FailedDelivery};
use model::{InstanceName, Timestamp};
use model::{Integration, IntegrationId, IntegrationKind, MOST_INTEGRATIONS, SignedDuration};
use std::collections::BTreeMap;
use store::{IntegrationFailure, instances, integrations};

/// Characters of a sentence that an agent says.
const LENGTH: usize = 300;
/// How often a count is written that does nothing but grow.
const COUNT_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// Where an instance's logs are sent, and what they are called there.
#[derive(Debug)]
pub struct LogIntegrations {
    pub revision: i64,
    pub instance_name: InstanceName,
    pub server_name: String,
    pub integrations: Vec<Integration>,
}

/// Those of the agent's own instance. What can't be read is left out.
pub async fn log_integrations(agent: &Agent, app: &App) -> Result<LogIntegrations> {
    let mut reader = app.store().reader();
    // First: what is read after it may be newer, and is then fetched once more.
    let revision = agent.enrolled(&mut reader).await?.integrations_revision;
    let record = agent.record(&mut reader).await?;
    let instance = instances::find(&mut reader, agent.instance_id).await?;
    let instance = instance.ok_or(super::authenticate::UNKNOWN)?;
    let mut found =
        integrations::list(&mut reader, agent.instance_id, IntegrationKind::Logs).await?;
    found.retain(Integration::is_readable);
    Ok(LogIntegrations {
        revision,
        instance_name: instance.name,
        server_name: record.server.name,
        integrations: found,
    })
}

/// Writes what has changed of the deliveries that fail. What an agent says of integrations
/// that are others by now is passed over: it fetches those and says it anew.
pub(super) async fn take(agent: &Agent, app: &App, said: &Deliveries) -> Result<()> {
    if said.revision != agent.integrations_revision {
        return Ok(());
    }
    let (said, now) = (sentences(&said.failures), app.now());
    let mut reader = app.store().reader();
    let known = integrations::failures_of(&mut reader, agent.server_id).await?;
    if is_known(&said, &known, now) {
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    // The server may have been replaced since the first look.
    let enrolled = agent.enrolled(&mut work).await?;
    if enrolled.integrations_revision != agent.integrations_revision {
        return Ok(());
    }
    let there = integrations::list(&mut work, agent.instance_id, IntegrationKind::Logs).await?;
    let failures: Vec<IntegrationFailure> = there
        .iter()
        .filter_map(|integration| {
            let failed = said.get(&integration.id)?;
            let (message, dropped) = (failed.sentence(failed.dropped), failed.dropped);
            Some(IntegrationFailure { id: integration.id, message, dropped, at: now })
        })
        .collect();
    integrations::set_failures(&mut work, agent.instance_id, agent.server_id, &failures).await?;
    Ok(work.commit().await?)
}

/// What an agent says, cut to its bounds.
struct Failed {
    error: String,
    dropped: u64,
}

impl Failed {
    /// As it would read with that count.
    fn sentence(&self, dropped: u64) -> String {
        let events = if dropped == 1 { "1 event" } else { &format!("{dropped} events") };
        match (self.error.as_str(), dropped) {
            (error, 0) => error.to_owned(),
            ("", _) => {
                format!("{events} of a server's logs were left out, more than could be sent")
            }
            (error, _) => format!("{error}; {events} of a server's logs were left out"),
        }
    }
}

fn sentences(said: &[FailedDelivery]) -> BTreeMap<IntegrationId, Failed> {
    let failed = said.iter().take(MOST_INTEGRATIONS).map(|delivery| {
        let error = delivery.error.chars().take(LENGTH);
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let error = error.map(plain).collect::<String>().trim().to_owned();
        (delivery.id, Failed { error, dropped: delivery.dropped })
    });
    failed.filter(|(_, failed)| !failed.error.is_empty() || failed.dropped > 0).collect()
}

/// Whether nothing was said that is worth writing.
fn is_known(
    said: &BTreeMap<IntegrationId, Failed>,
    known: &[IntegrationFailure],
    now: Timestamp,
) -> bool {
    let is_same = |known: &IntegrationFailure| {
        said.get(&known.id).is_some_and(|said| {
            let is_counted = said.dropped == known.dropped || now < known.at + COUNT_EVERY;
            said.sentence(known.dropped) == known.message && is_counted
        })
    };
    said.len() == known.len() && known.iter().all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(error: &str, dropped: u64) -> FailedDelivery {
        FailedDelivery { id: IntegrationId(1), error: error.into(), dropped }
    }

    #[test]
    fn a_sentence_is_bounded_and_tells_what_was_left_out() {
        let check = |delivery: FailedDelivery, expected: Option<&str>| {
            let sentences = sentences(&[delivery]);
            let sentence = sentences.values().next().map(|failed| failed.sentence(failed.dropped));
            assert_eq!(sentence.as_deref(), expected);
        };
        check(said("", 0), None);
        check(said("the token\r\nis refused ", 0), Some("the token  is refused"));
        check(said("it is away", 1), Some("it is away; 1 event of a server's logs were left out"));
        let thinned = "7 events of a server's logs were left out, more than could be sent";
        check(said("", 7), Some(thinned));
        check(said(&"é".repeat(400), 0), Some(&"é".repeat(300)));
        let many: Vec<_> =
            (0..200).map(|id| FailedDelivery { id: IntegrationId(id), ..said("x", 0) }).collect();
        assert_eq!(sentences(&many).len(), MOST_INTEGRATIONS);
    }

    #[test]
    fn a_count_alone_is_written_once_a_minute() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let known = |message: &str, dropped| {
            vec![IntegrationFailure {
                id: IntegrationId(1),
                message: message.into(),
                dropped,
                at: now,
            }]
        };
        let check = |delivery: FailedDelivery, known: &[IntegrationFailure], seconds, expected| {
            let at = now + SignedDuration::from_secs(seconds);
            assert_eq!(is_known(&sentences(&[delivery]), known, at), expected);
        };
        let before = known("it is away; 7 events of a server's logs were left out", 7);
        check(said("it is away", 7), &before, 600, true);
        check(said("it is away", 8), &before, 59, true);
        check(said("it is away", 8), &before, 60, false);
        check(said("it is slow", 7), &before, 0, false);
        check(said("", 0), &before, 0, false);
        check(said("", 0), &[], 0, true);
        check(said("it is away", 0), &[], 0, false);
    }
}
