//! `castellan certificate revoke`.

use crate::{Connection, output};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Revoke {
    /// The instance's id
    pub id: i64,
    /// The certificate's serial in hex, as `castellan certificate list` shows it
    pub serial: String,
}

pub async fn run(options: &Revoke, connection: &Connection) -> anyhow::Result<()> {
    connection.client.revoke_certificate(options.id, &options.serial).await?;
    if connection.json {
        return output::print_json(&json!({ "serial": options.serial, "revoked": true }));
    }
    output::print_line(&format!(
        "Certificate {} is revoked; brokers refuse it within seconds",
        options.serial
    ))
}
