//! `castellan instance rotate-password`.

use crate::{Connection, OnInstance, output};
use serde_json::json;

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let id = on.id(connection).await?;
    connection.client.rotate_password(id).await?;
    if connection.json {
        return output::print_json(&json!({ "id": id, "rotated": true }));
    }
    output::print_line(&format!(
        "The default user gets another password; `castellan instance get {id}` shows it"
    ))
}
