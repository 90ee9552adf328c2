//! Librdkafka's clients, each on a thread of its own.

use super::{Job, LoadError, idempotent, transactional};
use crate::access::librdkafka_settings;
use crate::history::{Recorder, Zero};
use crate::{Access, Client, Event, Mode, RecordId, record};
use rdkafka::ClientConfig;
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Message as _};
use rdkafka::producer::{BaseRecord, ProducerContext, ThreadedProducer};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait for room among what is to be delivered.
const ROOM: Duration = Duration::from_millis(10);

/// Kafka's own default. So long a coordinator waits for what it has written itself, and
/// whoever ends a transaction waits with it: a client that has as much time for a
/// delivery would never see it tried again.
const TRANSACTION: Duration = Duration::from_mins(1);

/// A thread that writes through one producer at a time.
pub struct Writer {
    number: usize,
    go: Option<mpsc::Sender<()>>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// On return its producer works.
    pub async fn start(job: &Job, number: usize, client: Client) -> Result<Self, LoadError> {
        let failed = |reason: String| LoadError::Client { client: number, what: client, reason };
        let (go, gone) = mpsc::channel();
        let (ready, told) = oneshot::channel();
        let job = job.clone();
        let thread = std::thread::Builder::new()
            .name(format!("client {number}"))
            .spawn(move || match client.mode {
                Mode::Idempotent => idempotent::run(&job, number, ready, &gone),
                Mode::Transactional => transactional::run(&job, number, ready, &gone),
            })
            .map_err(|error| failed(error.to_string()))?;
        let told = told.await.unwrap_or_else(|_| Err("it ended at once".into()));
        told.map_err(failed)?;
        Ok(Self { number, go: Some(go), thread })
    }

    pub fn go(&mut self) {
        if let Some(go) = self.go.take() {
            let _ = go.send(());
        }
    }

    /// Waits for its end, which somebody has asked for. Whether it went on until now.
    pub async fn join(self, job: &Job) -> bool {
        let joined = tokio::task::spawn_blocking(|| self.thread.join()).await;
        let is_orderly = matches!(joined, Ok(Ok(())));
        if !is_orderly {
            job.trouble(format!("client {}", self.number), &"it ended before its time");
        }
        is_orderly
    }
}

/// Records what becomes of each record.
pub struct Deliveries {
    recorder: Recorder,
    zero: Zero,
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        tracing::debug!(?level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<RecordId>;

    fn delivery(&self, result: &DeliveryResult<'_>, id: Box<RecordId>) {
        let (id, at) = (*id, self.zero.elapsed());
        self.recorder.record(match result {
            Ok(message) => {
                Event::Acked { id, offset: Some(message.offset()).filter(|it| *it >= 0), at }
            }
            Err((error, _)) => Event::Failed { id, at, error: error.to_string() },
        });
    }
}

pub type Producer = ThreadedProducer<Deliveries>;

/// Settings that every client of librdkafka has here.
pub fn config(access: &Access) -> ClientConfig {
    let mut config = ClientConfig::new();
    for (name, value) in librdkafka_settings(access) {
        config.set(name, value);
    }
    config.set("client.id", "castellan-check");
    config
}

/// A producer that loses nothing it is told of: idempotent, so that every
/// replica in sync acknowledges and nothing is written twice.
pub fn producer(job: &Job, transactional_id: Option<&str>) -> Result<Producer, String> {
    let mut config = config(&job.access);
    let timeout = match transactional_id {
        Some(_) => job.delivery_timeout.min(TRANSACTION),
        None => job.delivery_timeout,
    };
    let timeout = timeout.as_millis().to_string();
    config.set("enable.idempotence", "true").set("acks", "all");
    config.set("message.timeout.ms", &timeout);
    // With several in flight librdkafka may take a new epoch when a leader moves,
    // and write what was written already (its issue 4953). That is no cluster's
    // doing, and would hide one that is.
    config.set("max.in.flight.requests.per.connection", "1");
    if let Some(id) = transactional_id {
        config.set("transactional.id", id);
        // Librdkafka refuses a delivery that may take longer.
        config.set("transaction.timeout.ms", &timeout);
    }
    let context = Deliveries { recorder: job.recorder.clone(), zero: job.zero.clone() };
    config.create_with_context(context).map_err(|error| error.to_string())
}

/// Numbers records and hands them to whatever producer there is.
pub struct Numbering<'a> {
    pub job: &'a Job,
    pub client: usize,
    pub next: u64,
}

impl Numbering<'_> {
    /// Sends the next record; the context tells what becomes of it.
    pub fn send(&mut self, producer: &Producer, transaction: Option<u64>) {
        let Job { run, recorder, bytes, zero, .. } = self.job;
        let id = RecordId { client: self.client, number: self.next };
        self.next += 1;
        let partition = partition_of(id, run.partitions);
        let value = record::value(&run.id, id, *bytes);
        recorder.record(Event::Sent { id, partition, transaction, at: zero.elapsed() });
        let mut record =
            BaseRecord::<(), str, Box<RecordId>>::with_opaque_to(&run.topic, Box::new(id))
                .partition(partition)
                .payload(&value);
        loop {
            let error = match producer.send(record) {
                Ok(()) => return,
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), again)) => {
                    std::thread::sleep(ROOM);
                    record = again;
                    continue;
                }
                Err((error, _)) => error.to_string(),
            };
            let at = zero.elapsed();
            return recorder.record(Event::Failed { id, at, error });
        }
    }
}

/// Every client writes to every partition in turn.
pub fn partition_of(id: RecordId, partitions: i32) -> i32 {
    let turn = id.number.wrapping_add(id.client as u64);
    i32::try_from(turn % u64::from(partitions.unsigned_abs())).expect("it is less than an i32")
}
