//! `castellan kafka-user list`.

use crate::{Connection, OnInstance, output};

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let users = connection.client.kafka_users(on.id(connection).await?).await?;
    if connection.json {
        return output::print_json(&users);
    }
    let rows = users.into_iter().map(|user| [user.name, user.kind]);
    output::print_table(&output::table(["NAME", "TYPE"], rows))
}
