//! `castellan group reset`.

use super::{OneGroup, known};
use crate::{Connection, complete, output};
use clap_complete::ArgValueCompleter;
use wire::groups::Moved;

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

pub async fn run(options: Reset, connection: &Connection) -> anyhow::Result<()> {
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
    if connection.json {
        return output::print_json(&moved);
    }
    let row = |moved: Moved| {
        let partition = moved.partition.to_string();
        [moved.topic, partition, known(moved.offset), moved.new_offset.to_string()]
    };
    let headings = ["TOPIC", "PARTITION", "OFFSET", "NEW OFFSET"];
    output::print_table(&output::table(headings, moved.into_iter().map(row)))
}
