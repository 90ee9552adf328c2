//! Where a control plane keeps its things and how it is set up: the flags that
//! `serve` and `up` share, laid over the config file.

use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::listen::ListenArgs;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct SettingsArgs {
    /// The data directory; made if it is not there
    #[arg(long, default_value_os_t = DataDir::default_path())]
    data: PathBuf,
    /// The config file; castellan.example.toml shows every setting
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    listen: ListenArgs,
}

impl SettingsArgs {
    /// Flags win over the file.
    pub fn config(&self) -> Result<Config> {
        let mut config = Config::load(self.config.as_deref())?;
        self.database.apply(&mut config);
        self.listen.apply(&mut config);
        Ok(config)
    }

    pub fn data(&self) -> Result<DataDir> {
        DataDir::new(&self.data)
    }
}
