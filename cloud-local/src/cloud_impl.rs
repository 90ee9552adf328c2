//! The `Cloud` trait on one host.

use crate::error::outcome;
use crate::layout::remove;
use crate::{LocalCloud, LocalError, disks, servers};
use async_trait::async_trait;
use cloud::{Agent, Cloud, DiskSpec, Disruption, Inventory, NetworkSpec, Outcome, ServerSpec};
use model::{DiskId, ServerId, VpcId};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::sync::broadcast;

impl LocalCloud {
    fn make_network(&self, network: &NetworkSpec) -> Result<(), LocalError> {
        let path = self.layout.network(network.vpc_id);
        if fs::read(&path).is_ok_and(|present| present == network.subnet.as_bytes()) {
            return Ok(());
        }
        host::write_atomic(&path, network.subnet.as_bytes()).map_err(LocalError::at(&path))
    }

    /// None: an older incarnation's processes are still ending.
    async fn make_server(&self, spec: &ServerSpec) -> Result<Option<Agent>, LocalError> {
        let disk = self.layout.disk(spec.disk_id);
        if disks::marker(&disk).is_none_or(|marker| marker.server_id != spec.id) {
            return Err(LocalError::NoDisk { server: spec.id, disk: spec.disk_id });
        }
        let directory = self.layout.server(spec.id);
        if let Some(present) = servers::Record::load(&directory) {
            if present.incarnation > spec.incarnation {
                let present = present.incarnation;
                return Err(LocalError::Outdated { server: spec.id, present });
            }
            if present.incarnation < spec.incarnation && !self.unmake(spec.id, &directory).await? {
                return Ok(None);
            }
        }
        servers::prepare(&self.layout, spec, &self.options)?;
        self.have_agent(spec, &directory).map(Some)
    }

    fn have_agent(&self, spec: &ServerSpec, directory: &Path) -> Result<Agent, LocalError> {
        if let Some(agent) = servers::live_agent(directory)? {
            self.agents.upgrade(spec.id, &agent, &self.binary);
            self.agents.watch(spec.id, spec.instance_id, agent);
            return Ok(Agent::Running);
        }
        let (agent, ended) = servers::start_agent(directory, self.binary.path())?;
        tracing::info!(server = %spec.id, pid = agent.pid, "started an agent");
        self.agents.follow(spec.id, spec.instance_id, agent, async move {
            ended.await;
        });
        Ok(Agent::Started)
    }

    /// False: its processes are still ending.
    async fn unmake(&self, id: ServerId, directory: &Path) -> Result<bool, LocalError> {
        self.agents.forget(id);
        if !servers::end_processes(directory).await {
            return Ok(false);
        }
        servers::remove_directory(directory)?;
        Ok(true)
    }
}

fn still_ending<T>(server: ServerId) -> Outcome<T> {
    Outcome::Pending {
        reason: format!("the processes of server {server} are still ending"),
        after: Duration::from_millis(200),
    }
}

#[async_trait]
impl Cloud for LocalCloud {
    async fn ensure_network(&self, network: &NetworkSpec) -> Outcome<()> {
        outcome(self.make_network(network))
    }

    async fn ensure_disk(&self, disk: &DiskSpec) -> Outcome<()> {
        outcome(disks::ensure(&self.layout, disk))
    }

    async fn ensure_server(&self, server: &ServerSpec) -> Outcome<Agent> {
        let _serial = self.serial.lock().await;
        match self.make_server(server).await.transpose() {
            None => still_ending(server.id),
            Some(made) => outcome(made),
        }
    }

    async fn remove_server(&self, server: ServerId) -> Outcome<()> {
        let _serial = self.serial.lock().await;
        match self.unmake(server, &self.layout.server(server)).await {
            Ok(false) => still_ending(server),
            other => outcome(other.map(|_| ())),
        }
    }

    async fn remove_disk(&self, disk: DiskId) -> Outcome<()> {
        let layout = self.layout.clone();
        // Deleting much data takes long enough to stop a runtime's thread.
        let removed = tokio::task::spawn_blocking(move || disks::remove_disk(&layout, disk));
        outcome(removed.await.unwrap_or(Err(LocalError::Interrupted)))
    }

    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        outcome(remove(&self.layout.network(network)))
    }

    async fn inventory(&self) -> Outcome<Inventory> {
        let list = || {
            Ok(Inventory {
                networks: self.layout.networks()?.into_iter().map(|(id, _)| id).collect(),
                disks: disks::list(&self.layout)?,
                servers: self.layout.servers()?.into_iter().map(|(id, _)| id).collect(),
            })
        };
        outcome(list())
    }

    fn events(&self) -> broadcast::Receiver<Disruption> {
        self.agents.subscribe()
    }
}
