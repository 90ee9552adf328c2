//! The last record of every partition. Whoever reads committed records in order
//! and comes to it has been given all there is: it stands behind everything
//! that was written, and behind the ends of all transactions.

use super::Job;
use super::librdkafka::config;
use crate::record;
use rdkafka::error::KafkaResult;
use rdkafka::producer::{BaseProducer, BaseRecord, DefaultProducerContext, Producer as _};
use std::time::Duration;

/// A cluster that can't take six records by then has worse trouble.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether all of them are written.
pub async fn write(job: &Job) -> bool {
    let copy = job.clone();
    let written = tokio::task::spawn_blocking(move || write_all(&copy)).await;
    match written {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => job.trouble("the closing records", &error),
        Err(error) => job.trouble("the closing records", &error),
    }
    false
}

fn write_all(job: &Job) -> KafkaResult<()> {
    let mut config = config(&job.access);
    config.set("enable.idempotence", "true").set("acks", "all");
    let producer: BaseProducer<DefaultProducerContext> = config.create()?;
    let value = record::closing(&job.run.id);
    for partition in 0..job.run.partitions {
        let record = BaseRecord::<(), str>::to(&job.run.topic);
        let record = record.partition(partition).payload(&value);
        producer.send(record).map_err(|(error, _)| error)?;
    }
    producer.flush(PATIENCE)
}
