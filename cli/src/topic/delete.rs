//! `castellan topic delete`.

use super::OneTopic;
use crate::{Connection, output};

pub async fn run(options: &OneTopic, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    output::print_message(&connection.client.delete_topic(id, &options.topic).await?, connection)
}
