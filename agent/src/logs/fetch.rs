//! Fetches from the control plane where logs go, whenever that has changed. The reply holds keys
//! to other people's systems and stays in memory.

use crate::connection::{Connection, ConnectionError};
use crate::pace::backoff;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;
use wire::agent::LogIntegrations;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub struct Fetcher {
    /// The last revision that the control plane announced.
    pub announced: watch::Receiver<Option<i64>>,
    /// That of the link, while it has one.
    pub connection: watch::Receiver<Option<Connection>>,
    /// What was fetched last; none while nothing is known.
    pub documents: watch::Sender<Option<Destinations>>,
}

/// Where logs go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destinations {
    Empty,
    Listed(Box<LogIntegrations>),
}

impl Fetcher {
    /// Ends only with the link. Once for each conversation it fetches without a change: the reply
    /// before may have come from a control plane that still had other rules of the operator.
    pub async fn run(mut self) {
        let (mut held, mut failures) = (None, 0);
        let (mut is_anew, mut is_due) = (false, false);
        loop {
            if !std::mem::take(&mut is_due) {
                let changed = tokio::select! {
                    changed = self.announced.changed() => changed,
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
            let announced = *self.announced.borrow_and_update();
            let (Some(announced), Some(connection)) = (announced, connection) else { continue };
            if held == Some(announced) && !(is_anew && announced > 0) {
                continue;
            }
            match fetch(&connection, announced).await {
                Ok((revision, destinations)) => {
                    self.documents.send_replace(Some(destinations));
                    held = Some(revision);
                    (failures, is_anew) = (0, false);
                    // Another control plane announced the change before this one has read it.
                    is_due = revision < announced;
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

async fn fetch(
    connection: &Connection,
    announced: i64,
) -> Result<(i64, Destinations), ConnectionError> {
    if announced == 0 {
        return Ok((0, Destinations::Empty));
    }
    let document = connection.integrations().await?;
    let revision = document.revision;
    let destinations = if document.integrations.is_empty() {
        Destinations::Empty
    } else {
        Destinations::Listed(Box::new(document))
    };
    Ok((revision, destinations))
}
