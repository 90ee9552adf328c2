//! Calls of `/api/instances/<ID>/config/kafka`.

use crate::{Client, Result};
use reqwest::Method;
use serde_json::{Map, Value};
use wire::customer::Message;
use wire::nodes::Setting;

impl Client {
    /// The settings of all brokers that were chosen.
    pub async fn settings(&self, id: i64) -> Result<Vec<Setting>> {
        self.call.get(&format!("api/instances/{id}/config/kafka")).await
    }

    /// All of them or none; those that are not named stay as they are.
    pub async fn set(&self, id: i64, settings: &Map<String, Value>) -> Result<Message> {
        self.call.send(Method::POST, &format!("api/instances/{id}/config/kafka"), settings).await
    }
}
