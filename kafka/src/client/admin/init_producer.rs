//! A producer whose messages are written once, however often they are sent:
//! InitProducerId.

use crate::client::error::check;
use crate::client::messages::Producer;
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::{InitProducerIdRequest, ProducerId};
use kafka_protocol::records::{NO_PRODUCER_EPOCH, NO_PRODUCER_ID};

const CALL: &str = "InitProducerId";

/// A new one, without transactions. Brokers remember it for a day in each partition that it
/// writes to. One that has just started refuses, until it has some to give.
pub struct InitProducer;

impl Call for InitProducer {
    type Answer = Producer;

    async fn run(&self, connection: &mut Connection) -> Result<Producer, Error> {
        let request = InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_producer_id(ProducerId(NO_PRODUCER_ID))
            .with_producer_epoch(NO_PRODUCER_EPOCH);
        let answer = connection.call(&request).await?;
        check(CALL, "a new producer", answer.error_code, None)?;
        let made = Producer { id: answer.producer_id.0, epoch: answer.producer_epoch };
        if made.id < 0 || made.epoch < 0 {
            let reason = "the producer has no number".to_owned();
            return Err(connection.malformed::<InitProducerIdRequest>(reason));
        }
        Ok(made)
    }
}
