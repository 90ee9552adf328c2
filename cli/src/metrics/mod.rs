//! `castellan metrics`.

mod chart;
mod list;
mod number;
mod plot;
mod show;
mod span;

use crate::Connection;
use clap::Subcommand;

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
        MetricsCommand::List => list::run(connection),
        MetricsCommand::Show(options) => show::run(&options, connection).await,
        MetricsCommand::Plot(options) => plot::run(&options, connection).await,
    }
}
