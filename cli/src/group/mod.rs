//! `castellan group`.

mod get;
mod reset;

use crate::{Connection, output};
use clap::Subcommand;
use wire::groups::Group;

#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// List consumer groups and how far behind they are
    List {
        /// The instance's id
        id: i64,
    },
    /// Show the members of a group and its lag by partition
    Get(get::Get),
    /// Have a group without members go on from elsewhere
    Reset(reset::Reset),
    /// Delete a group without members, and what it has committed
    Delete {
        /// The instance's id
        id: i64,
        /// The group's name
        group: String,
    },
}

pub async fn run(command: GroupCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        GroupCommand::List { id } => list(id, connection).await,
        GroupCommand::Get(options) => get::run(&options, connection).await,
        GroupCommand::Reset(options) => reset::run(options, connection).await,
        GroupCommand::Delete { id, group } => {
            connection.client.delete_group(id, &group).await.map_err(Into::into)
        }
    }
}

async fn list(id: i64, connection: &Connection) -> anyhow::Result<()> {
    let groups = connection.client.groups(id).await?;
    if connection.json {
        return output::print_json(&groups);
    }
    let row = |group: Group| {
        let (members, lag) = (group.members.to_string(), known(group.lag));
        [group.name, group.state, members, lag, group.topics.join(",")]
    };
    let headings = ["NAME", "STATE", "MEMBERS", "LAG", "TOPICS"];
    output::print_table(&output::table(headings, groups.into_iter().map(row)))
}

/// A number, or a dash for one that nobody knows.
fn known(number: Option<i64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}
