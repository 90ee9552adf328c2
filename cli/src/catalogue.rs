//! `castellan plan` and `castellan region`: what can be ordered, and where it can run.

use crate::{Connection, output};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// List the plans on offer
    List,
}

pub async fn plans(command: PlanCommand, connection: &Connection) -> anyhow::Result<()> {
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

#[derive(Debug, Subcommand)]
pub enum RegionCommand {
    /// List the regions on offer
    List,
}

pub async fn regions(command: RegionCommand, connection: &Connection) -> anyhow::Result<()> {
    let RegionCommand::List = command;
    let regions = connection.client.regions().await?;
    if connection.json {
        return output::print_json(&regions);
    }
    let rows = regions
        .into_iter()
        .map(|region| [format!("{}::{}", region.provider, region.region), region.name]);
    output::print_table(&output::table(["REGION", "NAME"], rows))
}
