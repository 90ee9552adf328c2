//! Calls of `/api/instances/<ID>/topics`.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::customer::Message;
use wire::topics::{CreateTopic, Topic, TopicDetails, UpdateTopic};

impl Client {
    /// By name, without Kafka's own.
    pub async fn topics(&self, id: i64) -> Result<Vec<Topic>> {
        self.call.get(&format!("api/instances/{id}/topics")).await
    }

    pub async fn topic(&self, id: i64, name: &str) -> Result<TopicDetails> {
        self.call.get(&path(id, name)?).await
    }

    pub async fn create_topic(&self, id: i64, new: &CreateTopic) -> Result<Topic> {
        self.call.send(Method::POST, &format!("api/instances/{id}/topics"), new).await
    }

    /// A config that is given replaces everything that was set.
    pub async fn update_topic(&self, id: i64, name: &str, changes: &UpdateTopic) -> Result<Topic> {
        self.call.send(Method::PUT, &path(id, name)?, changes).await
    }

    pub async fn delete_topic(&self, id: i64, name: &str) -> Result<Message> {
        self.call.delete_for(&path(id, name)?).await
    }
}

fn path(id: i64, name: &str) -> Result<String> {
    Ok(format!("api/instances/{id}/topics/{}", segment(name)?))
}
