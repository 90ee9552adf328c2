//! `castellan instance restart`.

use super::{follow, power, servers};
use crate::{Connection, OnInstance};

#[derive(Debug, clap::Args)]
pub struct Restart {
    #[command(flatten)]
    pub on: OnInstance,
    /// Only the broker of this server, by name or number; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// Return only when it is done
    #[arg(long)]
    pub wait: bool,
}

pub async fn run(options: &Restart, connection: &Connection) -> anyhow::Result<()> {
    let Restart { on, servers, wait } = options;
    let id = on.id(connection).await?;
    let servers = servers::names(servers, id, connection).await?;
    let client = &connection.client;
    let accepted = if servers.is_empty() {
        client.restart_cluster(id).await?
    } else {
        client.restart_servers(id, &servers).await?
    };
    if *wait {
        follow::wait_for(client, id, &accepted).await?;
    }
    power::print(&accepted, connection)
}
