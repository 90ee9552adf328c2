//! `castellan instance delete`.

use super::wait;
use crate::{Connection, complete, output};
use clap_complete::ArgValueCompleter;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The instance's id
    #[arg(add = ArgValueCompleter::new(complete::instance_ids))]
    pub id: i64,
    /// Wait until nothing of it is left
    #[arg(long)]
    pub wait: bool,
}

pub async fn run(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    connection.client.delete_instance(options.id).await?;
    if options.wait {
        wait::until_gone(&connection.client, options.id).await?;
    }
    if connection.json {
        return output::print_json(&json!({ "id": options.id, "deleted": true }));
    }
    let became = if options.wait { "nothing of it is left" } else { "its servers are torn down" };
    output::print_line(&format!("Instance {} is deleted; {became}", options.id))
}
