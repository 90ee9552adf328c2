//! `castellan config`: settings of all brokers of an instance.

use crate::assignment::{self, Assignment};
use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;

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
    if connection.json {
        return output::print_json(&settings);
    }
    let rows = settings.into_iter().map(|it| [it.name, assignment::text(&it.value)]);
    output::print_table(&output::table(["NAME", "VALUE"], rows))
}

async fn set(options: &Set, connection: &Connection) -> anyhow::Result<()> {
    let settings = assignment::settings(&options.settings)?;
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.set(id, &settings).await?, connection)
}
