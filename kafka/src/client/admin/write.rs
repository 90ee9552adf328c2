//! Writing messages, acknowledged by every replica in sync: Produce. The broker
//! asked must lead the partitions.

use super::{text, topic_name};
use crate::client::error::check;
use crate::client::messages::{NewMessage, Producer, Unwritten};
use crate::client::{Call, Connection, Error, TopicPartition};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::ProduceRequest;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use model::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

const ALL_IN_SYNC: i16 = -1;

/// A batch for each of some partitions of one topic.
pub struct Write<'a> {
    pub topic: &'a str,
    pub batches: BTreeMap<i32, Vec<&'a NewMessage>>,
    pub at: Timestamp,
    producer: Option<Producer>,
    sent: AtomicBool,
}

impl Call for Write<'_> {
    /// The first offset of each batch, or why it is not written.
    type Answer = BTreeMap<i32, Result<i64, Unwritten>>;

    async fn run(&self, connection: &mut Connection) -> Result<Self::Answer, Error> {
        let request = self.request(connection)?;
        self.sent.store(true, Ordering::Relaxed);
        let answer = connection.call(&request).await?;
        let mut written = BTreeMap::new();
        for partition in answer.responses.iter().flat_map(|topic| &topic.partition_responses) {
            let at = TopicPartition::new(self.topic, partition.index).to_string();
            let message = partition.error_message.as_ref();
            let outcome = check("Produce", &at, partition.error_code, message);
            let outcome = outcome.map(|()| partition.base_offset).map_err(|error| {
                let not = Unwritten::from_error(error);
                // One that led no longer before all had it says where it wrote it: who
                // leads now may have it, too.
                Unwritten { perhaps: not.perhaps || partition.base_offset >= 0, ..not }
            });
            written.insert(partition.index, outcome);
        }
        Ok(written)
    }

    fn is_repeatable(&self) -> bool {
        false
    }
}

impl<'a> Write<'a> {
    pub fn new(topic: &'a str, batches: BTreeMap<i32, Vec<&'a NewMessage>>, at: Timestamp) -> Self {
        Self { topic, batches, at, producer: None, sent: AtomicBool::new(false) }
    }

    /// Who writes it. Each batch is the producer's first in its partition: sent again it is
    /// found in the log, and not written a second time.
    #[must_use]
    pub fn by(self, producer: Option<Producer>) -> Self {
        Self { producer, ..self }
    }

    /// Whether a broker may have got it: before that nothing can be in a log.
    pub fn is_sent(&self) -> bool {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn request(&self, connection: &Connection) -> Result<ProduceRequest, Error> {
        let mut data = Vec::with_capacity(self.batches.len());
        for (partition, messages) in &self.batches {
            let batch = self.batch(messages)?;
            let part = PartitionProduceData::default().with_index(*partition);
            data.push(part.with_records(Some(batch)));
        }
        let topic =
            TopicProduceData::default().with_name(topic_name(self.topic)).with_partition_data(data);
        Ok(ProduceRequest::default()
            .with_acks(ALL_IN_SYNC)
            .with_timeout_ms(connection.timeout_ms())
            .with_topic_data(vec![topic]))
    }

    fn batch(&self, messages: &[&NewMessage]) -> Result<Bytes, Error> {
        let records: Vec<Record> =
            (0..).zip(messages).map(|(offset, message)| self.record(offset, message)).collect();
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        let mut batch = BytesMut::new();
        RecordBatchEncoder::encode(&mut batch, &records, &options).map_err(|error| {
            Error::Unencodable {
                call: "Produce".to_owned(),
                version: i16::from(options.version),
                reason: error.to_string(),
            }
        })?;
        Ok(batch.freeze())
    }

    fn record(&self, offset: i32, message: &NewMessage) -> Record {
        let headers = message.headers.iter().map(|(name, value)| (text(name), value.clone()));
        let nobody = (NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE);
        let (producer_id, producer_epoch, first) =
            self.producer.map_or(nobody, |producer| (producer.id, producer.epoch, 0));
        Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
            producer_id,
            producer_epoch,
            timestamp_type: TimestampType::Creation,
            offset: offset.into(),
            // The codec makes one batch of records whose sequence goes along.
            sequence: first.wrapping_add(offset),
            timestamp: self.at.as_millisecond(),
            key: message.key.clone(),
            value: message.value.clone(),
            headers: headers.collect(),
        }
    }
}
