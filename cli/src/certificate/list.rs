//! `castellan certificate list`.

use crate::{Connection, OnInstance, output};

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let certificates = connection.client.certificates(on.id(connection).await?).await?;
    if connection.json {
        return output::print_json(&certificates);
    }
    let rows = certificates.into_iter().map(|it| {
        let revoked = it.revoked_at.map_or_else(String::new, |at| at.to_string());
        [it.serial, it.cn, it.issued_at.to_string(), it.expires_at.to_string(), revoked]
    });
    output::print_table(&output::table(["SERIAL", "CN", "ISSUED", "EXPIRES", "REVOKED"], rows))
}
