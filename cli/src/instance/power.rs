//! `castellan instance restart`, `stop` and `start`.

use super::{follow, servers, wait};
use crate::{Connection, OnInstance, output};

#[derive(Debug, clap::Args)]
pub struct Power {
    #[command(flatten)]
    pub on: OnInstance,
    /// Only the broker of this server, by name or number; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// Return only when it is done
    #[arg(long)]
    pub wait: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Restart,
    Stop,
    Start,
}

/// A restart ends with its action. A whole cluster has stopped or started when every
/// server has, whatever the action is that saw to it.
pub async fn run(verb: Verb, options: &Power, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    let id = options.on.id(connection).await?;
    let servers = servers::names(&options.servers, id, connection).await?;
    let whole = servers.is_empty();
    let accepted = match verb {
        Verb::Restart if whole => client.restart_cluster(id).await?,
        Verb::Restart => client.restart_servers(id, &servers).await?,
        Verb::Stop if whole => client.stop_cluster(id).await?,
        Verb::Stop => client.stop_servers(id, &servers).await?,
        Verb::Start if whole => client.start_cluster(id).await?,
        Verb::Start => client.start_servers(id, &servers).await?,
    };
    if options.wait {
        match verb {
            Verb::Stop if whole => drop(wait::until_stopped(client, id).await?),
            Verb::Start if whole => drop(wait::until_ready(client, id).await?),
            _ => follow::wait_for(client, id, &accepted).await?,
        }
    }
    output::print_sentence(&accepted, &accepted.message, connection)
}
