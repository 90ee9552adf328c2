//! The end of a topic: DeleteTopics.

use super::topic_name;
use super::topics::DescribeTopics;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::DeleteTopicsRequest;
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;

pub struct DeleteTopic<'a> {
    pub name: &'a str,
}

impl Call for DeleteTopic<'_> {
    /// False if there was no such topic.
    type Answer = bool;

    async fn run(&self, connection: &mut Connection) -> Result<bool, Error> {
        let topic = DeleteTopicState::default().with_name(Some(topic_name(self.name)));
        let request = DeleteTopicsRequest::default()
            .with_topics(vec![topic])
            .with_timeout_ms(connection.timeout_ms());
        let answer = connection.call(&request).await?;
        for result in &answer.responses {
            if result.error_code == ResponseError::UnknownTopicOrPartition.code() {
                return Ok(false);
            }
            let message = result.error_message.as_ref();
            check("DeleteTopics", self.name, result.error_code, message)?;
        }
        let what = format!("the removal of topic {}", self.name);
        let question = DescribeTopics { names: Some(&[self.name.to_owned()]) };
        until_readable(connection, &what, &question, |left| left.is_empty()).await?;
        Ok(true)
    }
}
