//! `castellan certificate`.

mod list;
mod revoke;
mod sign;

use crate::{Connection, OnInstance};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// Sign a client's certificate request; the certificate goes to stdout
    Sign(sign::Sign),
    /// List the certificates that were signed for an instance's clients
    List(OnInstance),
    /// Have an instance's brokers refuse a certificate, for good
    Revoke(revoke::Revoke),
}

pub async fn run(command: CertificateCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        CertificateCommand::Sign(options) => sign::run(&options, connection).await,
        CertificateCommand::List(on) => list::run(&on, connection).await,
        CertificateCommand::Revoke(options) => revoke::run(&options, connection).await,
    }
}
