//! `castellan topic update`.

use super::OneTopic;
use crate::assignment::{self, Assignment};
use crate::{Connection, complete};
use anyhow::bail;
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value};
use wire::topics::UpdateTopic;

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

pub async fn run(options: Update, connection: &Connection) -> anyhow::Result<()> {
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
    super::print(&connection.client.update_topic(id, &of.topic, &changes).await?, connection)
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
