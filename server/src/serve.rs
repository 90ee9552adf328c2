//! `castellan serve`: the control plane in the foreground, for systemd and
//! scripts.

use crate::control_plane::ControlPlane;
use crate::settings::SettingsArgs;
use crate::signals;
use anyhow::{Result, bail};

pub async fn run(args: SettingsArgs) -> Result<()> {
    let config = args.config()?;
    let data = args.data()?;
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
