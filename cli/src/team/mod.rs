//! `castellan team`.

mod invite;
mod list;
mod remove;
mod update;

use crate::Connection;
use clap::Subcommand;
use wire::customer::Message;

#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// List the members of your team
    List,
    /// Send somebody a link to join
    Invite(invite::Invite),
    /// Remove a member, or cancel an invitation
    Remove(remove::Remove),
    /// Change a member's role and tags
    Update(update::Update),
}

pub async fn run(command: TeamCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        TeamCommand::List => list::run(connection).await,
        TeamCommand::Invite(options) => invite::run(options, connection).await,
        TeamCommand::Remove(options) => remove::run(&options, connection).await,
        TeamCommand::Update(options) => update::run(options, connection).await,
    }
}

/// What the API said, in its own sentence.
fn print(answer: &Message, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return crate::output::print_json(answer);
    }
    crate::output::print_line(&answer.message)
}
