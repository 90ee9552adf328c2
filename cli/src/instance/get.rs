//! `castellan instance get`.

use crate::{Connection, OnInstance, output};
use wire::customer::Instance;

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let instance = connection.client.instance(on.id(connection).await?).await?;
    print(&instance, connection)
}

pub fn print(instance: &Instance, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(instance);
    }
    let Instance { entry, .. } = instance;
    output::print_table(&output::pairs([
        ("id", entry.id.to_string()),
        ("name", entry.name.clone()),
        ("plan", entry.plan.clone()),
        ("region", entry.region.clone()),
        ("tags", entry.tags.join(",")),
        ("kafka version", instance.kafka_version.clone()),
        ("ready", if instance.ready { "yes" } else { "no" }.into()),
        ("status", instance.status.clone()),
        ("brokers", instance.brokers.clone()),
        ("username", instance.username.clone()),
        ("password", instance.password.expose().to_owned()),
        ("apikey", instance.apikey.expose().to_owned()),
        ("url", instance.url.expose().to_owned()),
        ("created", instance.created_at.to_string()),
    ]))
}
