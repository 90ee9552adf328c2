//! Calls of an instance's `security/firewall`.

use crate::{Client, Result};
use reqwest::Method;
use wire::firewall::{FirewallConfigured, FirewallRule};

fn path(id: i64) -> String {
    format!("api/instances/{id}/security/firewall")
}

impl Client {
    pub async fn firewall(&self, id: i64) -> Result<Vec<FirewallRule>> {
        self.call.get(&path(id)).await
    }

    /// Replaces all rules; none are the default.
    pub async fn set_firewall(&self, id: i64, rules: &[FirewallRule]) -> Result<Vec<FirewallRule>> {
        self.call.send(Method::POST, &path(id), &rules).await
    }

    /// Fails until the rules are in effect on every server: see
    /// [`crate::Error::is_firewall_not_configured`].
    pub async fn firewall_configured(&self, id: i64) -> Result<FirewallConfigured> {
        self.call.get(&format!("{}/configured", path(id))).await
    }
}
