//! Librdkafka in transactions: about ten a second, and every fourth is aborted
//! on purpose.

use super::Job;
use super::librdkafka::{Numbering, Producer, producer};
use super::pace::Pace;
use crate::Event;
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::producer::Producer as _;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const HELLO: Duration = Duration::from_secs(30);
/// One try at ending a transaction; it may be tried again.
const TRY: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);
/// Transactions in a second, if there are records enough.
const PER_SECOND: f64 = 10.0;
const ABORT_EVERY: u64 = 4;

/// What became of a transaction.
enum End {
    Committed,
    Aborted,
    /// The producer can't say, and is of no more use.
    Unsure(String),
}

pub fn run(
    job: &Job,
    client: usize,
    ready: oneshot::Sender<Result<(), String>>,
    go: &Receiver<()>,
) {
    // The id of a transactional producer is its own in every run.
    let id = format!("castellan-check-{}-{client}", job.run.id);
    let begin = || -> Result<Producer, String> {
        let producer = producer(job, Some(&id))?;
        producer.init_transactions(HELLO).map_err(|error| error.to_string())?;
        Ok(producer)
    };
    let mut made = begin();
    let _ = ready.send(made.as_ref().map(drop).map_err(Clone::clone));
    if go.recv().is_err() {
        return;
    }
    let numbering = Numbering { job, client, next: 0 };
    let mut writer = Transactions { job, numbering, pace: Pace::new(job.rate), next: 0 };
    while !job.is_over() {
        match made {
            Ok(producer) => writer.write(&producer),
            Err(error) => {
                job.trouble(format!("client {client}"), &error);
                std::thread::sleep(PAUSE);
            }
        }
        made = begin();
    }
}

struct Transactions<'a> {
    job: &'a Job,
    numbering: Numbering<'a>,
    pace: Pace,
    next: u64,
}

impl Transactions<'_> {
    /// One transaction after another, until the end or until the producer is of
    /// no more use.
    fn write(&mut self, producer: &Producer) {
        while !self.job.is_over() {
            let end = self.one(producer);
            let (client, transaction) = (self.numbering.client, self.next);
            let at = self.job.zero.elapsed();
            self.next += 1;
            self.pace.forgive();
            let (event, usable) = match end {
                End::Committed => (Event::Committed { client, transaction, at }, true),
                End::Aborted => (Event::Aborted { client, transaction, at }, true),
                End::Unsure(error) => (Event::Unsure { client, transaction, at, error }, false),
            };
            self.job.recorder.record(event);
            if !usable {
                return;
            }
        }
    }

    fn one(&mut self, producer: &Producer) -> End {
        if let Err(error) = producer.begin_transaction() {
            return End::Unsure(error.to_string());
        }
        for _ in 0..records(self.job.rate) {
            self.pace.wait();
            self.numbering.send(producer, Some(self.next));
        }
        let deadline = Instant::now() + self.job.delivery_timeout;
        // Aborted on purpose is what was written, not what never got there.
        if let Err(error) = producer.flush(self.job.delivery_timeout) {
            return self.abort(producer, deadline, &error);
        }
        if self.next % ABORT_EVERY == ABORT_EVERY - 1 {
            return match until(deadline, || producer.abort_transaction(TRY)) {
                Ok(()) => End::Aborted,
                Err(error) => End::Unsure(error.to_string()),
            };
        }
        match until(deadline, || producer.commit_transaction(TRY)) {
            Ok(()) => End::Committed,
            Err(error) => self.abort(producer, deadline, &error),
        }
    }

    /// A transaction that can't be committed, if that is sure.
    fn abort(&self, producer: &Producer, deadline: Instant, why: &KafkaError) -> End {
        if !requires_abort(why) {
            return End::Unsure(why.to_string());
        }
        self.job.trouble(format!("client {}", self.numbering.client), why);
        match until(deadline + TRY, || producer.abort_transaction(TRY)) {
            Ok(()) => End::Aborted,
            Err(error) => End::Unsure(error.to_string()),
        }
    }
}

/// So many records are in a transaction.
fn records(rate: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "a rate is a small number")]
    #[expect(clippy::cast_sign_loss, reason = "a rate is positive")]
    let records = (rate / PER_SECOND).round() as u32;
    records.max(1)
}

/// Tries again what librdkafka says may be tried again.
fn until(deadline: Instant, step: impl Fn() -> KafkaResult<()>) -> KafkaResult<()> {
    loop {
        match step() {
            Err(KafkaError::Transaction(error))
                if error.is_retriable() && Instant::now() < deadline =>
            {
                std::thread::sleep(PAUSE);
            }
            Err(KafkaError::Flush(_)) if Instant::now() < deadline => {}
            done => return done,
        }
    }
}

fn requires_abort(error: &KafkaError) -> bool {
    matches!(error, KafkaError::Transaction(error) if error.txn_requires_abort())
}
