//! `castellan group get`.

use super::{OneGroup, known};
use crate::{Connection, output};
use wire::groups::{Group, Offset};

pub async fn run(options: &OneGroup, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let group = connection.client.group(id, &options.group).await?;
    if connection.json {
        return output::print_json(&group);
    }
    let row = |offset: &Offset| {
        [
            offset.topic.clone(),
            offset.partition.to_string(),
            known(offset.offset),
            known(offset.end),
            known(offset.lag),
            member(&group, offset),
        ]
    };
    let headings = ["TOPIC", "PARTITION", "OFFSET", "END", "LAG", "MEMBER"];
    output::print_table(&output::table(headings, group.offsets.iter().map(row)))
}

/// Who reads the partition, and from where.
fn member(group: &Group, offset: &Offset) -> String {
    let reads = |member: &&wire::groups::Member| {
        let mut assignments = member.assignments.iter();
        assignments.any(|it| it.topic == offset.topic && it.partitions.contains(&offset.partition))
    };
    let reader = group.members.iter().find(reads);
    reader.map_or_else(|| "-".to_owned(), |it| format!("{}@{}", it.client_id, it.host))
}
