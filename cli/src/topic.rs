//! `castellan topic`.

use crate::assignment::{self, Assignment};
use crate::output::or_dash;
use crate::{Connection, OnInstance, complete, output};
use anyhow::bail;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value};
use wire::topics::{CreateTopic, Partition, Topic, UpdateTopic};

#[derive(Debug, Subcommand)]
pub enum TopicCommand {
    /// List the topics of an instance
    List(OnInstance),
    /// Show a topic with its partitions
    Get(OneTopic),
    /// Make a topic
    Create(Create),
    /// Give a topic more partitions or other settings
    Update(Update),
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
        TopicCommand::List(on) => list(&on, connection).await,
        TopicCommand::Get(options) => get(&options, connection).await,
        TopicCommand::Create(options) => create(options, connection).await,
        TopicCommand::Update(options) => update(options, connection).await,
        TopicCommand::Delete(options) => delete(&options, connection).await,
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

/// `castellan topic list`.
async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let topics = connection.client.topics(on.id(connection).await?).await?;
    let row = |topic: Topic| {
        let (partitions, replicas) = (topic.partitions.to_string(), topic.replicas.to_string());
        [topic.name, partitions, replicas, topic.status, assignment::line(&topic.config)]
    };
    let headings = ["NAME", "PARTITIONS", "REPLICAS", "STATUS", "CONFIG"];
    output::print_list(topics, headings, row, connection)
}

/// `castellan topic get`.
async fn get(options: &OneTopic, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let found = connection.client.topic(id, &options.topic).await?;
    if connection.json {
        return output::print_json(&found);
    }
    print(&found.topic, connection)?;
    output::print_line("")?;
    let headings = ["PARTITION", "LEADER", "REPLICAS", "IN SYNC", "BYTES"];
    output::print_table(&output::table(headings, found.details.iter().map(row)))
}

fn row(partition: &Partition) -> [String; 5] {
    let several =
        |nodes: &[i64]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    [
        partition.partition.to_string(),
        or_dash(partition.leader),
        several(&partition.replicas),
        several(&partition.in_sync),
        or_dash(partition.size),
    ]
}

#[derive(Debug, clap::Args)]
pub struct Create {
    #[command(flatten)]
    on: OnInstance,
    /// 1 to 249 letters, digits, dots, underscores and hyphens
    #[arg(value_name = "TOPIC")]
    name: String,
    /// 1 if not given
    #[arg(long)]
    partitions: Option<i64>,
    /// Copies of each partition; 3 if not given, or as many as there are servers
    #[arg(long)]
    replicas: Option<i64>,
    /// A setting of Kafka's; may be given several times
    #[arg(long = "config", value_name = "NAME=VALUE")]
    config: Vec<Assignment>,
}

/// `castellan topic create`.
async fn create(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let Create { on, name, partitions, replicas, config } = options;
    let config = assignment::settings(&config)?;
    let config = (!config.is_empty()).then_some(config);
    let new = CreateTopic { name, partitions, replicas, config };
    let topic = connection.client.create_topic(on.id(connection).await?, &new).await?;
    print(&topic, connection)
}

#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    of: OneTopic,
    /// As many as now, or more
    #[arg(long)]
    partitions: Option<i64>,
    /// Set this, and leave what else is set; may be given several times
    #[arg(long = "config", value_name = "NAME=VALUE")]
    config: Vec<Assignment>,
    /// Back to the brokers' own; may be given several times
    #[arg(
        long = "unset",
        value_name = "NAME",
        add = ArgValueCompleter::new(complete::topic_settings)
    )]
    unset: Vec<String>,
}

/// `castellan topic update`.
async fn update(options: Update, connection: &Connection) -> anyhow::Result<()> {
    let Update { of, partitions, config, unset } = options;
    let wanted = assignment::settings(&config)?;
    if let Some(name) = unset.iter().find(|name| wanted.contains_key(*name)) {
        bail!("{name} can't be both set and unset");
    }
    if partitions.is_none() && wanted.is_empty() && unset.is_empty() {
        bail!("nothing to change; give --partitions, --config or --unset");
    }
    let id = of.on.id(connection).await?;
    let mut changes = UpdateTopic { partitions, config: None };
    if !wanted.is_empty() || !unset.is_empty() {
        // The API replaces all settings. Somebody who names one does not mean
        // that a retention set before should go, and the data with it.
        let is = connection.client.topic(id, &of.topic).await?.topic.config;
        changes.config = Some(changed(is, wanted, &unset)?);
    }
    print(&connection.client.update_topic(id, &of.topic, &changes).await?, connection)
}

fn changed(
    mut config: Map<String, Value>,
    wanted: Map<String, Value>,
    unset: &[String],
) -> anyhow::Result<Map<String, Value>> {
    for name in unset {
        if config.remove(name).is_none() {
            bail!("{name} is not set for this topic, so it can't be unset");
        }
    }
    config.extend(wanted);
    Ok(config)
}

/// `castellan topic delete`.
async fn delete(options: &OneTopic, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.delete_topic(id, &options.topic).await?, connection)
}
