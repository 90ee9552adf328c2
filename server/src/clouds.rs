//! The clouds of this control plane, by the names that the catalogue binds regions to.
//! Another cloud is another entry here.

use crate::catalogue::LOCAL_CLOUD;
use crate::config::{CloudKind, Config, Warm};
use crate::data_dir::{DataDir, Endpoints};
use crate::installation::Opened;
use crate::pool::HostPool;
use crate::room::Room;
use crate::separation::Separation;
use agent::pool::Pool;
use anyhow::{Context, Result};
use app::RegionCloud;
use cloud::{Cloud, Clouds, SimulatedCloud};
use cloud_local::{LocalCloud, LocalPlaces, PoolIsolation};
use model::Catalogue;
use std::sync::Arc;
use store::Installation;

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
}

impl Opening<'_> {
    /// Every cloud, with what is to be said of them.
    pub async fn open(&self) -> Result<(Clouds<ServerCloud>, Vec<String>)> {
        let (acts, remarks) = match self.config.cloud {
            CloudKind::Local => self.local().await?,
            CloudKind::Simulated => (Arc::new(SimulatedCloud::new()) as Arc<dyn Cloud>, vec![]),
        };
        let asked = RegionCloud { room: self.room(), ..local_places(self.opened, self.config)? };
        let named = [(LOCAL_CLOUD.to_owned(), ServerCloud { acts, asked })];
        Ok((Clouds::bind(self.catalogue, named)?, remarks))
    }

    async fn local(&self) -> Result<(Arc<dyn Cloud>, Vec<String>)> {
        let Installation { fleet_ca, .. } = &self.opened.installation;
        let options = cloud_local::Options {
            data_dir: self.data.host(),
            binary: std::env::current_exe().context("this program can't find its own file")?,
            control_plane: self.endpoints.agent.clone(),
            fleet_ca: fleet_ca.clone(),
            host: self.config.host_settings(self.data.path()),
            uids: self.separation.map(|separation| separation.uids.clone()),
            network: None,
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
        let local: Arc<dyn Cloud> = Arc::new(local);
        #[cfg(debug_assertions)]
        let local = crate::hold::around(local);
        Ok((local, remark.into_iter().collect()))
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
        if !is_local || self.config.local.warm == Warm::Count(0) {
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
    Ok(Clouds::bind(catalogue, [(LOCAL_CLOUD.to_owned(), local_places(opened, config)?)])?)
}

fn local_places(opened: &Opened, config: &Config) -> Result<RegionCloud> {
    let (installation, host_id) = (opened.installation.id, opened.host_id);
    let places = LocalPlaces { mode: config.local.address_mode()?, installation, host_id };
    Ok(RegionCloud { places: Arc::new(places), room: None })
}
