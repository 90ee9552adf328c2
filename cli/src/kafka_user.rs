//! `castellan kafka-user`: who logs in to a cluster. `castellan user` is the
//! operator's, for people of accounts.

use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use wire::users::User;

#[derive(Debug, Subcommand)]
pub enum KafkaUserCommand {
    /// List who may log in to an instance's Kafka
    List(OnInstance),
    /// Make a user; the password is shown only now
    Create(Create),
    /// Delete a user and its rights
    Delete(Delete),
}

pub async fn run(command: KafkaUserCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        KafkaUserCommand::List(on) => list(&on, connection).await,
        KafkaUserCommand::Create(options) => create(options, connection).await,
        KafkaUserCommand::Delete(options) => delete(&options, connection).await,
    }
}

/// `castellan kafka-user list`.
async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let users = connection.client.kafka_users(on.id(connection).await?).await?;
    output::print_list(users, ["NAME", "TYPE"], |user: User| [user.name, user.kind], connection)
}

#[derive(Debug, clap::Args)]
pub struct Create {
    #[command(flatten)]
    on: OnInstance,
    /// 1 to 64 letters, digits, dots, underscores and hyphens
    #[arg(value_name = "USER")]
    name: String,
    /// sasl logs in with a password, ssl with a certificate
    #[arg(long = "type", value_name = "TYPE", default_value = "sasl", value_parser = ["sasl", "ssl"])]
    kind: String,
}

/// `castellan kafka-user create`.
async fn create(options: Create, connection: &Connection) -> anyhow::Result<()> {
    let Create { on, name, kind } = options;
    let id = on.id(connection).await?;
    let made = connection.client.create_kafka_user(id, &User { name, kind }).await?;
    if connection.json {
        return output::print_json(&made);
    }
    let named = [("name", made.user.name), ("type", made.user.kind)];
    let Some(password) = made.password else {
        return output::print_table(&output::pairs(named));
    };
    let [name, kind] = named;
    let password = ("password (shown only now)", password.expose().to_owned());
    output::print_table(&output::pairs([name, kind, password]))
}

#[derive(Debug, clap::Args)]
pub struct Delete {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the user
    #[arg(value_name = "USER", add = ArgValueCompleter::new(complete::kafka_users))]
    user: String,
}

/// `castellan kafka-user delete`.
async fn delete(options: &Delete, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let answer = connection.client.delete_kafka_user(id, &options.user).await?;
    output::print_message(&answer, connection)
}
