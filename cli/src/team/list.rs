//! `castellan team list`.

use crate::{Connection, output};

pub async fn run(connection: &Connection) -> anyhow::Result<()> {
    let team = connection.client.team().await?;
    if connection.json {
        return output::print_json(&team);
    }
    let rows = team.into_iter().map(|member| {
        [member.id, member.email, member.roles.join(","), member.tags.join(","), member.name]
    });
    output::print_table(&output::table(["ID", "EMAIL", "ROLE", "TAGS", "NAME"], rows))
}
