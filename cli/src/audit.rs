//! `castellan audit`.

use crate::{Connection, output};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Print a month of the audit log as CSV
    Csv(Csv),
}

#[derive(Debug, clap::Args)]
pub struct Csv {
    /// Which month [default: the latest that has entries]
    #[arg(long, value_name = "YYYY-MM")]
    month: Option<String>,
}

pub async fn run(command: AuditCommand, connection: &Connection) -> anyhow::Result<()> {
    let AuditCommand::Csv(Csv { month }) = command;
    let mut pieces = connection.client.audit_log(month.as_deref()).await?;
    while let Some(piece) = pieces.next().await? {
        output::print_bytes(&piece)?;
    }
    Ok(())
}
