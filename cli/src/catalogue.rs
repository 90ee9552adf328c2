//! `castellan plan` and `castellan region`: what can be ordered, and where it can run.

use crate::{Connection, output};
use clap::Subcommand;
use wire::customer::{Plan, Region};

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// List the plans on offer
    List,
}

pub async fn plans(command: PlanCommand, connection: &Connection) -> anyhow::Result<()> {
    let PlanCommand::List = command;
    let plans = connection.client.plans().await?;
    let row = |plan: Plan| {
        let kind = if plan.shared { "shared" } else { "dedicated" };
        [plan.name, format!("${}", plan.price), kind.into()]
    };
    output::print_list(plans, ["PLAN", "A MONTH", "KIND"], row, connection)
}

#[derive(Debug, Subcommand)]
pub enum RegionCommand {
    /// List the regions on offer
    List,
}

pub async fn regions(command: RegionCommand, connection: &Connection) -> anyhow::Result<()> {
    let RegionCommand::List = command;
    let regions = connection.client.regions().await?;
    let row = |it: Region| [format!("{}::{}", it.provider, it.region), it.name];
    output::print_list(regions, ["REGION", "NAME"], row, connection)
}
