//! Writing a message, acknowledged by every replica in sync. The broker asked
//! must lead the partition; callers of clusters with more than one choose it.

use super::write::Write;
use crate::client::error::check;
use crate::client::messages::NewMessage;
use crate::client::{Call, Connection, Error};
use bytes::Bytes;
use model::Timestamp;
use std::collections::BTreeMap;

/// One message. Not safe to repeat: a lost answer may leave two of it.
pub struct Produce<'a> {
    pub topic: &'a str,
    pub partition: i32,
    pub value: &'a [u8],
    pub at: Timestamp,
}

impl Call for Produce<'_> {
    /// The message's offset.
    type Answer = i64;

    async fn run(&self, connection: &mut Connection) -> Result<i64, Error> {
        let value = Some(Bytes::copy_from_slice(self.value));
        let message = NewMessage { value, ..NewMessage::default() };
        let batches = BTreeMap::from([(self.partition, vec![&message])]);
        let request = Write::new(self.topic, batches, self.at).request(connection)?;
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
