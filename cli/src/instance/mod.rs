//! `castellan instance`.

mod actions;
mod cancel;
mod create;
mod delete;
mod follow;
mod get;
mod list;
mod power;
mod restart;
mod rotate_apikey;
mod rotate_password;
mod servers;
mod wait;
mod watch;

use crate::{Connection, OnInstance};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum InstanceCommand {
    /// List your instances
    List,
    /// Order an instance
    Create(create::Create),
    /// Show one instance
    Get(OnInstance),
    /// Restart every server of an instance, one at a time, or some of them
    Restart(restart::Restart),
    /// Stop every server of an instance, or some of them; data and addresses stay
    Stop(power::Power),
    /// Start a stopped instance, or some of its servers
    Start(power::Power),
    /// List what was asked of an instance, newest first
    Actions(actions::Actions),
    /// Follow everything that goes on until it has ended
    Watch(OnInstance),
    /// Cancel a restart; what has begun is brought to its end
    Cancel(cancel::Cancel),
    /// Give an instance another key; the old one stops at once
    RotateApikey(OnInstance),
    /// Give the default user another password
    RotatePassword(OnInstance),
    /// Delete an instance and its data
    Delete(delete::Delete),
}

pub async fn run(command: InstanceCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        InstanceCommand::List => list::run(connection).await,
        InstanceCommand::Create(options) => create::run(options, connection).await,
        InstanceCommand::Get(options) => get::run(&options, connection).await,
        InstanceCommand::Restart(options) => restart::run(&options, connection).await,
        InstanceCommand::Stop(options) => power::stop(&options, connection).await,
        InstanceCommand::Start(options) => power::start(&options, connection).await,
        InstanceCommand::Actions(options) => actions::run(&options, connection).await,
        InstanceCommand::Watch(on) => watch::run(&on, connection).await,
        InstanceCommand::Cancel(options) => cancel::run(&options, connection).await,
        InstanceCommand::RotateApikey(on) => rotate_apikey::run(&on, connection).await,
        InstanceCommand::RotatePassword(on) => rotate_password::run(&on, connection).await,
        InstanceCommand::Delete(options) => delete::run(&options, connection).await,
    }
}
