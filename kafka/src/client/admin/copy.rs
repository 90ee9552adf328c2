//! One broker's own copy of a partition: Fetch, and ListOffsets for where it
//! begins.
//!
//! Both are answered by whoever is asked, leader or follower: a follower serves
//! Fetch from version 11 on, and ListOffsets to who asks as a debugger does. A
//! copy is told as far as that broker knows it to be safe, its high watermark.

use super::topic_name;
use crate::client::batch::{Batch, RawRecord};
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use bytes::Bytes;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, FetchRequest, ListOffsetsRequest};
use std::ops::ControlFlow;

/// A debugger, who may ask a follower.
const DEBUGGER: BrokerId = BrokerId(-2);
const EARLIEST: i64 = -2;
/// How long a broker waits for more at the end of its copy.
const WAIT_MS: i32 = 100;
const AT_MOST_BYTES: i32 = 4 << 20;

/// The first offset of the copy on the broker that is asked.
pub struct CopyStart<'a> {
    pub topic: &'a str,
    pub partition: i32,
}

impl Call for CopyStart<'_> {
    type Answer = i64;

    async fn run(&self, connection: &mut Connection) -> Result<i64, Error> {
        let partition = ListOffsetsPartition::default()
            .with_partition_index(self.partition)
            .with_timestamp(EARLIEST);
        let topic = ListOffsetsTopic::default()
            .with_name(topic_name(self.topic))
            .with_partitions(vec![partition]);
        let request =
            ListOffsetsRequest::default().with_replica_id(DEBUGGER).with_topics(vec![topic]);
        let answer = connection.call(&request).await?;
        let mut start = 0;
        for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
            check("ListOffsets", &subject(self.topic, self.partition), partition.error_code, None)?;
            start = partition.offset;
        }
        Ok(start)
    }
}

/// A stretch of the copy on the broker that is asked, from an offset on.
pub struct FetchCopy<'a> {
    pub topic: &'a str,
    pub partition: i32,
    pub offset: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Everything below is on every replica that was in sync.
    pub high_watermark: i64,
    /// In the order of the log; empty at its end.
    pub records: Vec<CopiedRecord>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopiedRecord {
    pub offset: i64,
    /// None if its producer was not idempotent.
    pub producer: Option<(i64, i16)>,
    pub transactional: bool,
    pub contents: Contents,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    Data(Option<Bytes>),
    /// The producer's transaction ends here, and what it wrote counts.
    Commit,
    /// The producer's transaction ends here, and what it wrote does not count.
    Abort,
    /// A mark of Kafka's own with another meaning.
    OtherMark,
}

impl Call for FetchCopy<'_> {
    type Answer = Copied;

    async fn run(&self, connection: &mut Connection) -> Result<Copied, Error> {
        let answer = connection.call(&self.request()).await?;
        let subject = subject(self.topic, self.partition);
        check("Fetch", &subject, answer.error_code, None)?;
        let mut copied = Copied { high_watermark: -1, records: Vec::new() };
        for partition in answer.responses.into_iter().flat_map(|topic| topic.partitions) {
            check("Fetch", &subject, partition.error_code, None)?;
            copied.high_watermark = partition.high_watermark;
            copied.records = self.records(partition.records.unwrap_or_default(), connection)?;
        }
        Ok(copied)
    }
}

impl FetchCopy<'_> {
    fn request(&self) -> FetchRequest {
        let partition = FetchPartition::default()
            .with_partition(self.partition)
            .with_fetch_offset(self.offset)
            .with_partition_max_bytes(AT_MOST_BYTES);
        let topic = FetchTopic::default()
            .with_topic(topic_name(self.topic))
            .with_partitions(vec![partition]);
        FetchRequest::default()
            .with_max_wait_ms(WAIT_MS)
            .with_min_bytes(1)
            .with_max_bytes(AT_MOST_BYTES)
            .with_topics(vec![topic])
    }

    /// Whole batches: the last one may be cut off, and the first one may begin
    /// before the offset that was asked for.
    fn records(&self, mut bytes: Bytes, asked: &Connection) -> Result<Vec<CopiedRecord>, Error> {
        let unreadable = |reason| asked.malformed::<FetchRequest>(reason);
        let mut records = Vec::new();
        while let Some(batch) = Batch::next(&mut bytes).map_err(unreadable)? {
            let keep = |record: RawRecord| {
                if record.offset >= self.offset {
                    records.push(copied(&batch, record));
                }
                ControlFlow::Continue(())
            };
            batch.visit(keep).map_err(unreadable)?;
        }
        Ok(records)
    }
}

fn copied(batch: &Batch, record: RawRecord) -> CopiedRecord {
    let contents =
        if batch.is_mark() { mark(record.key.as_deref()) } else { Contents::Data(record.value) };
    CopiedRecord {
        offset: record.offset,
        producer: batch.producer(),
        transactional: batch.transaction().is_some(),
        contents,
    }
}

/// The key of a mark is a version and what it means.
fn mark(key: Option<&[u8]>) -> Contents {
    match key {
        Some([_, _, 0, 0, ..]) => Contents::Abort,
        Some([_, _, 0, 1, ..]) => Contents::Commit,
        _ => Contents::OtherMark,
    }
}

fn subject(topic: &str, partition: i32) -> String {
    format!("{topic}-{partition}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use indexmap::IndexMap;
    use kafka_protocol::records::{
        Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
    };

    fn record(control: bool, key: &'static [u8]) -> Record {
        Record {
            transactional: true,
            control,
            delete_horizon: false,
            partition_leader_epoch: 0,
            producer_id: 7,
            producer_epoch: 3,
            timestamp_type: TimestampType::Creation,
            offset: 5,
            sequence: 0,
            timestamp: 0,
            key: Some(Bytes::from_static(key)),
            value: Some(Bytes::from_static(b"v")),
            headers: IndexMap::default(),
        }
    }

    fn check(control: bool, key: &'static [u8], expected: Contents) {
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        let mut bytes = BytesMut::new();
        RecordBatchEncoder::encode(&mut bytes, [&record(control, key)], &options).unwrap();
        let batch = Batch::next(&mut bytes.freeze()).unwrap().unwrap();
        let mut all = Vec::new();
        let keep = |record| {
            all.push(copied(&batch, record));
            ControlFlow::Continue(())
        };
        batch.visit(keep).unwrap();
        let producer = Some((7, 3));
        let wanted = CopiedRecord { offset: 5, producer, transactional: true, contents: expected };
        assert_eq!(all, [wanted], "{key:?}");
    }

    #[test]
    fn marks_are_told_from_data_and_from_each_other() {
        check(false, &[0, 0, 0, 1], Contents::Data(Some(Bytes::from_static(b"v"))));
        check(true, &[0, 0, 0, 1], Contents::Commit);
        check(true, &[0, 0, 0, 0], Contents::Abort);
        check(true, &[0, 0, 0, 3], Contents::OtherMark);
    }
}
