//! `castellan instance cancel`.

use crate::{Connection, complete, output};
use clap_complete::ArgValueCompleter;

#[derive(Debug, clap::Args)]
pub struct Cancel {
    /// The instance's id
    #[arg(add = ArgValueCompleter::new(complete::instance_ids))]
    pub id: i64,
    /// The action's id, of `castellan instance actions`
    pub action: i64,
}

pub async fn run(options: &Cancel, connection: &Connection) -> anyhow::Result<()> {
    let answer = connection.client.cancel_action(options.id, options.action).await?;
    if connection.json {
        return output::print_json(&answer);
    }
    output::print_line(&answer.message)
}
