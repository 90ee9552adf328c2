//! `castellan certificate revoke`.

use crate::{Connection, OnInstance, complete, output};
use clap_complete::ArgValueCompleter;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Revoke {
    #[command(flatten)]
    on: OnInstance,
    /// The certificate's serial in hex, as `castellan certificate list` shows it
    #[arg(add = ArgValueCompleter::new(complete::serials))]
    serial: String,
}

pub async fn run(options: &Revoke, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    connection.client.revoke_certificate(id, &options.serial).await?;
    if connection.json {
        return output::print_json(&json!({ "serial": options.serial, "revoked": true }));
    }
    output::print_line(&format!(
        "Certificate {} is revoked; brokers refuse it within seconds",
        options.serial
    ))
}
