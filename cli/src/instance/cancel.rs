//! `castellan instance cancel`.

use crate::{Connection, OnInstance, output};
use anyhow::bail;
use client::Error;

#[derive(Debug, clap::Args)]
pub struct Cancel {
    #[command(flatten)]
    pub on: OnInstance,
    /// The action's id, of `castellan instance actions`
    pub action: i64,
}

pub async fn run(options: &Cancel, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let action = options.action;
    let answer = match connection.client.cancel_action(id, action).await {
        Err(error) if lacks_action(&error) => bail!(
            "instance {id} has no action {action}; \
             `castellan instance actions {id}` shows what was asked of it"
        ),
        answer => answer?,
    };
    if connection.json {
        return output::print_json(&answer);
    }
    output::print_line(&answer.message)
}

/// Whether it is the action that is not there, and not the instance, which is told in
/// other words.
fn lacks_action(error: &Error) -> bool {
    error.is_not_found()
        && matches!(error, Error::Refused { body, .. } if body.error == "Not Found")
}
