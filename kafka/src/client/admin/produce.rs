//! Writing a message, acknowledged by every replica in sync. The broker asked
//! must lead the partition; callers of clusters with more than one choose it.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{ProduceRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use model::Timestamp;

const ALL_IN_SYNC: i16 = -1;

/// One message. Not safe to repeat: a lost answer may leave two of it.
pub struct Produce<'a> {
    pub topic: &'a str,
    pub partition: i32,
    pub value: &'a [u8],
    pub at: Timestamp,
}

#[async_trait]
impl Call for Produce<'_> {
    /// The message's offset.
    type Answer = i64;

    async fn run(&self, connection: &mut Connection) -> Result<i64, Error> {
        let timeout = connection.limits().call.as_millis();
        let data = PartitionProduceData::default()
            .with_index(self.partition)
            .with_records(Some(self.batch()));
        let topic = TopicProduceData::default()
            .with_name(TopicName(StrBytes::from_string(self.topic.to_owned())))
            .with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_acks(ALL_IN_SYNC)
            .with_timeout_ms(i32::try_from(timeout).unwrap_or(i32::MAX))
            .with_topic_data(vec![topic]);
        let answer = connection.call(&request).await?;
        let mut offset = 0;
        for partition in answer.responses.iter().flat_map(|topic| &topic.partition_responses) {
            let message = partition.error_message.as_ref();
            check("Produce", self.topic, partition.error_code, message)?;
            offset = partition.base_offset;
        }
        Ok(offset)
    }
}

impl Produce<'_> {
    fn batch(&self) -> Bytes {
        let record = Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            timestamp_type: TimestampType::Creation,
            offset: 0,
            sequence: NO_SEQUENCE,
            timestamp: self.at.as_millisecond(),
            key: None,
            value: Some(Bytes::copy_from_slice(self.value)),
            headers: IndexMap::default(),
        };
        let options = RecordEncodeOptions { version: 2, compression: Compression::None };
        let mut batch = BytesMut::new();
        RecordBatchEncoder::encode(&mut batch, [&record], &options)
            .expect("one uncompressed record can be encoded");
        batch.freeze()
    }
}
