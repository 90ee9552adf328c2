//! A few messages of a topic: read as a consumer of committed data would, or
//! written with every replica's word for it.
//!
//! This is for looking and trying, not for moving data: what is read is bounded
//! in number, bytes and time.

mod budget;
mod partitioner;
mod placing;
mod read;
mod reading;
mod write;

pub use placing::{NotPlaced, place};
pub(crate) use reading::merge;

use super::{Cluster, Error, TopicPartition};
use async_trait::async_trait;
use bytes::Bytes;
use model::Timestamp;
use std::time::Duration;

#[async_trait]
pub trait Messages {
    /// Messages of committed transactions and of none, the oldest first. None if
    /// there is no such topic or partition. That nobody leads one of the partitions, or
    /// its leader does not answer, is an error that passes.
    async fn read_messages(
        &self,
        cluster: &Cluster,
        what: &ReadMessages,
    ) -> Result<Option<Vec<Message>>, Error>;

    /// A producer that has written nothing yet.
    async fn new_producer(&self, cluster: &Cluster) -> Result<Producer, Error>;

    /// Writes messages. An error means that none of them was written now. Otherwise some
    /// may be there though nobody says so: with a producer the same ones may be written
    /// again, all that may be in one partition together, and are there once. None if
    /// there is no such topic or partition.
    async fn write_messages(
        &self,
        cluster: &Cluster,
        what: &WriteMessages,
    ) -> Result<Option<Written>, Error>;
}

/// Where to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    Earliest,
    /// In every partition that is read.
    Offset(i64),
    /// The first message of that time or later.
    Time(Timestamp),
    /// So that the last one read is the newest.
    Newest,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadMessages {
    pub topic: String,
    /// None: all of them.
    pub partition: Option<i32>,
    pub from: From,
    pub count: usize,
    /// Of all messages together, as [`Message::size`] has it.
    pub bytes: usize,
    pub within: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub at: TopicPartition,
    pub offset: i64,
    /// In milliseconds since 1970.
    pub timestamp: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    pub headers: Vec<(Bytes, Option<Bytes>)>,
    /// How large it was, if it was too large to be told.
    pub omitted: Option<usize>,
}

/// What a header takes beside its bytes, of which it may have none.
const HEADER: usize = 64;

impl Message {
    /// What it takes to hold it and to tell it.
    pub fn size(&self) -> usize {
        let of = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = self.headers.iter().map(|(name, value)| HEADER + name.len() + of(value));
        of(&self.key) + of(&self.value) + headers.sum::<usize>()
    }

    /// Without its contents, if they are larger than all that may be told.
    #[must_use]
    pub(crate) fn within(self, bytes: usize) -> Self {
        let size = self.size();
        if size <= bytes {
            return self;
        }
        Self { key: None, value: None, headers: vec![], omitted: Some(size), ..self }
    }

    /// With bytes of its own: what it was cut from may be a thousand times as large,
    /// and would stay in memory as long as the message.
    #[must_use]
    fn detached(mut self) -> Self {
        let headers = self.headers.iter_mut();
        let headers = headers.flat_map(|(name, value)| std::iter::once(name).chain(value));
        for bytes in self.key.iter_mut().chain(&mut self.value).chain(headers) {
            *bytes = Bytes::copy_from_slice(bytes);
        }
        self
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteMessages {
    pub topic: String,
    pub messages: Vec<NewMessage>,
    pub at: Timestamp,
    /// Where those without key and partition begin to go round.
    pub turn: usize,
    /// Whatever has no answer by then is told as such.
    pub within: Duration,
    /// For these alone: it has no second batch for a partition.
    pub producer: Option<Producer>,
}

/// Whose messages Kafka tells apart by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Producer {
    pub id: i64,
    pub epoch: i16,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewMessage {
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    /// Each name once.
    pub headers: Vec<(String, Option<Bytes>)>,
    pub partition: Option<i32>,
}

/// Which partition each message is for, and its offset there, in the order they came.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    pub places: Vec<(i32, Result<i64, Unwritten>)>,
}

/// Why a message is not known to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct Unwritten {
    pub error: Error,
    /// It may be in the log all the same.
    pub perhaps: bool,
}
