//! `castellan session`: where you are signed in to the console.

use crate::{Connection, complete, output};
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use wire::sessions::SessionEntry;

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List your sessions, the one that was seen last first
    List,
    /// End one of your sessions, or all of them
    End(End),
}

#[derive(Debug, clap::Args)]
pub struct End {
    /// Its id, as `castellan session list` shows it
    #[arg(required_unless_present = "all", add = ArgValueCompleter::new(complete::sessions))]
    session: Option<String>,
    /// Sign out everywhere
    #[arg(long, conflicts_with = "session")]
    all: bool,
}

pub async fn run(command: SessionCommand, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    match command {
        SessionCommand::List => list(connection).await,
        SessionCommand::End(End { session: Some(id), .. }) => Ok(client.end_session(&id).await?),
        SessionCommand::End(_) => Ok(client.end_sessions().await?),
    }
}

async fn list(connection: &Connection) -> anyhow::Result<()> {
    let row = |it: SessionEntry| {
        let (started, seen) = (it.started_at.to_string(), it.last_seen_at.to_string());
        [it.id, started, seen, output::or_dash(it.address), it.browser]
    };
    let headings = ["ID", "STARTED", "LAST SEEN", "ADDRESS", "BROWSER"];
    output::print_list(connection.client.sessions().await?, headings, row, connection)
}
