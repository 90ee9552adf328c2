//! `castellan instance rotate-apikey`.

use crate::{Connection, OnInstance, output};

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    let rotated = connection.client.rotate_instance_key(id).await?;
    if connection.json {
        return output::print_json(&rotated);
    }
    output::print_line(&format!(
        "The instance's old key has stopped; the new one is {}",
        rotated.apikey.expose()
    ))
}
