//! `castellan topic list`.

use crate::{Connection, OnInstance, assignment, output};
use wire::topics::Topic;

pub async fn run(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let topics = connection.client.topics(on.id(connection).await?).await?;
    if connection.json {
        return output::print_json(&topics);
    }
    let row = |topic: Topic| {
        let (partitions, replicas) = (topic.partitions.to_string(), topic.replicas.to_string());
        [topic.name, partitions, replicas, topic.status, assignment::line(&topic.config)]
    };
    let headings = ["NAME", "PARTITIONS", "REPLICAS", "STATUS", "CONFIG"];
    output::print_table(&output::table(headings, topics.into_iter().map(row)))
}
