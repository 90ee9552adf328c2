//! `castellan instance list`.

use crate::{Connection, output};
use client::Client;
use comfy_table::Table;
use wire::customer::{Instance, InstanceEntry};

/// Instances that are read at the same moment.
const AT_ONCE: usize = 8;

pub async fn run(connection: &Connection) -> anyhow::Result<()> {
    let entries = connection.client.instances().await?;
    if connection.json {
        return output::print_json(&entries);
    }
    let instances = read(&connection.client, &entries).await?;
    output::print_table(&table(&instances))
}

/// The list of the API has no states, so each instance is read. One that was deleted
/// meanwhile is left out.
async fn read(client: &Client, entries: &[InstanceEntry]) -> anyhow::Result<Vec<Instance>> {
    let mut instances = Vec::new();
    for some in entries.chunks(AT_ONCE) {
        let reads = some.iter().map(|entry| {
            let (client, id) = (client.clone(), entry.id);
            tokio::spawn(async move { client.instance(id).await })
        });
        for read in reads.collect::<Vec<_>>() {
            match read.await? {
                Err(error) if error.is_not_found() => {}
                read => instances.push(read?),
            }
        }
    }
    Ok(instances)
}

fn table(instances: &[Instance]) -> Table {
    let row = |instance: &Instance| {
        let entry = &instance.entry;
        [
            entry.id.to_string(),
            entry.name.clone(),
            entry.plan.clone(),
            entry.region.clone(),
            instance.nodes.to_string(),
            instance.kafka_version.clone(),
            instance.status.clone(),
            entry.tags.join(","),
        ]
    };
    let headings = ["ID", "NAME", "PLAN", "REGION", "SERVERS", "VERSION", "STATE", "TAGS"];
    output::table(headings, instances.iter().map(row))
}
