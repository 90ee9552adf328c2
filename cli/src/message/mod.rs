//! `castellan message`.

mod read;
mod write;

use crate::{Connection, OnInstance, complete};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;

#[derive(Debug, Subcommand)]
pub enum MessageCommand {
    /// Read a few messages of a topic, the newest if nothing else is said
    Read(read::Read),
    /// Write a message to a topic
    Write(write::Write),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OfTopic {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the topic
    #[arg(value_name = "TOPIC", add = ArgValueCompleter::new(complete::topics))]
    topic: String,
}

pub async fn run(command: MessageCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        MessageCommand::Read(options) => read::run(options, connection).await,
        MessageCommand::Write(options) => write::run(options, connection).await,
    }
}
