//! `castellan instance stop` and `castellan instance start`.

use super::wait;
use crate::{Connection, output};
use wire::customer::Message;

#[derive(Debug, clap::Args)]
pub struct Power {
    /// The instance's id
    pub id: i64,
    /// Return only when every server has stopped, or the cluster is ready
    #[arg(long)]
    pub wait: bool,
}

pub async fn stop(options: &Power, connection: &Connection) -> anyhow::Result<()> {
    let answer = connection.client.stop_cluster(options.id).await?;
    if options.wait {
        wait::until_stopped(&connection.client, options.id).await?;
    }
    print(&answer, connection)
}

pub async fn start(options: &Power, connection: &Connection) -> anyhow::Result<()> {
    let answer = connection.client.start_cluster(options.id).await?;
    if options.wait {
        wait::until_ready(&connection.client, options.id).await?;
    }
    print(&answer, connection)
}

fn print(answer: &Message, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(answer);
    }
    output::print_line(&answer.message)
}
