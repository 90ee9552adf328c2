//! `castellan instance delete`.

use crate::{Connection, output};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The instance's id
    pub id: i64,
}

pub async fn run(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    connection.client.delete_instance(options.id).await?;
    if connection.json {
        return output::print_json(&json!({ "id": options.id, "deleted": true }));
    }
    output::print_line(&format!("Instance {} is deleted; its servers are torn down", options.id))
}
