//! Calls about what is in a cluster: an instance's `topics`, `groups` and `quotas`.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use serde_json::{Map, Value};
use wire::customer::Message;
use wire::groups::{Group, Moved, Reset};
use wire::quotas::Quota;
use wire::topics::{CreateTopic, Topic, TopicDetails, UpdateTopic};

impl Client {
    /// By name, without Kafka's own.
    pub async fn topics(&self, id: i64) -> Result<Vec<Topic>> {
        self.call.get(&format!("api/instances/{id}/topics")).await
    }

    pub async fn topic(&self, id: i64, name: &str) -> Result<TopicDetails> {
        self.call.get(&topic_path(id, name)?).await
    }

    pub async fn create_topic(&self, id: i64, new: &CreateTopic) -> Result<Topic> {
        self.call.send(Method::POST, &format!("api/instances/{id}/topics"), new).await
    }

    /// A config that is given replaces everything that was set.
    pub async fn update_topic(&self, id: i64, name: &str, changes: &UpdateTopic) -> Result<Topic> {
        self.call.send(Method::PUT, &topic_path(id, name)?, changes).await
    }

    pub async fn delete_topic(&self, id: i64, name: &str) -> Result<Message> {
        self.call.delete_for(&topic_path(id, name)?).await
    }

    pub async fn groups(&self, id: i64) -> Result<Vec<Group>> {
        self.call.get(&format!("api/instances/{id}/groups")).await
    }

    pub async fn group(&self, id: i64, name: &str) -> Result<Group> {
        self.call.get(&group_path(id, name)?).await
    }

    pub async fn delete_group(&self, id: i64, name: &str) -> Result<()> {
        self.call.delete(&group_path(id, name)?).await
    }

    /// Where the group goes on, or would.
    pub async fn reset_group(&self, id: i64, name: &str, reset: &Reset) -> Result<Vec<Moved>> {
        self.call.send(Method::POST, &format!("{}/reset", group_path(id, name)?), reset).await
    }

    pub async fn quotas(&self, id: i64) -> Result<Vec<Quota>> {
        self.call.get(&format!("api/instances/{id}/quotas")).await
    }

    /// Limits that are null are removed, those that are not there stay.
    pub async fn set_quota(&self, id: i64, quota: &Map<String, Value>) -> Result<Quota> {
        self.call.send(Method::PUT, &format!("api/instances/{id}/quotas"), quota).await
    }

    pub async fn remove_quota(
        &self,
        id: i64,
        user: Option<&str>,
        client_id: Option<&str>,
    ) -> Result<()> {
        let query = [("user", user), ("client_id", client_id)];
        self.call.delete_with(&format!("api/instances/{id}/quotas"), &query).await
    }
}

fn topic_path(id: i64, name: &str) -> Result<String> {
    Ok(format!("api/instances/{id}/topics/{}", segment(name)?))
}

fn group_path(id: i64, name: &str) -> Result<String> {
    Ok(format!("api/instances/{id}/groups/{}", segment(name)?))
}
