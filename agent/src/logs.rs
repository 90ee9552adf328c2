//! Sends the server's logs to where the instance's owner wants them.
//!
//! Events go through a bounded buffer on disk, from which each destination is sent to at its own
//! pace: a destination that is unreachable or slow delays no other one, nor the broker, nor a
//! report. The agent fetches destinations and keys from the control plane and keeps them in memory
//! alone; until an agent that starts has fetched them, it goes on reading for the destinations that
//! the buffer knows. An agent without destinations does nothing here at all.
//!
//! A batch that was sent and not noted as sent when the agent ended is sent again, in the same
//! order.

mod fetch;
mod ledger;
mod pace;
mod sender;
mod senders;
mod shared_tail;
mod shippers;

pub use ledger::{Counts, Ledger};

use crate::board::Board;
use crate::connection::Connection;
use crate::place::Place;
use fetch::{Destinations, Fetcher};
use follow::{Files, Limits};
use model::{Clock, Entropy, IntegrationId};
use pace::Pace;
use sender::{Common, Share};
use senders::Senders;
use shared_tail::{Kept, SharedTail, TailError};
use shippers::{ShipperFactory, Shippers};
use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use wire::agent::{Deliveries, LogIntegrations};

pub struct Logs {
    pub place: Place,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub board: Board,
    /// How deliveries go, for the sampler as well.
    pub ledger: Ledger,
    /// The last revision of the destinations that the control plane announced.
    pub announced: watch::Receiver<Option<i64>>,
    /// That of the link, while it has one.
    pub connection: watch::Receiver<Option<Connection>>,
}

impl Logs {
    /// Never ends by itself.
    pub async fn run(self) {
        self.run_with(Box::new(Shippers::default()), Pace::LOGS, Limits::default()).await;
    }

    async fn run_with(self, factory: Box<dyn ShipperFactory>, pace: Pace, limits: Limits) {
        let Self { place, clock, entropy, board, ledger, announced, connection } = self;
        let (documents, seen) = watch::channel(None);
        let fetcher = Fetcher { announced, connection, documents };
        let share = Share::new();
        let common = Common { ledger: ledger.clone(), share, pace, clock: clock.clone(), entropy };
        let forwarder = Forwarder {
            opens: place.logs_spool().exists(),
            place,
            clock,
            board,
            ledger,
            pace,
            limits,
            senders: Senders::new(factory, common),
            tail: None,
            destinations: None,
            due: Instant::now(),
            next_retry: Instant::now(),
            next_report: Instant::now(),
        };
        tokio::join!(fetcher.run(), forwarder.run(seen));
    }
}

struct Forwarder {
    place: Place,
    clock: Arc<dyn Clock>,
    board: Board,
    ledger: Ledger,
    pace: Pace,
    limits: Limits,
    senders: Senders,
    /// Whether logs are to be followed.
    opens: bool,
    tail: Option<SharedTail>,
    destinations: Option<Destinations>,
    /// The next look at the logs.
    due: Instant,
    /// When what could not be opened, or ended by itself, is tried again.
    next_retry: Instant,
    /// No change is reported before then.
    next_report: Instant,
}

impl Forwarder {
    async fn run(mut self, mut documents: watch::Receiver<Option<Destinations>>) {
        loop {
            tokio::select! {
                changed = documents.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.destinations.clone_from(&documents.borrow_and_update());
                    self.apply().await;
                    self.report_deliveries();
                }
                () = until(self.opens.then_some(self.due)) => {
                    self.look().await;
                    if Instant::now() >= self.next_report {
                        self.report_deliveries();
                    }
                }
            }
        }
    }

    fn document(&self) -> Option<&LogIntegrations> {
        match &self.destinations {
            Some(Destinations::Listed(document)) => Some(document),
            _ => None,
        }
    }

    fn ids(&self) -> impl Iterator<Item = i64> {
        self.document().into_iter().flat_map(|document| &document.integrations).map(|it| it.id.0)
    }

    /// Follows logs for the destinations that the document names, and sends to them.
    async fn apply(&mut self) {
        self.next_retry = Instant::now() + self.pace.again;
        match &self.destinations {
            None => return,
            Some(Destinations::Listed(document)) => {
                self.opens = true;
                // What keeps the logs from being opened is reported for each of these.
                self.ledger.keep_only(&document.integrations.iter().map(|it| it.id).collect());
            }
            Some(Destinations::Empty) => self.senders.end(),
        }
        let Some(tail) = self.open().await else { return };
        let set = tail.set_readers(self.ids().collect()).await;
        self.note(set.err());
        if let Some(Destinations::Listed(document)) = &self.destinations {
            self.senders.apply(document, &tail);
        } else {
            (self.tail, self.opens) = (None, false);
        }
    }

    /// Opens the buffer and the logs, if they are to be followed and can be opened.
    async fn open(&mut self) -> Option<SharedTail> {
        if self.opens && self.tail.is_none() {
            let files = files(&self.place);
            match SharedTail::open(self.place.logs_spool(), files, self.limits).await {
                Ok(tail) => self.tail = Some(tail),
                Err(error) => self.note(Some(error)),
            }
        }
        self.tail.clone()
    }

    async fn look(&mut self) {
        let now = Instant::now();
        if self.tail.is_none() || now >= self.next_retry {
            self.retry().await;
        }
        let Some(tail) = self.tail.clone() else {
            self.due = now + self.pace.again;
            return;
        };
        let looked = tail.turn(self.clock.now(), self.ids().collect()).await;
        let (has_more, fault) = match looked {
            Ok((turn, kept)) => {
                self.look_at(&tail, kept).await;
                (turn.has_more, turn.fault.map(TailError::from))
            }
            Err(error) => (false, Some(error)),
        };
        self.note(fault);
        self.due = now + if has_more { self.pace.more } else { self.pace.look };
    }

    /// What could not be begun before is begun now.
    async fn retry(&mut self) {
        self.next_retry = Instant::now() + self.pace.again;
        if self.destinations.is_some() {
            return self.apply().await;
        }
        let tail = self.open().await;
        if let Some(tail) = tail
            && !tail.has_readers().await
        {
            (self.tail, self.opens) = (None, false);
        }
    }

    async fn look_at(&self, tail: &SharedTail, all: Vec<(i64, Kept)>) {
        let now = self.clock.elapsed();
        for (id, kept) in all {
            if self.ledger.look(IntegrationId(id), kept, now, self.pace.left_out) {
                tail.forget_dropped(id).await;
            }
        }
    }

    /// Only the first of a row is news: this log is sent as well.
    fn note(&self, error: Option<TailError>) {
        let is_new = self.ledger.set_fault(error.as_ref().map(TailError::sentence));
        if let Some(error) = error {
            tracing::debug!(%error, "the server's logs wait");
            if is_new {
                tracing::warn!(%error, "the server's logs wait to be sent");
            }
        }
    }

    /// Puts into the next report how deliveries go.
    fn report_deliveries(&mut self) {
        let deliveries = self.document().map(|document| Deliveries {
            revision: document.revision,
            failures: self.ledger.failures(),
        });
        if self.board.view().deliveries != deliveries {
            self.board.set_deliveries(deliveries);
            self.next_report = Instant::now() + self.pace.report;
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}

fn files(place: &Place) -> Files {
    let within = |path: &Path| path.strip_prefix(place.dir()).unwrap_or(path).to_owned();
    Files {
        server: place.dir().to_owned(),
        broker: within(&place.server_log()),
        output: within(&place.broker_output()),
        // No broker is started with such a log.
        gc: None,
        agent: within(&place.agent_log()),
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
