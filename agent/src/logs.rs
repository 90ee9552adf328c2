//! Sends the server's logs to where the instance's owner wants them.
//!
//! What the logs say goes through a bounded buffer on disk, from which each destination is sent
//! to at its own pace: one that is away or slow keeps nobody waiting, neither another one nor
//! the broker nor a report. Where they go and with which keys is learnt from the control plane
//! and kept in memory alone; until an agent that starts has learnt it, it goes on reading for
//! those that the buffer knows. An agent without destinations does nothing here at all.
//!
//! A batch that was sent and not noted as sent when the agent ended is sent again, in the same
//! order.

mod courier;
mod learn;
mod ledger;
mod pace;
mod sender;
mod senders;
mod shelf;

pub use ledger::{Counts, Ledger};

use crate::board::Board;
use crate::connection::Connection;
use crate::place::Place;
use courier::{Couriers, Shippers};
use follow::{Files, Limits};
use learn::{Learner, Learnt};
use model::{Clock, Entropy, IntegrationId};
use pace::Pace;
use sender::{Common, Share};
use senders::Senders;
use shelf::{Kept, Shelf, ShelfError};
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
    /// How deliveries go, also for others to see.
    pub ledger: Ledger,
    /// The last revision that was heard of where logs go.
    pub heard: watch::Receiver<Option<i64>>,
    /// That of the link, while it has one.
    pub connection: watch::Receiver<Option<Connection>>,
}

impl Logs {
    /// Never ends by itself.
    pub async fn run(self) {
        self.run_with(Box::new(Shippers::default()), Pace::LOGS, Limits::default()).await;
    }

    async fn run_with(self, couriers: Box<dyn Couriers>, pace: Pace, limits: Limits) {
        let Self { place, clock, entropy, board, ledger, heard, connection } = self;
        let (documents, seen) = watch::channel(None);
        let learner = Learner { heard, connection, documents };
        let share = Share::new();
        let common = Common { ledger: ledger.clone(), share, pace, clock: clock.clone(), entropy };
        let office = Office {
            opens: place.logs_spool().exists(),
            place,
            clock,
            board,
            ledger,
            pace,
            limits,
            senders: Senders::new(couriers, common),
            shelf: None,
            learnt: None,
            due: Instant::now(),
            next_care: Instant::now(),
            next_word: Instant::now(),
        };
        tokio::join!(learner.run(), office.run(seen));
    }
}

struct Office {
    place: Place,
    clock: Arc<dyn Clock>,
    board: Board,
    ledger: Ledger,
    pace: Pace,
    limits: Limits,
    senders: Senders,
    /// Whether there is to be a shelf.
    opens: bool,
    shelf: Option<Shelf>,
    learnt: Option<Learnt>,
    /// The next look at the logs.
    due: Instant,
    /// When it is looked after what could not be begun, or ended.
    next_care: Instant,
    /// Before then the control plane is told nothing new.
    next_word: Instant,
}

impl Office {
    async fn run(mut self, mut documents: watch::Receiver<Option<Learnt>>) {
        loop {
            tokio::select! {
                changed = documents.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.learnt = documents.borrow_and_update().clone();
                    self.obey().await;
                    self.tell();
                }
                () = until(self.opens.then_some(self.due)) => {
                    self.look().await;
                    if Instant::now() >= self.next_word {
                        self.tell();
                    }
                }
            }
        }
    }

    fn there(&self) -> Option<&LogIntegrations> {
        match &self.learnt {
            Some(Learnt::There(document)) => Some(document),
            _ => None,
        }
    }

    fn ids(&self) -> impl Iterator<Item = i64> {
        self.there().into_iter().flat_map(|document| &document.integrations).map(|it| it.id.0)
    }

    /// Has the shelf kept for those that the document names, and sends to them.
    async fn obey(&mut self) {
        self.next_care = Instant::now() + self.pace.again;
        match &self.learnt {
            None => return,
            Some(Learnt::There(_)) => self.opens = true,
            Some(Learnt::Nowhere) => self.senders.end(),
        }
        let Some(shelf) = self.open().await else { return };
        let set = shelf.set_readers(self.ids().collect()).await;
        self.note(set.err());
        match &self.learnt {
            Some(Learnt::There(document)) => self.senders.obey(document, &shelf),
            _ => (self.shelf, self.opens) = (None, false),
        }
    }

    /// The shelf, if there is to be one and it can be opened.
    async fn open(&mut self) -> Option<Shelf> {
        if self.opens && self.shelf.is_none() {
            let files = files(&self.place);
            match Shelf::open(self.place.logs_spool(), files, self.limits).await {
                Ok(shelf) => self.shelf = Some(shelf),
                Err(error) => self.note(Some(error)),
            }
        }
        self.shelf.clone()
    }

    async fn look(&mut self) {
        let now = Instant::now();
        if self.shelf.is_none() || now >= self.next_care {
            self.care().await;
        }
        let Some(shelf) = self.shelf.clone() else {
            self.due = now + self.pace.again;
            return;
        };
        let looked = shelf.turn(self.clock.now(), self.ids().collect()).await;
        let (has_more, fault) = match looked {
            Ok((turn, kept)) => {
                self.look_at(&shelf, kept).await;
                (turn.has_more, turn.fault.map(ShelfError::from))
            }
            Err(error) => (false, Some(error)),
        };
        self.note(fault);
        self.due = if has_more { now } else { now + self.pace.look };
    }

    /// What could not be begun before is begun now.
    async fn care(&mut self) {
        self.next_care = Instant::now() + self.pace.again;
        if self.learnt.is_some() {
            return self.obey().await;
        }
        let shelf = self.open().await;
        if let Some(shelf) = shelf
            && !shelf.has_readers().await
        {
            (self.shelf, self.opens) = (None, false);
        }
    }

    async fn look_at(&self, shelf: &Shelf, all: Vec<(i64, Kept)>) {
        let now = self.clock.elapsed();
        for (id, kept) in all {
            if self.ledger.look(IntegrationId(id), kept, now, self.pace.left_out) {
                shelf.forget_dropped(id).await;
            }
        }
    }

    /// Only the first of a row is news: this log is sent as well.
    fn note(&self, error: Option<ShelfError>) {
        let is_new = self.ledger.set_fault(error.as_ref().map(ShelfError::sentence));
        if let Some(error) = error {
            tracing::debug!(%error, "the server's logs wait");
            if is_new {
                tracing::warn!(%error, "the server's logs wait to be sent");
            }
        }
    }

    /// Has the next report say how deliveries go.
    fn tell(&mut self) {
        let deliveries = self.there().map(|document| Deliveries {
            revision: document.revision,
            failures: self.ledger.failures(),
        });
        if self.board.view().deliveries != deliveries {
            self.board.set_deliveries(deliveries);
            self.next_word = Instant::now() + self.pace.tell;
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
