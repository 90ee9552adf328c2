//! `castellan topic get`.

use super::OneTopic;
use crate::{Connection, output};
use wire::topics::Partition;

pub async fn run(options: &OneTopic, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let found = connection.client.topic(id, &options.topic).await?;
    if connection.json {
        return output::print_json(&found);
    }
    super::print(&found.topic, connection)?;
    output::print_line("")?;
    let headings = ["PARTITION", "LEADER", "REPLICAS", "IN SYNC", "BYTES"];
    output::print_table(&output::table(headings, found.details.iter().map(row)))
}

fn row(partition: &Partition) -> [String; 5] {
    let or_none = |number: Option<i64>| number.map_or_else(|| "-".into(), |it| it.to_string());
    let several =
        |nodes: &[i64]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    [
        partition.partition.to_string(),
        or_none(partition.leader),
        several(&partition.replicas),
        several(&partition.in_sync),
        or_none(partition.size),
    ]
}
