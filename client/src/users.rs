//! Calls of `/api/instances/<ID>/users`: who logs in to Kafka.

use crate::segment::segment;
use crate::{Client, Result};
use reqwest::Method;
use wire::customer::Message;
use wire::users::{NewUser, User};

impl Client {
    /// By name, the default user among them.
    pub async fn kafka_users(&self, id: i64) -> Result<Vec<User>> {
        self.call.get(&format!("api/instances/{id}/users")).await
    }

    /// The password is told this once.
    pub async fn create_kafka_user(&self, id: i64, new: &User) -> Result<NewUser> {
        self.call.send(Method::POST, &format!("api/instances/{id}/users"), new).await
    }

    /// With everything it may.
    pub async fn delete_kafka_user(&self, id: i64, name: &str) -> Result<Message> {
        self.call.delete_for(&format!("api/instances/{id}/users/{}", segment(name)?)).await
    }
}
