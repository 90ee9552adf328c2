//! `castellan instance restart`.

use super::{follow, power};
use crate::{Connection, complete};
use clap_complete::ArgValueCompleter;

#[derive(Debug, clap::Args)]
pub struct Restart {
    /// The instance's id
    #[arg(add = ArgValueCompleter::new(complete::instance_ids))]
    pub id: i64,
    /// Only the broker of this server; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// Return only when it is done
    #[arg(long)]
    pub wait: bool,
}

pub async fn run(options: &Restart, connection: &Connection) -> anyhow::Result<()> {
    let Restart { id, servers, wait } = options;
    let client = &connection.client;
    let accepted = if servers.is_empty() {
        client.restart_cluster(*id).await?
    } else {
        client.restart_servers(*id, servers).await?
    };
    if *wait {
        follow::wait_for(client, *id, &accepted).await?;
    }
    power::print(&accepted, connection)
}
