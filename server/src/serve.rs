//! `castellan serve`: the control plane in the foreground, for systemd and
//! scripts.

use crate::config::{Config, DatabaseArgs};
use crate::control_plane::ControlPlane;
use crate::data_dir::DataDir;
use crate::listen::ListenArgs;
use crate::signals;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct ServeArgs {
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

pub async fn run(args: ServeArgs) -> Result<()> {
    let mut config = Config::load(args.config.as_deref())?;
    args.database.apply(&mut config);
    args.listen.apply(&mut config);
    let data = DataDir::new(&args.data)?;
    let mut running = ControlPlane::start(&data, config).await?;
    for remark in &running.remarks {
        tracing::warn!("{remark}");
    }
    tracing::info!(
        customer = running.endpoints.customer,
        instance = running.endpoints.instance,
        agent = running.endpoints.agent,
        data = %data.path().display(),
        "castellan serves"
    );
    let broken = tokio::select! {
        () = signals::stop_asked() => false,
        () = running.broken() => true,
    };
    tracing::info!("stopping; clusters go on running");
    running.stop().await;
    if broken {
        bail!("a part of the control plane ended by itself; its log says why");
    }
    Ok(())
}
