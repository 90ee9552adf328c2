//! `castellan instance list`.

use crate::{Connection, output};

pub async fn run(connection: &Connection) -> anyhow::Result<()> {
    let instances = connection.client.instances().await?;
    if connection.json {
        return output::print_json(&instances);
    }
    let rows = instances.into_iter().map(|instance| {
        let tags = instance.tags.join(",");
        [instance.id.to_string(), instance.name, instance.plan, instance.region, tags]
    });
    output::print_table(&output::table(["ID", "NAME", "PLAN", "REGION", "TAGS"], rows))
}
