//! `castellan region`.

use crate::{Connection, output};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum RegionCommand {
    /// List the regions on offer
    List,
}

pub async fn run(command: RegionCommand, connection: &Connection) -> anyhow::Result<()> {
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
