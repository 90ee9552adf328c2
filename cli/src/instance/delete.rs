//! `castellan instance delete`.

use super::wait;
use crate::{Connection, OnInstance, output};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    pub on: OnInstance,
    /// Wait until nothing of it is left
    #[arg(long)]
    pub wait: bool,
}

pub async fn run(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    connection.client.delete_instance(id).await?;
    if options.wait {
        wait::until_gone(&connection.client, id).await?;
    }
    if connection.json {
        return output::print_json(&json!({ "id": id, "deleted": true }));
    }
    let became = if options.wait { "nothing of it is left" } else { "its servers are torn down" };
    output::print_line(&format!("Instance {id} is deleted; {became}"))
}
