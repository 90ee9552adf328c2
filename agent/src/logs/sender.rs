//! Sends to one destination: reads a batch, sends it, notes what is done, and waits until the next
//! attempt is due.
//!
//! Each destination has a task of its own, so one that hangs delays no other. The task holds one
//! batch, and none while it waits: what was not done is read from the disk again.

use super::ledger::Ledger;
use super::pace::Pace;
use super::shared_tail::{SharedTail, TailError};
use async_trait::async_trait;
use follow::Batch;
use model::{Clock, Entropy, IntegrationId, LogEvent, Timestamp};
use ship::{Outcome, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// Sends to one destination.
#[async_trait]
pub trait Ship: Send {
    /// In their order. It has patience of its own and ends for certain.
    async fn send(&mut self, events: &[LogEvent], now: Timestamp) -> Outcome;
}

/// Bytes of events that all destinations together hold in memory.
const MOST_TOGETHER: usize = 4 << 20;
/// Of one of them.
const MOST: usize = 512 << 10;
const LEAST: usize = 32 << 10;

/// How large a batch may be, which follows how many destinations there are.
#[derive(Clone)]
pub struct Share(Arc<AtomicUsize>);

impl Share {
    pub fn new() -> Self {
        Self(Arc::new(AtomicUsize::new(MOST)))
    }

    pub fn set_destinations(&self, count: usize) {
        self.0.store((MOST_TOGETHER / count.max(1)).clamp(LEAST, MOST), Ordering::Relaxed);
    }

    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What senders have in common.
#[derive(Clone)]
pub struct Common {
    pub ledger: Ledger,
    pub share: Share,
    pub pace: Pace,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

pub struct Sender {
    pub id: IntegrationId,
    /// What it is called where people see it.
    pub system: String,
    pub tail: SharedTail,
    pub ship: Box<dyn Ship>,
    pub common: Common,
    /// In a row.
    pub failures: u32,
}

enum Next {
    /// There is nothing to send.
    News,
    /// There is more.
    Now,
    After(Duration),
}

impl Sender {
    /// Ends only when logs are followed no more.
    pub async fn run(mut self) {
        let mut news = self.tail.news();
        loop {
            // Before the look: events that come after it change the mark.
            news.mark_unchanged();
            match self.send_batch().await {
                Next::Now => {}
                Next::After(pause) => sleep(pause).await,
                Next::News => {
                    if news.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn send_batch(&mut self) -> Next {
        let batch = match self.tail.read(self.id.0, self.common.share.bytes()).await {
            Ok(batch) => batch,
            Err(error) => return self.has_none(&error),
        };
        if batch.events.is_empty() {
            self.works();
            return Next::News;
        }
        let outcome = self.ship.send(&batch.events, self.common.clock.now()).await;
        self.take(&batch, outcome).await
    }

    fn has_none(&mut self, error: &TailError) -> Next {
        tracing::debug!(integration = %self.id, %error, "no log events could be read");
        self.fails(Verdict::Retry { after: None }, error.sentence())
    }

    async fn take(&mut self, batch: &Batch, outcome: Outcome) -> Next {
        let all = batch.events.len();
        let done = outcome.done.min(all);
        let refused = outcome.dropped.min(done) as u64;
        if done > 0 {
            self.failures = 0;
            self.common.ledger.count_sent(done as u64 - refused);
        }
        let left = self.tail.ack(self.id.0, batch.after(done), refused).await;
        if let Some(trouble) = outcome.trouble {
            return self.fails(trouble.verdict, &trouble.to_string());
        }
        let left = match left {
            Ok(left) => left,
            Err(error) => return self.has_none(&error),
        };
        self.works();
        match (left.behind, done) {
            (0, _) => Next::After(self.common.pace.gather),
            // Nothing was in the way, and nothing was done.
            (_, 0) => Next::After(self.common.pace.again),
            _ => Next::Now,
        }
    }

    fn works(&mut self) {
        self.failures = 0;
        self.common.ledger.works(self.id);
    }

    /// The agent's log is sent as well: it has a line when deliveries begin to fail and none
    /// when they work again, so that a delivery that fails and works by turns is not kept going
    /// by lines about it.
    fn fails(&mut self, verdict: Verdict, sentence: &str) -> Next {
        self.failures = self.failures.saturating_add(1);
        let pause = self.common.pace.pause(verdict, self.failures, &*self.common.entropy);
        tracing::debug!(integration = %self.id, why = %sentence, ?pause, "logs were not sent");
        let (integration, system) = (self.id, &self.system);
        if self.common.ledger.fails(self.id, sentence.to_owned()) {
            tracing::warn!(%integration, %system, why = %sentence, "logs are not taken and wait");
        }
        Next::After(pause)
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
