//! Sending messages until each is in its log, is refused for good, or time is up.
//!
//! Whatever is sent for the first time has a producer of its own. What Kafka surely did
//! not take is sent as if it were new. What it may have taken is sent again as it was, in
//! the same producer's name and to the same partition, so that Kafka can tell whether it
//! is there already. It is not where no producer could be had, or it could be there twice,
//! nor where sending it again would change nothing.

use super::fate::{Again, Fate, outcome};
use crate::Result;
use crate::resources::Cluster;
use futures::future::join_all;
use kafka::client::messages::{NewMessage, Producer, WriteMessages, Written};
use kafka::client::{Admin, Error as KafkaError, Remedy, TopicPartition};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

type Answer<T> = std::result::Result<T, KafkaError>;

/// Of the time there is, until messages are written without a producer.
const FIFTH: u32 = 5;
/// A broker has no producers to give at first, and has asked for some by then.
const SOON: Duration = Duration::from_millis(50);

/// Partition and offset of each message, in the order they came. It goes on until the
/// deadline, but for as long as the messages are to have at least.
pub(super) async fn send(cluster: &Cluster<'_>, what: &WriteMessages) -> Result<Vec<(i32, i64)>> {
    let sending = &Sending::new(what, cluster.deadline());
    let asked = cluster.ask(|admin, at| sending.round(admin, at)).await;
    outcome(asked, &sending.fates())
}

struct Sending<'a> {
    what: &'a WriteMessages,
    until: Instant,
    fates: Mutex<Vec<Fate>>,
}

/// The number of a message that is sent now, and where it may be already.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Open {
    number: usize,
    again: Option<Again>,
}

impl Open {
    /// After Kafka did not take it now: where it may be already it still may.
    fn fate(self, error: &KafkaError) -> Fate {
        match self.again {
            None => Fate::Not(error.clone()),
            before => Fate::Perhaps(error.clone(), before),
        }
    }

    /// After a broker knew of no such place. Where it may be already, that one may only not
    /// have heard of the place yet.
    fn gone(self, topic: &str) -> Fate {
        let Some(again) = self.again else { return Fate::Gone };
        self.fate(&KafkaError::no_leader(&TopicPartition::new(topic, again.partition)))
    }
}

impl<'a> Sending<'a> {
    fn new(what: &'a WriteMessages, deadline: Instant) -> Self {
        let fates = Mutex::new(vec![Fate::New; what.messages.len()]);
        Self { what, until: deadline.max(Instant::now() + what.within), fates }
    }

    fn fates(&self) -> MutexGuard<'_, Vec<Fate>> {
        self.fates.lock().expect("no holder of this lock panics")
    }

    /// Sends what may be sent. An error that passes means that some of it may be
    /// sent once more.
    async fn round(&self, admin: &dyn Admin, at: &kafka::client::Cluster) -> Answer<()> {
        let each = self.begin().into_iter().map(async |(producer, open)| {
            let producer = match producer {
                None => self.new_producer(admin, at).await,
                sent_before => sent_before,
            };
            let written = admin.messages().write_messages(at, &self.part(producer, &open)).await;
            self.end(producer, &open, written)
        });
        let ended: Vec<Answer<()>> = join_all(each).await;
        let errors = || ended.iter().filter_map(|ended| ended.as_ref().err());
        let passing = errors().find(|error| error.remedy() == Remedy::Retry);
        passing.or_else(|| errors().next()).map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Those that are sent now, by the producer they had before.
    fn begin(&self) -> BTreeMap<Option<Producer>, Vec<Open>> {
        let mut parts: BTreeMap<Option<Producer>, Vec<Open>> = BTreeMap::new();
        for (number, fate) in self.fates().iter_mut().enumerate() {
            if fate.may_be_sent() {
                let again = fate.again();
                *fate = Fate::Sent;
                let producer = again.map(|again| again.producer);
                parts.entry(producer).or_default().push(Open { number, again });
            }
        }
        parts
    }

    /// None where no broker gives one for a while: messages can be written without.
    async fn new_producer(
        &self,
        admin: &dyn Admin,
        at: &kafka::client::Cluster,
    ) -> Option<Producer> {
        let now = Instant::now();
        let until = now + self.until.saturating_duration_since(now) / FIFTH;
        while let Ok(made) = timeout_at(until, admin.messages().new_producer(at)).await {
            match made {
                Ok(producer) => return Some(producer),
                Err(error) if error.remedy() == Remedy::Retry => sleep(SOON).await,
                Err(error) => {
                    tracing::debug!(%error, "writing messages without a producer");
                    return None;
                }
            }
        }
        None
    }

    fn part(&self, producer: Option<Producer>, open: &[Open]) -> WriteMessages {
        let message = |open: &Open| {
            let message = self.what.messages[open.number].clone();
            let partition = open.again.map(|again| again.partition).or(message.partition);
            NewMessage { partition, ..message }
        };
        WriteMessages {
            topic: self.what.topic.clone(),
            messages: open.iter().map(message).collect(),
            at: self.what.at,
            turn: self.what.turn,
            within: self.until.saturating_duration_since(Instant::now()),
            producer,
        }
    }

    fn end(
        &self,
        producer: Option<Producer>,
        open: &[Open],
        written: Answer<Option<Written>>,
    ) -> Answer<()> {
        let found: Vec<Fate> = match &written {
            Err(error) => open.iter().map(|it| it.fate(error)).collect(),
            Ok(None) => open.iter().map(|it| it.gone(&self.what.topic)).collect(),
            Ok(Some(Written { places })) => {
                let each = open.iter().zip(places).map(|(open, (partition, offset))| {
                    let again = producer.map(|producer| Again { producer, partition: *partition });
                    match offset {
                        Ok(offset) => Fate::Written(*partition, *offset),
                        Err(it) if it.perhaps => Fate::Perhaps(it.error.clone(), again),
                        Err(it) => open.fate(&it.error),
                    }
                });
                each.collect()
            }
        };
        let again = found.iter().find_map(Fate::passing).cloned();
        let mut fates = self.fates();
        for (open, fate) in open.iter().zip(found) {
            fates[open.number] = fate;
        }
        drop(fates);
        written?;
        again.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests;
