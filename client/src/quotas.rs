//! Calls of an instance's `quotas`.

use crate::{Client, Result};
use reqwest::Method;
use serde_json::{Map, Value};
use wire::quotas::Quota;

impl Client {
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
