//! Calls of an instance's `integrations`.

use crate::{Client, Result};
use model::{IntegrationConfig, IntegrationKind, IntegrationSystem};
use reqwest::Method;
use wire::integrations::{Integration, Tested};

fn all(id: i64, kind: IntegrationKind) -> String {
    format!("api/instances/{id}/integrations/{kind}")
}

fn one(id: i64, kind: IntegrationKind, integration: i64) -> String {
    format!("{}/{integration}", all(id, kind))
}

impl Client {
    pub async fn integrations(&self, id: i64, kind: IntegrationKind) -> Result<Vec<Integration>> {
        self.call.get(&all(id, kind)).await
    }

    pub async fn integration(
        &self,
        id: i64,
        kind: IntegrationKind,
        integration: i64,
    ) -> Result<Integration> {
        self.call.get(&one(id, kind, integration)).await
    }

    pub async fn create_integration(
        &self,
        id: i64,
        kind: IntegrationKind,
        system: IntegrationSystem,
        config: &IntegrationConfig,
    ) -> Result<Integration> {
        let path = format!("{}/{system}", all(id, kind));
        self.call.send(Method::POST, &path, config).await
    }

    /// Replaces all settings.
    pub async fn update_integration(
        &self,
        id: i64,
        kind: IntegrationKind,
        integration: i64,
        config: &IntegrationConfig,
    ) -> Result<()> {
        self.call.send_for_nothing(Method::PUT, &one(id, kind, integration), config).await
    }

    /// Sends one line or point, and waits for what comes of it.
    pub async fn test_integration(
        &self,
        id: i64,
        kind: IntegrationKind,
        integration: i64,
    ) -> Result<Tested> {
        self.call.post(&format!("{}/test", one(id, kind, integration))).await
    }

    pub async fn delete_integration(
        &self,
        id: i64,
        kind: IntegrationKind,
        integration: i64,
    ) -> Result<()> {
        self.call.delete(&one(id, kind, integration)).await
    }
}
