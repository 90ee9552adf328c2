//! Which Castellan to talk to, and with which key.

use anyhow::{Context as _, anyhow};
use client::{Client, Url};
use model::Secret;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Options of every command that talks to a running Castellan.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Address of the Customer API
    #[arg(long, global = true, env = "CASTELLAN_URL")]
    pub url: Option<String>,
    /// Key of the account
    #[arg(
        long,
        global = true,
        env = "CASTELLAN_APIKEY",
        hide_env_values = true,
        // Keys of other services, and old ones of ours, may begin with a hyphen.
        allow_hyphen_values = true,
        value_parser = secret
    )]
    pub apikey: Option<Secret>,
    /// Data directory of a Castellan on this machine, to read both from
    #[arg(long, global = true, env = "CASTELLAN_DATA")]
    pub data: Option<PathBuf>,
    /// Authority (PEM) of the API's certificate, if it is a private one
    #[arg(long, global = true, env = "CASTELLAN_CACERT", value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long, global = true)]
    pub json: bool,
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of clap's value parsers")]
fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

/// A client, and how to print what it gets.
#[derive(Clone, Debug)]
pub struct Connection {
    pub client: Client,
    pub json: bool,
}

/// The file in which a running Castellan tells its addresses.
#[derive(Deserialize)]
struct Endpoints {
    customer: String,
}

impl Options {
    /// What is not given is read from the data directory.
    pub fn connect(self, default_data: &Path) -> anyhow::Result<Connection> {
        let data = self.data.as_deref().unwrap_or(default_data);
        let url = match self.url {
            Some(url) => url,
            None => endpoint(data)?,
        };
        let apikey = match self.apikey {
            Some(apikey) => apikey,
            None => key(data)?,
        };
        let url: Url = url.parse().with_context(|| format!("{url} is not an address"))?;
        let client = match &self.cacert {
            Some(path) => {
                let pem = std::fs::read_to_string(path)
                    .with_context(|| format!("{} can't be read", path.display()))?;
                Client::with_authority(&url, apikey, &pem)?
            }
            None => Client::new(&url, apikey)?,
        };
        Ok(Connection { client, json: self.json })
    }
}

fn endpoint(data: &Path) -> anyhow::Result<String> {
    let path = data.join("endpoints.json");
    let text = std::fs::read_to_string(&path).map_err(|_| {
        anyhow!(
            "no Castellan is known: {} can't be read; start `castellan serve`, or give --url",
            path.display()
        )
    })?;
    let endpoints: Endpoints = serde_json::from_str(&text)
        .map_err(|_| anyhow!("{} does not name the Customer API", path.display()))?;
    Ok(endpoints.customer)
}

fn key(data: &Path) -> anyhow::Result<Secret> {
    let path = data.join("customer-key");
    let text = std::fs::read_to_string(&path)
        .map_err(|_| anyhow!("no key is known: {} can't be read; give --apikey", path.display()))?;
    Ok(Secret::new(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_stands_in_for_options() {
        let data = tempfile::tempdir().unwrap();
        let error = Options::default().connect(data.path()).unwrap_err().to_string();
        assert!(error.contains("endpoints.json") && error.contains("--url"), "{error}");

        let endpoints = r#"{"customer":"http://127.0.0.1:1","instance":"http://127.0.0.1:2"}"#;
        std::fs::write(data.path().join("endpoints.json"), endpoints).unwrap();
        let error = Options::default().connect(data.path()).unwrap_err().to_string();
        assert!(error.contains("customer-key") && error.contains("--apikey"), "{error}");

        std::fs::write(data.path().join("customer-key"), "k3y\n").unwrap();
        Options::default().connect(data.path()).unwrap();
    }

    #[test]
    fn given_options_need_no_directory() {
        let options = Options {
            url: Some("http://127.0.0.1:1".into()),
            apikey: Some(Secret::new("k3y")),
            ..Default::default()
        };
        options.clone().connect(Path::new("/nowhere")).unwrap();
        assert!(!format!("{options:?}").contains("k3y"));

        let wrong = Options { url: Some("ftp://127.0.0.1".into()), ..options };
        let error = wrong.connect(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("not the address"), "{error}");
    }
}
