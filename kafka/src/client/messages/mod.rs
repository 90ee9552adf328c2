//! A few messages of a topic: read as a consumer of committed data would, or
//! written with every replica's word for it.
//!
//! This is for looking and trying, not for moving data: what is read is bounded
//! in number, bytes and time.

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
    /// there is no such topic or partition.
    async fn read_messages(
        &self,
        cluster: &Cluster,
        what: &ReadMessages,
    ) -> Result<Option<Vec<Message>>, Error>;

    /// Writes messages. An error means that none of them was written; it is not
    /// safe to repeat otherwise. None if there is no such topic or partition.
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
    /// Of keys, values and headers.
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

impl Message {
    pub fn size(&self) -> usize {
        let of = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = self.headers.iter().map(|(name, value)| name.len() + of(value));
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
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteMessages {
    pub topic: String,
    pub messages: Vec<NewMessage>,
    pub at: Timestamp,
    /// Where those without key and partition begin to go round.
    pub turn: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewMessage {
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    /// Each name once.
    pub headers: Vec<(String, Option<Bytes>)>,
    pub partition: Option<i32>,
}

/// What became of each message, in the order they came.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    pub places: Vec<Result<(i32, i64), Unwritten>>,
}

/// Why a message is not known to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct Unwritten {
    pub error: Error,
    /// It may be in the log all the same.
    pub perhaps: bool,
}
