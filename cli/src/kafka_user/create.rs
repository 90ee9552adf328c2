//! `castellan kafka-user create`.

use crate::{Connection, OnInstance, output};
use wire::users::User;

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

pub async fn run(options: Create, connection: &Connection) -> anyhow::Result<()> {
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
