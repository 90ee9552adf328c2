//! `castellan plan`.

use crate::{Connection, output};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// List the plans on offer
    List,
}

pub async fn run(command: PlanCommand, connection: &Connection) -> anyhow::Result<()> {
    let PlanCommand::List = command;
    let plans = connection.client.plans().await?;
    if connection.json {
        return output::print_json(&plans);
    }
    let rows = plans.into_iter().map(|plan| {
        let kind = if plan.shared { "shared" } else { "dedicated" };
        [plan.name, format!("${}", plan.price), kind.into()]
    });
    output::print_table(&output::table(["PLAN", "A MONTH", "KIND"], rows))
}
