//! `castellan metrics`.

mod chart;
mod number;
mod plot;
mod show;
mod span;

use crate::{Connection, output};
use clap::Subcommand;
use model::{GroupSeries, Series, TopicSeries};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub enum MetricsCommand {
    /// List everything that is measured
    List,
    /// Show what the servers of an instance measured lately
    Show(show::Show),
    /// Draw one series of an instance
    Plot(plot::Plot),
}

pub async fn run(command: MetricsCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        MetricsCommand::List => list(connection),
        MetricsCommand::Show(options) => show::run(&options, connection).await,
        MetricsCommand::Plot(options) => plot::run(&options, connection).await,
    }
}

/// `castellan metrics list`.
pub fn list(connection: &Connection) -> anyhow::Result<()> {
    let servers = Series::ALL.iter().map(|series| [series.as_str(), series.unit(), "server"]);
    let topics = TopicSeries::ALL.iter().map(|series| [series.as_str(), series.unit(), "topic"]);
    let groups = GroupSeries::ALL.iter().map(|series| [series.as_str(), series.unit(), "group"]);
    let all: Vec<[&str; 3]> = servers.chain(topics).chain(groups).collect();
    if connection.json {
        let document = |[name, unit, of]: &[&str; 3]| json!({"name": name, "unit": unit, "of": of});
        return output::print_json(&all.iter().map(document).collect::<Vec<_>>());
    }
    let rows = all.into_iter().map(|row| row.map(str::to_owned));
    output::print_table(&output::table(["SERIES", "UNIT", "OF"], rows))
}
