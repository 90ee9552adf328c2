//! `castellan kafka-user delete`.

use crate::{Connection, OnInstance, complete, output};
use clap_complete::ArgValueCompleter;

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the user
    #[arg(value_name = "USER", add = ArgValueCompleter::new(complete::kafka_users))]
    user: String,
}

pub async fn run(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let answer = connection.client.delete_kafka_user(id, &options.user).await?;
    output::print_message(&answer, connection)
}
