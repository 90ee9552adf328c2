//! `castellan group`.

mod get;
mod reset;

use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use wire::groups::Group;

#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// List consumer groups and how far behind they are
    List(OnInstance),
    /// Show the members of a group and its lag by partition
    Get(OneGroup),
    /// Have a group without members go on from elsewhere
    Reset(reset::Reset),
    /// Delete a group without members, and what it has committed
    Delete(OneGroup),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OneGroup {
    #[command(flatten)]
    on: OnInstance,
    /// Name of the group
    #[arg(value_name = "GROUP", add = ArgValueCompleter::new(complete::groups))]
    group: String,
}

pub async fn run(command: GroupCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        GroupCommand::List(on) => list(&on, connection).await,
        GroupCommand::Get(options) => get::run(&options, connection).await,
        GroupCommand::Reset(options) => reset::run(options, connection).await,
        GroupCommand::Delete(options) => delete(&options, connection).await,
    }
}

async fn delete(options: &OneGroup, connection: &Connection) -> anyhow::Result<()> {
    let OneGroup { on, group } = options;
    connection.client.delete_group(on.id(connection).await?, group).await?;
    if connection.json {
        return output::print_json(&json!({ "group": group, "deleted": true }));
    }
    output::print_line(&format!("Group {group} is deleted"))
}

async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let groups = connection.client.groups(on.id(connection).await?).await?;
    if connection.json {
        return output::print_json(&groups);
    }
    let row = |group: Group| {
        let (members, lag) = (group.members.len().to_string(), known(group.lag));
        [group.name, group.state, members, lag, group.topics.join(",")]
    };
    let headings = ["NAME", "STATE", "MEMBERS", "LAG", "TOPICS"];
    output::print_table(&output::table(headings, groups.into_iter().map(row)))
}

/// A number, or a dash for one that nobody knows.
fn known(number: Option<i64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}
