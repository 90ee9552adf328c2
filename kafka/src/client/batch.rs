//! One batch of a log: what its head says, and its records one by one.
//!
//! The head is the codec's to read. The records are read here, because a
//! producer may put into them what the codec would reserve memory for, or would
//! not tell: a header twice, or one whose name is no text.

mod unpack;

use bytes::{Buf, Bytes};
use kafka_protocol::protocol::buf::ByteBuf;
use kafka_protocol::records::{BatchDecodeInfo, Compression, RecordBatchDecoder, TimestampType};
use std::ops::ControlFlow;
use unpack::unpack;

/// Base offset and length, which are before what the length counts.
const BEFORE_LENGTH: usize = 12;
const LAST_OFFSET_DELTA: usize = 23;
const LAST_TIMESTAMP: usize = 35;
const HEAD: usize = 61;
/// A batch has room for millions of headers without a name, and each of them takes
/// thirty times as much in memory.
const MOST_HEADERS: usize = 1 << 14;

pub(super) struct Batch {
    head: BatchDecodeInfo,
    pub last_offset: i64,
    last_timestamp: i64,
    packed: Bytes,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RawRecord {
    pub offset: i64,
    pub timestamp: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
    /// None if they are too many.
    pub headers: Option<Vec<(Bytes, Option<Bytes>)>>,
    /// Bytes of all of it.
    pub size: usize,
}

impl Batch {
    /// Takes the next batch, if the bytes hold a whole one: the last that a
    /// broker sends may be cut off.
    pub fn next(bytes: &mut Bytes) -> Result<Option<Self>, String> {
        let Some(length) = whole(bytes) else { return Ok(None) };
        let batch = bytes.split_to(length);
        let mut head = batch.clone();
        let heads = RecordBatchDecoder::decode_batch_info(&mut head);
        let mut heads = heads.map_err(|error| error.to_string())?;
        let head = heads.pop().ok_or("its format is from before Kafka 0.11")?;
        // The codec has read a whole head, so these are there.
        let delta = (&batch[LAST_OFFSET_DELTA..]).get_i32();
        Ok(Some(Self {
            last_offset: head.min_offset.saturating_add(delta.into()),
            last_timestamp: (&batch[LAST_TIMESTAMP..]).get_i64(),
            packed: batch.slice(HEAD..),
            head,
        }))
    }

    /// The producer and its epoch, if it was idempotent.
    pub fn producer(&self) -> Option<(i64, i16)> {
        let BatchDecodeInfo { producer_id, producer_epoch, .. } = self.head;
        (producer_id >= 0).then_some((producer_id, producer_epoch))
    }

    /// The producer, if it wrote this in a transaction.
    pub fn transaction(&self) -> Option<i64> {
        self.head.transactional.then_some(self.head.producer_id)
    }

    /// Whether Kafka wrote this for itself.
    pub fn is_mark(&self) -> bool {
        self.head.control
    }

    /// Visits its records in order until it is told to stop. Whoever keeps a part of
    /// one keeps the whole batch in memory. How many bytes it was unpacked to; none
    /// if it was not packed.
    pub fn visit(
        &self,
        mut visit: impl FnMut(RawRecord) -> ControlFlow<()>,
    ) -> Result<usize, String> {
        let mut bytes = unpack(self.packed.clone(), self.head.compression)?;
        let packed = self.head.compression != Compression::None;
        let unpacked = if packed { bytes.len() } else { 0 };
        for _ in 0..self.head.record_count {
            let record = self.record(&mut bytes).map_err(|error| error.to_string())?;
            if visit(record).is_break() {
                break;
            }
        }
        Ok(unpacked)
    }

    fn record(&self, bytes: &mut Bytes) -> Result<RawRecord, Wrong> {
        let bytes = &mut sized(bytes)?.ok_or(Wrong)?;
        let size = bytes.len();
        bytes.try_get_i8().map_err(|_| Wrong)?;
        let since_first = number(bytes)?;
        let delta = number(bytes)?;
        let timestamp = match self.head.timestamp_type {
            TimestampType::Creation => self.head.min_timestamp.saturating_add(since_first),
            TimestampType::LogAppend => self.last_timestamp,
        };
        let (key, value) = (sized(bytes)?, sized(bytes)?);
        let many = number(bytes)?;
        let mut headers = Vec::new();
        for _ in 0..many {
            let header = (sized(bytes)?.ok_or(Wrong)?, sized(bytes)?);
            // One more than may be shows that they are too many.
            if headers.len() <= MOST_HEADERS {
                headers.push(header);
            }
        }
        let headers = (headers.len() <= MOST_HEADERS).then_some(headers);
        let offset = self.head.min_offset.saturating_add(delta);
        Ok(RawRecord { offset, timestamp, key, value, headers, size })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a record is not laid out as it should be")]
struct Wrong;

/// A number as records have them: seven bits a byte, the lowest first, the sign
/// in the lowest bit.
fn number(bytes: &mut Bytes) -> Result<i64, Wrong> {
    let mut folded = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.try_get_u8().map_err(|_| Wrong)?;
        folded |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed());
        }
    }
    Err(Wrong)
}

/// A length and so many bytes; a length of -1 stands for none.
fn sized(bytes: &mut Bytes) -> Result<Option<Bytes>, Wrong> {
    let length = number(bytes)?;
    if length == -1 {
        return Ok(None);
    }
    let length = usize::try_from(length).map_err(|_| Wrong)?;
    bytes.try_get_bytes(length).map(Some).map_err(|_| Wrong)
}

/// How long the first batch is, if all of it is there.
fn whole(mut bytes: &[u8]) -> Option<usize> {
    if bytes.len() < HEAD {
        return None;
    }
    let there = bytes.len();
    bytes.advance(size_of::<i64>());
    let length = usize::try_from(bytes.get_i32()).ok()?.checked_add(BEFORE_LENGTH)?;
    (HEAD..=there).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests;
