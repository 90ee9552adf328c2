//! `castellan config`: settings of all brokers of an instance.

use crate::assignment::{self, Assignment};
use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::Value;
use wire::settings::Setting;

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List the settings that were chosen
    List(OnInstance),
    /// Choose settings, all of them or none
    Set(Set),
}

#[derive(Debug, clap::Args)]
pub struct Set {
    #[command(flatten)]
    on: OnInstance,
    /// Such as log.retention.ms=86400000; those that are not named stay
    #[arg(
        value_name = "NAME=VALUE",
        required = true,
        add = ArgValueCompleter::new(complete::settings)
    )]
    settings: Vec<Assignment>,
}

pub async fn run(command: ConfigCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        ConfigCommand::List(on) => list(&on, connection).await,
        ConfigCommand::Set(options) => set(&options, connection).await,
    }
}

async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let settings = connection.client.settings(on.id(connection).await?).await?;
    let row = |it: Setting| [it.name, assignment::text(&it.value)];
    output::print_list(settings, ["NAME", "VALUE"], row, connection)
}

async fn set(options: &Set, connection: &Connection) -> anyhow::Result<()> {
    let mut settings = assignment::settings(&options.settings)?;
    for value in settings.values_mut() {
        *value = as_typed(value);
    }
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.set(id, &settings).await?, connection)
}

/// None of these settings is a text, so `TRUE` and `08` are what people mean by them.
fn as_typed(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    match (text.parse::<bool>(), text.parse::<i64>()) {
        (Ok(flag), _) => flag.into(),
        (_, Ok(number)) => number.into(),
        _ => value.clone(),
    }
}
