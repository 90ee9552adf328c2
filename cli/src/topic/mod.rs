//! `castellan topic`.

mod create;
mod delete;
mod get;
mod list;
mod update;

use crate::{Connection, OnInstance, assignment, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use wire::topics::Topic;

#[derive(Debug, Subcommand)]
pub enum TopicCommand {
    /// List the topics of an instance
    List(OnInstance),
    /// Show a topic with its partitions
    Get(OneTopic),
    /// Make a topic
    Create(create::Create),
    /// Give a topic more partitions or other settings
    Update(update::Update),
    /// Delete a topic and everything in it
    Delete(OneTopic),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OneTopic {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the topic
    #[arg(value_name = "TOPIC", add = ArgValueCompleter::new(complete::topics))]
    topic: String,
}

pub async fn run(command: TopicCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        TopicCommand::List(on) => list::run(&on, connection).await,
        TopicCommand::Get(options) => get::run(&options, connection).await,
        TopicCommand::Create(options) => create::run(options, connection).await,
        TopicCommand::Update(options) => update::run(options, connection).await,
        TopicCommand::Delete(options) => delete::run(&options, connection).await,
    }
}

/// One topic as it is now.
fn print(topic: &Topic, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(topic);
    }
    output::print_table(&output::pairs([
        ("name", topic.name.clone()),
        ("partitions", topic.partitions.to_string()),
        ("replicas", topic.replicas.to_string()),
        ("status", topic.status.clone()),
        ("config", assignment::line(&topic.config)),
    ]))
}
