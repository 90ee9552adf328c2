//! `castellan instance restart`, `stop` and `start`.

use super::{follow, servers, wait};
use crate::{Connection, OnInstance, output};
use wire::actions::Accepted;

#[derive(Debug, clap::Args)]
pub struct Power {
    #[command(flatten)]
    pub on: OnInstance,
    /// Only the broker of this server, by name or number; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// Return only when every server has stopped, or the cluster is ready
    #[arg(long)]
    pub wait: bool,
}

pub async fn stop(options: &Power, connection: &Connection) -> anyhow::Result<()> {
    let Power { on, servers, wait } = options;
    let id = on.id(connection).await?;
    let servers = servers::names(servers, id, connection).await?;
    let client = &connection.client;
    if !servers.is_empty() {
        let accepted = client.stop_servers(id, &servers).await?;
        return follow_and_print(id, *wait, &accepted, connection).await;
    }
    let accepted = client.stop_cluster(id).await?;
    if *wait {
        wait::until_stopped(client, id).await?;
    }
    print(&accepted, connection)
}

pub async fn start(options: &Power, connection: &Connection) -> anyhow::Result<()> {
    let Power { on, servers, wait } = options;
    let id = on.id(connection).await?;
    let servers = servers::names(servers, id, connection).await?;
    let client = &connection.client;
    if !servers.is_empty() {
        let accepted = client.start_servers(id, &servers).await?;
        return follow_and_print(id, *wait, &accepted, connection).await;
    }
    let accepted = client.start_cluster(id).await?;
    if *wait {
        wait::until_ready(client, id).await?;
    }
    print(&accepted, connection)
}

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

/// `castellan instance restart`.
pub async fn restart(options: &Restart, connection: &Connection) -> anyhow::Result<()> {
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
    print(&accepted, connection)
}

async fn follow_and_print(
    id: i64,
    wait: bool,
    accepted: &Accepted,
    connection: &Connection,
) -> anyhow::Result<()> {
    if wait {
        follow::wait_for(&connection.client, id, accepted).await?;
    }
    print(accepted, connection)
}

fn print(accepted: &Accepted, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(accepted);
    }
    output::print_line(&accepted.message)
}
