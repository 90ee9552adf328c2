//! Asks the control plane where logs go, whenever that has changed. What it answers holds keys
//! to other people's systems and stays in memory.

use crate::connection::{Connection, ConnectionError};
use crate::pace::backoff;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;
use wire::agent::LogIntegrations;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub struct Learner {
    /// The last revision that was heard of.
    pub heard: watch::Receiver<Option<i64>>,
    /// That of the link, while it has one.
    pub connection: watch::Receiver<Option<Connection>>,
    /// What was learnt last; none while nothing is known.
    pub documents: watch::Sender<Option<Learnt>>,
}

/// Where logs go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Learnt {
    Nowhere,
    There(Box<LogIntegrations>),
}

impl Learner {
    /// Ends only with the link. Once for each conversation it asks without a change: the
    /// operator's rules may be others since the control plane began anew.
    pub async fn run(mut self) {
        let (mut held, mut failures) = (None, 0);
        let (mut is_anew, mut is_due) = (false, false);
        loop {
            if !std::mem::take(&mut is_due) {
                let changed = tokio::select! {
                    changed = self.heard.changed() => changed,
                    changed = self.connection.changed() => {
                        is_anew = true;
                        changed
                    }
                };
                if changed.is_err() {
                    return;
                }
            }
            let connection = {
                let present = self.connection.borrow_and_update();
                is_anew |= present.has_changed();
                present.clone()
            };
            let heard = *self.heard.borrow_and_update();
            let (Some(heard), Some(connection)) = (heard, connection) else { continue };
            if held == Some(heard) && !(is_anew && heard > 0) {
                continue;
            }
            match learn(&connection, heard).await {
                Ok((revision, learnt)) => {
                    self.documents.send_replace(Some(learnt));
                    held = Some(revision);
                    (failures, is_anew) = (0, false);
                    // What was heard of is on its way through another control plane.
                    is_due = revision < heard;
                }
                Err(error) => {
                    failures += 1;
                    tracing::debug!(%error, "it is not known where logs go; asking again");
                    is_due = true;
                }
            }
            if is_due {
                sleep(backoff(FIRST_PAUSE, LONGEST_PAUSE, failures)).await;
            }
        }
    }
}

async fn learn(connection: &Connection, heard: i64) -> Result<(i64, Learnt), ConnectionError> {
    if heard == 0 {
        return Ok((0, Learnt::Nowhere));
    }
    let document = connection.integrations().await?;
    let revision = document.revision;
    let is_empty = document.integrations.is_empty();
    Ok((revision, if is_empty { Learnt::Nowhere } else { Learnt::There(Box::new(document)) }))
}
