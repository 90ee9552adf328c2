//! `castellan topic create`.

use crate::assignment::{self, Assignment};
use crate::{Connection, OnInstance};
use wire::topics::CreateTopic;

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

pub async fn run(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let Create { on, name, partitions, replicas, config } = options;
    let config = assignment::settings(&config)?;
    let config = (!config.is_empty()).then_some(config);
    let new = CreateTopic { name, partitions, replicas, config };
    let topic = connection.client.create_topic(on.id(connection).await?, &new).await?;
    super::print(&topic, connection)
}
