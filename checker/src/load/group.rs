//! A consumer group of one member that reads along what is committed.
//!
//! At the end it goes on until it has been given the closing record of every
//! partition.

use super::librdkafka::config;
use super::{Job, LoadError};
use crate::{Event, Text, record};
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::message::{BorrowedMessage, Message as _};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const WHO: &str = "the consumer group";
const LOOK: Duration = Duration::from_millis(100);
/// For the rest, once nothing more is written.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Group {
    /// Set when the closing records are written.
    last: Arc<AtomicBool>,
    /// Set when nobody waits any more.
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Group {
    pub fn start(job: &Job) -> Result<Self, LoadError> {
        let failed = |error: &dyn ToString| LoadError::Group(error.to_string());
        let consumer: BaseConsumer = config(&job.access)
            .set("group.id", format!("castellan-check-{}", job.run.id))
            .set("isolation.level", "read_committed")
            .set("auto.offset.reset", "earliest")
            .create()
            .map_err(|error| failed(&error))?;
        consumer.subscribe(&[&job.run.topic]).map_err(|error| failed(&error))?;
        let (last, over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let reader = Reader { job: job.clone(), closed: BTreeSet::new() };
        let flags = (Arc::clone(&last), Arc::clone(&over));
        let thread = std::thread::Builder::new()
            .name("group".into())
            .spawn(move || reader.read(&consumer, &flags.0, &flags.1))
            .map_err(|error| failed(&error))?;
        Ok(Self { last, over, thread })
    }

    /// Lets it read the rest, if its end can be known.
    pub async fn finish(self, closed: bool) {
        let flag = if closed { &self.last } else { &self.over };
        flag.store(true, Ordering::Relaxed);
        let _ = tokio::task::spawn_blocking(|| self.thread.join()).await;
    }
}

struct Reader {
    job: Job,
    /// Partitions that are read to their end.
    closed: BTreeSet<i32>,
}

impl Reader {
    fn read(mut self, consumer: &BaseConsumer, last: &AtomicBool, over: &AtomicBool) {
        let mut deadline = None;
        loop {
            match consumer.poll(LOOK) {
                Some(Ok(message)) => self.take(&message),
                Some(Err(error)) => self.job.trouble(WHO, &error),
                None => {}
            }
            if self.closed.len() == self.job.run.partitions.unsigned_abs() as usize {
                return self.job.recorder.record(Event::SeenAll { at: self.job.zero.elapsed() });
            }
            if last.load(Ordering::Relaxed) && deadline.is_none() {
                deadline = Some(Instant::now() + PATIENCE);
            }
            let late = deadline.is_some_and(|deadline| Instant::now() > deadline);
            // Nobody waits for a load that was dropped.
            let dropped = Arc::strong_count(&self.job.stop) == 1;
            if late || dropped || over.load(Ordering::Relaxed) {
                let error = format!("it came to the end of the partitions {:?} only", self.closed);
                return self.job.trouble(WHO, &error);
            }
        }
    }

    fn take(&mut self, message: &BorrowedMessage<'_>) {
        let (partition, offset) = (message.partition(), message.offset());
        match record::read(&self.job.run.id, message.payload().unwrap_or_default()) {
            Text::Record(id) => {
                let at = self.job.zero.elapsed();
                self.job.recorder.record(Event::Seen { id, partition, offset, at });
            }
            Text::Closing => {
                self.closed.insert(partition);
            }
            Text::Stranger => {}
        }
    }
}
