//! A server's logs, and destinations that do what a test says.

use super::ledger::Ledger;
use super::pace::Pace;
use super::sender::{Common, Sender, Share, Ship};
use super::shared_tail::SharedTail;
use super::shippers::ShipperFactory;
use crate::place::Place;
use async_trait::async_trait;
use follow::Limits;
use model::{IntegrationConfig, IntegrationId, LogEvent, Secret, SeededEntropy, SignedDuration};
use model::{SystemClock, Timestamp};
use ship::{Outcome, Trouble};
use std::collections::{BTreeSet, VecDeque};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;
use wire::agent::{LogIntegration, LogIntegrations};

pub const FAST: Pace = Pace {
    look: Duration::from_millis(2),
    more: Duration::from_millis(1),
    gather: Duration::from_millis(1),
    first_pause: Duration::from_millis(4),
    longest_pause: Duration::from_millis(16),
    refused: Duration::from_millis(100),
    again: Duration::from_millis(5),
    report: Duration::from_millis(1),
    left_out: Duration::from_millis(50),
};

/// A server that is followed.
pub struct Server {
    directory: TempDir,
    pub place: Place,
    pub tail: SharedTail,
    now: Timestamp,
    readers: BTreeSet<i64>,
    limits: Limits,
}

impl Server {
    pub async fn new(readers: impl IntoIterator<Item = i64>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        let (readers, limits) = (readers.into_iter().collect(), Limits::default());
        let tail = open(&place, limits, &readers).await;
        let now = "2026-11-19T12:00:00Z".parse().unwrap();
        Self { directory, place, tail, now, readers, limits }
    }

    /// As by the next process, after this one was killed.
    pub async fn restart(self) -> Self {
        let Self { directory, place, tail, now, readers, limits } = self;
        drop(tail);
        let tail = open(&place, limits, &readers).await;
        Self { directory, place, tail, now, readers, limits }
    }

    pub fn write(&self, numbers: Range<usize>) {
        write(&self.place, numbers);
    }

    /// Everything that was written, the last line too: it is whole when nothing follows it.
    pub async fn read(&mut self) {
        for _ in 0..2 {
            loop {
                let ids = self.readers.iter().copied().collect();
                let (turn, _) = self.tail.turn(self.now, ids).await.unwrap();
                assert!(turn.fault.is_none(), "{:?}", turn.fault);
                if !turn.has_more {
                    break;
                }
            }
            self.now += SignedDuration::from_secs(6);
        }
    }

    /// Begins to send, until it is dropped.
    pub fn send(&self, id: i64, destination: &Double, common: &Common) -> Sending {
        common.ledger.keep_only(&self.readers.iter().copied().map(IntegrationId).collect());
        let sender = Sender {
            id: IntegrationId(id),
            system: "splunk".into(),
            tail: self.tail.clone(),
            ship: Box::new(destination.clone()),
            common: common.clone(),
            failures: 0,
        };
        Sending(tokio::spawn(sender.run()).abort_handle())
    }
}

async fn open(place: &Place, limits: Limits, readers: &BTreeSet<i64>) -> SharedTail {
    let files = super::files(place);
    let tail = SharedTail::open(place.logs_spool(), files, limits).await.unwrap();
    tail.set_readers(readers.clone()).await.unwrap();
    tail
}

/// Has the broker log these numbers.
pub fn write(place: &Place, numbers: Range<usize>) {
    let mut log = OpenOptions::new().create(true).append(true).open(place.server_log()).unwrap();
    let line = |number| format!("2026-11-19T11:59:00.000Z INFO {number:04} (kafka.Test)\n");
    log.write_all(numbers.map(line).collect::<String>().as_bytes()).unwrap();
}

pub struct Sending(tokio::task::AbortHandle);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub fn common() -> Common {
    Common {
        ledger: Ledger::default(),
        share: Share::new(),
        pace: FAST,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SeededEntropy::new(1)),
    }
}

