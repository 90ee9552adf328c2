//! Calls of `messages` of an instance's topics.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::messages::{Message, WriteMessages, Written};

/// Which messages to read; everything has a default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadMessages {
    pub partition: Option<i32>,
    pub offset: Option<i64>,
    /// A time, `earliest` or `newest`.
    pub from: Option<String>,
    pub limit: Option<u32>,
}

impl Client {
    /// The oldest first.
    pub async fn messages(
        &self,
        id: i64,
        topic: &str,
        what: &ReadMessages,
    ) -> Result<Vec<Message>> {
        let partition = what.partition.map(|number| number.to_string());
        let offset = what.offset.map(|number| number.to_string());
        let limit = what.limit.map(|number| number.to_string());
        let query = [
            ("partition", partition.as_deref()),
            ("offset", offset.as_deref()),
            ("from", what.from.as_deref()),
            ("limit", limit.as_deref()),
        ];
        self.call.get_with(&path(id, topic)?, &query).await
    }

    pub async fn write_messages(
        &self,
        id: i64,
        topic: &str,
        messages: &WriteMessages,
    ) -> Result<Vec<Written>> {
        self.call.send(Method::POST, &path(id, topic)?, messages).await
    }
}

fn path(id: i64, topic: &str) -> Result<String> {
    Ok(format!("api/instances/{id}/topics/{}/messages", segment(topic)?))
}
