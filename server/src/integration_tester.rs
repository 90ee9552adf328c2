//! Trying whether logs and metrics arrive where a customer wants them.

use app::integrations::{IntegrationOrigin, IntegrationTester};
use async_trait::async_trait;
use model::Integration;

/// Nothing is sent by this version.
pub struct Undelivered;

#[async_trait]
impl IntegrationTester for Undelivered {
    async fn test(&self, _: &IntegrationOrigin, _: &Integration) -> Result<String, String> {
        Err("This version of Castellan does not deliver logs and metrics yet".into())
    }
}
