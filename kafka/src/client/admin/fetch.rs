//! What consumers of committed data are sent: Fetch. The broker asked must lead
//! the partitions.

use super::topic_name;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, TopicPartition};
use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::FetchRequest;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};

/// How long a broker waits for more at the end of a log.
const WAIT_MS: i32 = 500;
const PARTITION_BYTES: i32 = 1 << 20;
const ALL_BYTES: i32 = 8 << 20;
/// Of committed transactions, and of none.
const READ_COMMITTED: i8 = 1;

/// Stretches of partitions of one topic, each from an offset on.
pub struct Fetch<'a> {
    pub topic: &'a str,
    pub from: Vec<(i32, i64)>,
}

pub struct Fetched {
    pub partition: i32,
    /// Whole batches and perhaps a part of one; none if the log no longer begins
    /// so early.
    pub records: Option<Bytes>,
    /// Producers whose transaction from that offset on was given up, by offset.
    pub aborted: Vec<(i64, i64)>,
}

impl Call for Fetch<'_> {
    type Answer = Vec<Fetched>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Fetched>, Error> {
        let answer = connection.call(&self.request()).await?;
        check("Fetch", self.topic, answer.error_code, None)?;
        let mut all = Vec::new();
        for partition in answer.responses.into_iter().flat_map(|topic| topic.partitions) {
            let gone = partition.error_code == ResponseError::OffsetOutOfRange.code();
            if !gone {
                let at = TopicPartition::new(self.topic, partition.partition_index);
                check("Fetch", &at.to_string(), partition.error_code, None)?;
            }
            let aborted = partition.aborted_transactions.unwrap_or_default();
            let mut aborted: Vec<(i64, i64)> =
                aborted.iter().map(|it| (it.first_offset, it.producer_id.0)).collect();
            aborted.sort_unstable();
            let records = (!gone).then(|| partition.records.unwrap_or_default());
            all.push(Fetched { partition: partition.partition_index, records, aborted });
        }
        Ok(all)
    }
}

impl Fetch<'_> {
    fn request(&self) -> FetchRequest {
        let partition = |(number, offset): &(i32, i64)| {
            FetchPartition::default()
                .with_partition(*number)
                .with_fetch_offset(*offset)
                .with_partition_max_bytes(PARTITION_BYTES)
        };
        let topic = FetchTopic::default()
            .with_topic(topic_name(self.topic))
            .with_partitions(self.from.iter().map(partition).collect());
        FetchRequest::default()
            .with_max_wait_ms(WAIT_MS)
            .with_min_bytes(1)
            .with_max_bytes(ALL_BYTES)
            .with_isolation_level(READ_COMMITTED)
            .with_topics(vec![topic])
    }
}
