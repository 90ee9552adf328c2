//! `castellan kafka-user`: who logs in to a cluster. `castellan user` is the
//! operator's, for people of accounts.

mod create;
mod delete;
mod list;

use crate::{Connection, OnInstance};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum KafkaUserCommand {
    /// List who may log in to an instance's Kafka
    List(OnInstance),
    /// Make a user; the password is shown only now
    Create(create::Create),
    /// Delete a user and its rights
    Delete(delete::Delete),
}

pub async fn run(command: KafkaUserCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        KafkaUserCommand::List(on) => list::run(&on, connection).await,
        KafkaUserCommand::Create(options) => create::run(options, connection).await,
        KafkaUserCommand::Delete(options) => delete::run(&options, connection).await,
    }
}
