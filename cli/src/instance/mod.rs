//! `castellan instance`.

mod create;
mod delete;
mod get;
mod list;
mod power;
mod wait;

use crate::Connection;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum InstanceCommand {
    /// List your instances
    List,
    /// Order an instance
    Create(create::Create),
    /// Show one instance
    Get(get::Get),
    /// Stop every server of an instance; data and addresses stay
    Stop(power::Power),
    /// Start a stopped instance
    Start(power::Power),
    /// Delete an instance and its data
    Delete(delete::Delete),
}

pub async fn run(command: InstanceCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        InstanceCommand::List => list::run(connection).await,
        InstanceCommand::Create(options) => create::run(options, connection).await,
        InstanceCommand::Get(options) => get::run(&options, connection).await,
        InstanceCommand::Stop(options) => power::stop(&options, connection).await,
        InstanceCommand::Start(options) => power::start(&options, connection).await,
        InstanceCommand::Delete(options) => delete::run(&options, connection).await,
    }
}