/// What a destination does with a batch. When there is no more of it, it takes everything.
#[derive(Clone, Debug)]
pub enum Does {
    /// So many of the first, and refuses so many of them for ever.
    Take {
        done: usize,
        dropped: usize,
    },
    /// The same, and the rest shall come later.
    Later {
        done: usize,
        after: Option<Duration>,
    },
    Refuse,
    Hang,
}

#[derive(Clone, Default)]
pub struct Double(Arc<Mutex<Seen>>);

#[derive(Default)]
pub struct Seen {
    pub does: VecDeque<Does>,
    /// What it does when there is nothing in the list.
    pub always: Option<Does>,
    /// When it was called, and with what.
    pub calls: Vec<(Instant, Vec<String>)>,
    pub taken: Vec<String>,
}

impl Double {
    pub fn that(does: impl IntoIterator<Item = Does>) -> Self {
        let double = Self::default();
        double.seen().does = does.into_iter().collect();
        double
    }

    pub fn always(does: Does) -> Self {
        let double = Self::default();
        double.seen().always = Some(does);
        double
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap()
    }

    pub fn taken(&self) -> Vec<String> {
        self.seen().taken.clone()
    }

    pub fn calls(&self) -> usize {
        self.seen().calls.len()
    }
}

#[async_trait]
impl Ship for Double {
    async fn send(&mut self, events: &[LogEvent], _: Timestamp) -> Outcome {
        let messages: Vec<String> = events.iter().map(|event| event.message.clone()).collect();
        let does = {
            let mut seen = self.seen();
            seen.calls.push((Instant::now(), messages.clone()));
            seen.does.pop_front().or_else(|| seen.always.clone())
        };
        let does = does.unwrap_or(Does::Take { done: messages.len(), dropped: 0 });
        let (done, dropped, trouble) = match does {
            Does::Take { done, dropped } => (done, dropped, None),
            Does::Later { done, after } => (done, 0, Some(Trouble::retry(after, "it is busy"))),
            Does::Refuse => (0, 0, Some(Trouble::refused("it does not accept the token"))),
            Does::Hang => std::future::pending().await,
        };
        self.seen().taken.extend_from_slice(&messages[dropped..done]);
        Outcome { done, dropped, trouble }
    }
}

pub fn numbers(numbers: Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("{number:04}")).collect()
}

/// A destination that is known by its token.
pub fn splunk(id: i64, token: &str) -> LogIntegration {
    let config = IntegrationConfig::from([
        ("host_port".to_owned(), Secret::new("http://127.0.0.1:1")),
        ("token".to_owned(), Secret::new(token)),
    ]);
    LogIntegration { id: IntegrationId(id), version: 1, system: "splunk".into(), config }
}

/// Destinations by their tokens, and every one that was made. A token that is empty can't be
/// sent to.
#[derive(Clone, Default)]
pub struct Doubles(Arc<Mutex<Vec<(i64, String, Double)>>>);

impl Doubles {
    pub fn made(&self) -> Vec<(i64, String)> {
        let made = self.0.lock().unwrap();
        made.iter().map(|(id, token, _)| (*id, token.clone())).collect()
    }

    /// The last that was made with a token.
    pub fn last_with(&self, token: &str) -> Double {
        let made = self.0.lock().unwrap();
        let found = made.iter().rev().find(|(_, it, _)| it == token);
        found.map(|(.., double)| double.clone()).unwrap_or_default()
    }
}

impl ShipperFactory for Doubles {
    fn shipper(
        &mut self,
        _: &LogIntegrations,
        integration: &LogIntegration,
    ) -> Result<Box<dyn Ship>, String> {
        let token = integration.config["token"].expose().to_owned();
        if token.is_empty() {
            return Err("it can't be sent to".into());
        }
        let double = if token == "hangs" { Double::always(Does::Hang) } else { Double::default() };
        let made = (integration.id.0, token, double.clone());
        self.0.lock().unwrap().push(made);
        Ok(Box::new(double))
    }
}
