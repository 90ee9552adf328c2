//! `castellan certificate sign`.

use crate::{Connection, OnInstance, output};
use anyhow::Context as _;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Sign {
    #[command(flatten)]
    on: OnInstance,
    /// A file with the request, as openssl and keytool make it; `-` is stdin
    csr: PathBuf,
}

pub async fn run(options: &Sign, connection: &Connection) -> anyhow::Result<()> {
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
