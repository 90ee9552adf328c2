//! The clouds of this control plane, by the names that the catalogue binds regions to.
//! Another cloud is another entry here.

use crate::catalogue::LOCAL_CLOUD;
use crate::config::{CloudKind, Config, Public, Warm};
use crate::data_dir::{DataDir, Endpoints};
use crate::installation::Opened;
use crate::pool::HostPool;
use crate::room::Room;
use crate::separation::Separation;
use agent::pool::Pool;
use anyhow::{Context, Result, bail};
use app::RegionCloud;
use cloud::{Cloud, Clouds, SimulatedCloud};
use cloud_local::{LocalCloud, LocalPlaces, NetworkOptions, PoolIsolation, PrivatePlaces};
use model::Catalogue;
use std::net::SocketAddrV4;
use std::sync::Arc;
use store::Installation;

/// Every cloud, where agents in networks of their own call, and what is to be said.
type Clouded = (Clouds<ServerCloud>, Option<SocketAddrV4>, Vec<String>);

/// What this control plane does at a cloud, and what it asks there.
pub struct ServerCloud {
    pub acts: Arc<dyn Cloud>,
    pub asked: RegionCloud,
}

/// What the clouds are opened with.
pub struct Opening<'a> {
    pub data: &'a DataDir,
    pub config: &'a Config,
    pub catalogue: &'a Arc<Catalogue>,
    pub opened: &'a Opened,
    pub endpoints: &'a Endpoints,
    pub separation: Option<&'a Separation>,
    /// Where agents call that are not on this host's own network.
    pub agents_port: u16,
}

impl Opening<'_> {
    /// Every cloud, where agents in networks of their own call, and what is to be said of
    /// the clouds.
    pub async fn open(&self) -> Result<Clouded> {
        let (acts, called_at, remarks) = match self.config.cloud {
            CloudKind::Local => self.local().await?,
            CloudKind::Simulated => {
                (Arc::new(SimulatedCloud::new()) as Arc<dyn Cloud>, None, vec![])
            }
        };
        let private = (self.config.local.is_apart()).then(|| PrivatePlaces {
            directory: self.data.host(),
            publishes: self.config.local.public() != Public::None,
        });
        let places = local_places(self.opened, self.config, private)?;
        let asked = RegionCloud { room: self.room(), ..places };
        let named = [(LOCAL_CLOUD.to_owned(), ServerCloud { acts, asked })];
        Ok((Clouds::bind(self.catalogue, named)?, called_at, remarks))
    }

    async fn local(&self) -> Result<(Arc<dyn Cloud>, Option<SocketAddrV4>, Vec<String>)> {
        let Installation { fleet_ca, .. } = &self.opened.installation;
        let options = cloud_local::Options {
            data_dir: self.data.host(),
            binary: std::env::current_exe().context("this program can't find its own file")?,
            control_plane: self.endpoints.agent.clone(),
            fleet_ca: fleet_ca.clone(),
            host: self.config.host_settings(self.data.path()),
            uids: self.separation.map(|separation| separation.uids.clone()),
            network: self.network().await?,
        };
        let local = LocalCloud::open(options).await?;
        let remark = local.unlimited().map(|missing| {
            format!(
                "servers are not held to their plans' {missing}, because no control groups can be \
                 made for that here: one broker can take it from all others; docs/operations.md \
                 tells what it takes"
            )
        });
        local.resume().await?;
        let remarks = remark.into_iter().chain(self.unforwarded()).collect();
        let called_at = local.called_at();
        let local: Arc<dyn Cloud> = Arc::new(local);
        #[cfg(debug_assertions)]
        let local = crate::hold::around(local);
        Ok((local, called_at, remarks))
    }

    /// Whether other machines can't come by published ports. To let this host forward is not
    /// ours to do.
    fn unforwarded(&self) -> Option<String> {
        let is_off = std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward")
            .is_ok_and(|setting| setting.trim() == "0");
        let is_for_others =
            matches!(self.config.local.public(), Public::Addresses | Public::SharedAddress);
        (is_for_others && is_off).then(|| {
            "this host forwards nothing between machines: clients on others reach no server \
             until `sysctl -w net.ipv4.ip_forward=1`"
                .to_owned()
        })
    }

    /// What this host can't have is refused at the start, not at the first create.
    async fn network(&self) -> Result<Option<NetworkOptions>> {
        if !self.config.local.is_apart() {
            return Ok(None);
        }
        let missing = tokio::task::spawn_blocking(cloud_local::missing_for_networks).await?;
        if let Some(missing) = missing {
            bail!("{missing}; or set network = \"loopback\" under [local]");
        }
        let uids = vec![rustix::process::geteuid().as_raw()];
        let publishes = self.config.local.public() != Public::None;
        Ok(Some(NetworkOptions { agents_port: self.agents_port, uids, publishes }))
    }

    fn room(&self) -> Option<Arc<dyn app::Room>> {
        let local = &self.config.local;
        let is_asked = !local.overcommit && self.config.cloud == CloudKind::Local;
        is_asked.then(|| Arc::new(self.room_of_host()) as Arc<dyn app::Room>)
    }

    fn room_of_host(&self) -> Room {
        Room::new(self.data, self.config, Arc::clone(self.catalogue), self.opened)
    }

    /// The pool of warm JVMs of the local cloud, if there is to be one.
    pub fn pool(&self) -> Result<Option<Pool>> {
        let is_local = self.config.cloud == CloudKind::Local;
        // Its processes are in the host's network and stay there.
        let is_apart = self.config.local.is_apart();
        if !is_local || is_apart || self.config.local.warm == Warm::Count(0) {
            return Ok(None);
        }
        let uids = self.separation.map(|separation| separation.uids.clone());
        let isolation = PoolIsolation::open(&self.data.host(), uids)?;
        Ok(Some(Pool {
            directory: isolation.directory(),
            settings: self.config.host_settings(self.data.path()),
            host: Arc::new(HostPool {
                warm: self.config.local.warm,
                room: self.room_of_host(),
                isolation,
            }),
        }))
    }
}

/// What may be asked of the local cloud without opening it, by commands beside the control
/// plane. They make no instances, so they need no room.
pub fn asked(
    catalogue: &Catalogue,
    opened: &Opened,
    config: &Config,
) -> Result<Clouds<RegionCloud>> {
    Ok(Clouds::bind(catalogue, [(LOCAL_CLOUD.to_owned(), local_places(opened, config, None)?)])?)
}

fn local_places(
    opened: &Opened,
    config: &Config,
    private: Option<PrivatePlaces>,
) -> Result<RegionCloud> {
    let (installation, host_id) = (opened.installation.id, opened.host_id);
    let mode = config.local.address_mode()?;
    let places = LocalPlaces { mode, installation, host_id, private };
    Ok(RegionCloud { places: Arc::new(places), room: None })
}
