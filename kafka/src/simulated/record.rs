//! A record of a simulated log.

use crate::client::messages::{NewMessage, Producer};
use bytes::Bytes;
use model::Timestamp;

/// What a write was.
#[derive(Clone, Debug)]
pub(super) struct SimRecord {
    pub timestamp: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    pub headers: Vec<(Bytes, Option<Bytes>)>,
    /// The producer that can send it again, and its number there.
    pub by: Option<(Producer, usize)>,
}

impl SimRecord {
    /// Of a producer that has nothing to say.
    pub fn plain(now: Timestamp) -> Self {
        let value = Some(Bytes::from_static(b"one"));
        Self { timestamp: now.as_millisecond(), key: None, value, headers: vec![], by: None }
    }

    pub fn from_message(
        message: &NewMessage,
        at: Timestamp,
        by: Option<(Producer, usize)>,
    ) -> Self {
        let header = |(name, value): &(String, Option<Bytes>)| (name.clone().into(), value.clone());
        Self {
            timestamp: at.as_millisecond(),
            key: message.key.clone(),
            value: message.value.clone(),
            headers: message.headers.iter().map(header).collect(),
            by,
        }
    }
}
