//! `castellan node`.

use crate::{Connection, OnInstance, output};
use clap::Subcommand;
use wire::nodes::Node;

#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// List the servers of an instance
    List(OnInstance),
}

pub async fn run(command: NodeCommand, connection: &Connection) -> anyhow::Result<()> {
    let NodeCommand::List(on) = command;
    let nodes = connection.client.nodes(on.id(connection).await?).await?;
    let headings =
        ["NAME", "HOSTNAME", "RUNNING", "CONFIGURED", "KAFKA", "ROLES", "DISK", "USED", "ZONE"];
    output::print_list(nodes, headings, row, connection)
}

fn row(node: Node) -> [String; 9] {
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    [
        node.name,
        node.hostname,
        word(node.running),
        word(node.configured),
        node.kafka_version,
        node.roles.join(","),
        format!("{} GB", node.disk_size),
        format!("{} GB", node.disk_used),
        node.availability_zone,
    ]
}
