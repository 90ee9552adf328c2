//! `castellan group`.

use crate::output::or_dash;
use crate::{Connection, OnInstance, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use wire::groups::{Group, Moved, Offset};

#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// List consumer groups and how far behind they are
    List(OnInstance),
    /// Show the members of a group and its lag by partition
    Get(OneGroup),
    /// Have a group without members go on from elsewhere
    Reset(Reset),
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
        GroupCommand::Get(options) => get(&options, connection).await,
        GroupCommand::Reset(options) => reset(options, connection).await,
        GroupCommand::Delete(options) => delete(&options, connection).await,
    }
}

async fn delete(options: &OneGroup, connection: &Connection) -> anyhow::Result<()> {
    let OneGroup { on, group } = options;
    connection.client.delete_group(on.id(connection).await?, group).await?;
    let deleted = json!({ "group": group, "deleted": true });
    output::print_sentence(&deleted, &format!("Group {group} is deleted"), connection)
}

async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let groups = connection.client.groups(on.id(connection).await?).await?;
    let row = |group: Group| {
        let (members, lag) = (group.members.len().to_string(), or_dash(group.lag));
        [group.name, group.state, members, lag, group.topics.join(",")]
    };
    let headings = ["NAME", "STATE", "MEMBERS", "LAG", "TOPICS"];
    output::print_list(groups, headings, row, connection)
}

/// `castellan group get`.
async fn get(options: &OneGroup, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    let group = connection.client.group(id, &options.group).await?;
    if connection.json {
        return output::print_json(&group);
    }
    let row = |offset: &Offset| {
        [
            offset.topic.clone(),
            offset.partition.to_string(),
            or_dash(offset.offset),
            or_dash(offset.end),
            or_dash(offset.lag),
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

#[derive(Debug, clap::Args)]
pub struct Reset {
    #[command(flatten)]
    of: OneGroup,
    #[command(flatten)]
    to: Strategy,
    /// A topic, as orders, or a partition, as orders:0; may be given several times;
    /// everything the group has committed if not given
    #[arg(long = "topic", add = ArgValueCompleter::new(complete::topics))]
    topics: Vec<String>,
    /// Show what would be, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Strategy {
    /// The first message there is
    #[arg(long)]
    to_earliest: bool,
    /// Whatever comes next
    #[arg(long)]
    to_latest: bool,
    /// The first message of a time, such as 2026-11-15T12:00:00Z, or later
    #[arg(long, value_name = "TIME")]
    to_datetime: Option<String>,
    /// So many messages further, or back if negative
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    shift_by: Option<i64>,
}

impl Strategy {
    fn name(&self) -> &'static str {
        if self.to_earliest {
            "to-earliest"
        } else if self.to_latest {
            "to-latest"
        } else if self.to_datetime.is_some() {
            "to-datetime"
        } else {
            "shift-by"
        }
    }
}

/// `castellan group reset`.
async fn reset(options: Reset, connection: &Connection) -> anyhow::Result<()> {
    let reset = wire::groups::Reset {
        strategy: options.to.name().into(),
        datetime: options.to.to_datetime,
        shift_by: options.to.shift_by,
        topics: Some(options.topics).filter(|topics| !topics.is_empty()),
        dry_run: Some(options.dry_run),
    };
    let OneGroup { on, group } = options.of;
    let id = on.id(connection).await?;
    let moved = connection.client.reset_group(id, &group, &reset).await?;
    let row = |moved: Moved| {
        let partition = moved.partition.to_string();
        [moved.topic, partition, or_dash(moved.offset), moved.new_offset.to_string()]
    };
    let headings = ["TOPIC", "PARTITION", "OFFSET", "NEW OFFSET"];
    output::print_list(moved, headings, row, connection)
}
