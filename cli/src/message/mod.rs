//! `castellan message`.

mod read;
mod write;

use crate::Connection;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum MessageCommand {
    /// Read a few messages of a topic, the newest if nothing else is said
    Read(read::Read),
    /// Write a message to a topic
    Write(write::Write),
}

pub async fn run(command: MessageCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        MessageCommand::Read(options) => read::run(options, connection).await,
        MessageCommand::Write(options) => write::run(options, connection).await,
    }
}
