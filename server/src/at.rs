//! Which installation a command works on, for those that open its store.

use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::installation::{self, Opened};
use anyhow::{Result, bail};
use clap::Args;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct At {
    /// The installation's data directory
    #[arg(long, default_value_os_t = DataDir::default_path())]
    data: PathBuf,
    /// The config file of the control plane, if it names a database
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// For lists of what the installation has.
#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub at: At,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// For lists of what an account has.
#[derive(Args)]
pub struct AccountListArgs {
    #[command(flatten)]
    pub at: At,
    /// Id, e-mail or name of the account; not needed where there is one
    #[arg(long)]
    pub account: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl At {
    pub fn data(&self) -> Result<DataDir> {
        DataDir::new(&self.data)
    }

    pub fn config(&self) -> Result<Config> {
        let mut config = Config::load(self.config.as_deref())?;
        self.database.apply(&mut config);
        Ok(config)
    }

    /// Opens an installation that is there; never makes one.
    pub async fn open(&self) -> Result<Opened> {
        open_there(&self.data()?, &self.config()?).await
    }
}

/// Opens an installation that is there; never makes one.
pub async fn open_there(data: &DataDir, config: &Config) -> Result<Opened> {
    if !data.store().exists() && config.database_url.is_none() {
        let path = data.path().display();
        bail!("there is no store at {path}; name the data directory with --data");
    }
    installation::open(data, config.database_url.as_ref()).await
}

/// Goes on only if a person says yes. Where nobody can be asked, `--yes` says so.
pub fn ask(question: &str) -> Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked here; say --yes if that is what you want: {question}");
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        bail!("nothing was changed");
    }
    Ok(())
}
