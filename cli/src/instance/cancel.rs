//! `castellan instance cancel`.

use crate::{Connection, OnInstance, output};

#[derive(Debug, clap::Args)]
pub struct Cancel {
    #[command(flatten)]
    pub on: OnInstance,
    /// The action's id, of `castellan instance actions`
    pub action: i64,
}

pub async fn run(options: &Cancel, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let answer = connection.client.cancel_action(id, options.action).await?;
    if connection.json {
        return output::print_json(&answer);
    }
    output::print_line(&answer.message)
}
