//! `castellan certificate`.

use crate::{Connection, OnInstance, complete, output};
use anyhow::Context as _;
use clap::Subcommand;
use clap_complete::ArgValueCompleter;
use serde_json::json;
use std::path::{Path, PathBuf};
use wire::ca::Certificate;

#[derive(Debug, Subcommand)]
pub enum CertificateCommand {
    /// Sign a client's certificate request; the certificate goes to stdout
    Sign(Sign),
    /// List the certificates that were signed for an instance's clients
    List(OnInstance),
    /// Have an instance's brokers refuse a certificate, for good
    Revoke(Revoke),
}

pub async fn run(command: CertificateCommand, connection: &Connection) -> anyhow::Result<()> {
    match command {
        CertificateCommand::Sign(options) => sign(&options, connection).await,
        CertificateCommand::List(on) => list(&on, connection).await,
        CertificateCommand::Revoke(options) => revoke(&options, connection).await,
    }
}

#[derive(Debug, clap::Args)]
pub struct Sign {
    #[command(flatten)]
    on: OnInstance,
    /// A file with the request, as openssl and keytool make it; `-` is stdin
    csr: PathBuf,
}

/// `castellan certificate sign`.
async fn sign(options: &Sign, connection: &Connection) -> anyhow::Result<()> {
    let csr = read(&options.csr)?;
    let id = options.on.id(connection).await?;
    let certificate = connection.client.sign_certificate(id, &csr).await?;
    if connection.json {
        return output::print_json(&json!({ "certificate": certificate }));
    }
    output::print_bytes(certificate.as_bytes())
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        return std::io::read_to_string(std::io::stdin()).context("stdin can't be read");
    }
    std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))
}

/// `castellan certificate list`.
async fn list(on: &OnInstance, connection: &Connection) -> anyhow::Result<()> {
    let certificates = connection.client.certificates(on.id(connection).await?).await?;
    let row = |it: Certificate| {
        let revoked = it.revoked_at.map_or_else(String::new, |at| at.to_string());
        [it.serial, it.cn, it.issued_at.to_string(), it.expires_at.to_string(), revoked]
    };
    let headings = ["SERIAL", "CN", "ISSUED", "EXPIRES", "REVOKED"];
    output::print_list(certificates, headings, row, connection)
}

#[derive(Debug, clap::Args)]
pub struct Revoke {
    #[command(flatten)]
    on: OnInstance,
    /// The certificate's serial in hex, as `castellan certificate list` shows it
    #[arg(add = ArgValueCompleter::new(complete::serials))]
    serial: String,
}

/// `castellan certificate revoke`.
async fn revoke(options: &Revoke, connection: &Connection) -> anyhow::Result<()> {
    let id = options.on.id(connection).await?;
    connection.client.revoke_certificate(id, &options.serial).await?;
    let serial = &options.serial;
    let sentence = format!("Certificate {serial} is revoked; brokers refuse it within seconds");
    output::print_sentence(&json!({ "serial": serial, "revoked": true }), &sentence, connection)
}
