//! The `Cloud` trait on one host.

use crate::error::outcome;
use crate::layout::remove;
use crate::vpcs::{self, Newcomer, Seated};
use crate::{LocalCloud, LocalError, addresses, disks, holdings, kept_logs, limits, servers, uids};
use async_trait::async_trait;
use cloud::{
    Agent, Cloud, DiskSpec, Disruption, Enforcement, Inventory, Kind, NetworkSpec, ObservedServer,
    Outcome, Owner, ServerSpec,
};
use host::ProcessId;
use model::{DiskId, InstanceId, Opening, Published, ServerId, VpcId};
use netns::Rule;
use std::fs;
use std::path::Path;
use tokio::sync::broadcast;

impl LocalCloud {
    /// One that has a record already and no namespace stays as it is, with its servers.
    async fn make_network(&self, network: &NetworkSpec) -> Result<(), LocalError> {
        let (id, path) = (network.vpc_id, self.layout.network(network.vpc_id));
        let is_new = !path.exists() || self.layout.vpc(id).exists();
        // Shared plans have none.
        let subnet = network.subnet.parse().ok().filter(|_| is_new);
        if let Some((vpcs, subnet)) = self.vpcs.as_ref().zip(subnet) {
            vpcs::blocking(vpcs, move |vpcs| vpcs.ensure(id, subnet)).await?;
        }
        if fs::read(&path).is_ok_and(|present| present == network.subnet.as_bytes()) {
            return Ok(());
        }
        host::write_atomic(&path, network.subnet.as_bytes()).map_err(LocalError::at(&path))
    }

    /// Whether the disk is there is the agent's to see: it holds the broker, says
    /// why, and can still be told to stop. Its addresses are the host's own, and so are those
    /// that were chosen for it.
    async fn make_server(&self, spec: &ServerSpec) -> Result<ObservedServer, LocalError> {
        let _serial = self.serial.lock().await;
        let directory = self.layout.server(spec.id);
        let present = servers::Record::load(&directory).map(|record| record.incarnation);
        if let Some(present) = present.filter(|present| *present > spec.incarnation) {
            return Err(LocalError::Outdated { server: spec.id, present });
        }
        let uid = self.uid(spec.instance_id)?;
        let published = self.published(spec);
        let seated = self.seat(spec, published.as_ref()).await?;
        let options = self.options_in(seated.is_some());
        servers::prepare(&self.layout, spec, &options, uid)?;
        let namespace = seated.as_ref().map(|seated| seated.namespace.as_path());
        let agent = self.have_agent(spec, &directory, (uid, namespace))?;
        let addresses =
            seated.map(|seated| addresses::private(seated.address, Some(seated.alias), published));
        let addresses = addresses.unwrap_or_else(|| spec.addresses.clone());
        Ok(ObservedServer { agent, addresses })
    }

    /// The server's place in its network, if that is in a namespace.
    async fn seat(
        &self,
        spec: &ServerSpec,
        published: Option<&Published>,
    ) -> Result<Option<Seated>, LocalError> {
        let Some(vpcs) = &self.vpcs else {
            return self.is_seated(spec.id).map(|_| None);
        };
        let newcomer = Newcomer {
            server: spec.id,
            instance: spec.instance_id,
            wanted: spec.addresses.private_ip.parse().ok(),
            published: published.map(addresses::forwarded).into_iter().flatten().collect(),
        };
        let vpc = spec.vpc_id;
        vpcs::blocking(vpcs, move |vpcs| vpcs.join(vpc, &newcomer)).await
    }

    /// Where the host takes connections for the server. A network is published as its servers
    /// were made; a new one, where its place was proposed.
    fn published(&self, spec: &ServerSpec) -> Option<Published> {
        let listeners = &spec.addresses.listeners;
        let publishes = self.options.network.as_ref().is_some_and(|network| network.publishes);
        if listeners.reached_at.is_some() || !publishes {
            return listeners.published.clone();
        }
        Some(addresses::published(listeners))
    }

    fn have_agent(
        &self,
        spec: &ServerSpec,
        directory: &Path,
        (uid, namespace): (Option<u32>, Option<&Path>),
    ) -> Result<Agent, LocalError> {
        let group = limits::ensure(&self.layout, &self.groups, spec);
        let enter = |processes: &[ProcessId]| {
            if let Some(group) = &group {
                limits::enter(group, spec.id, processes);
            }
        };
        if let Some(agent) = servers::live_agent(directory) {
            enter(std::slice::from_ref(&agent));
            self.agents.upgrade(spec.id, &agent, &self.binary);
            self.agents.watch(spec.id, spec.instance_id, agent);
            return Ok(Agent::Running);
        }
        let uid = self.settle_uid(spec, directory, uid)?;
        let (agent, ended) = servers::start_agent(directory, self.binary.path(), uid, namespace)?;
        enter(std::slice::from_ref(&agent));
        tracing::info!(server = %spec.id, pid = agent.pid, uid, "started an agent");
        self.agents.follow(spec.id, spec.instance_id, agent, async move {
            ended.await;
        });
        Ok(Agent::Started)
    }

    /// The uid that the instance's servers have, if they have one apart.
    pub(crate) fn uid(&self, instance: InstanceId) -> Result<Option<u32>, LocalError> {
        self.uids.as_ref().map(|uids| uids.ensure(instance)).transpose()
    }

    /// Gives the server's files to its uid before an agent starts. One whose broker runs
    /// stays as it is: a broker that an earlier release started runs as us, and its agent has
    /// to reach it. That agent changes its uid when the broker has ended.
    fn settle_uid(
        &self,
        spec: &ServerSpec,
        directory: &Path,
        uid: Option<u32>,
    ) -> Result<Option<u32>, LocalError> {
        let owner = host::owner(directory).map_err(LocalError::at(directory))?;
        let Some(uid) = uid else {
            // One that has a uid keeps it when instances get none any more.
            return Ok(Some(owner).filter(|owner| host::is_root() && *owner != 0));
        };
        if owner != uid && !servers::processes(directory).is_empty() {
            return Ok(None);
        }
        let disk = self.layout.disk(spec.disk_id);
        // One that is not there, or another's, is the agent's to see.
        let marker = disks::marker(&disk).filter(|marker| marker.server_id == spec.id);
        if marker.is_some() {
            disks::give_away(&disk, uid)?;
        }
        servers::give_away(directory, uid)?;
        Ok(Some(uid))
    }

    async fn unmake(&self, id: ServerId, instance: InstanceId) -> Result<(), LocalError> {
        self.agents.forget(id);
        if !servers::end_processes(&self.layout, id, Some(instance)).await {
            return Err(LocalError::StillEnding(id));
        }
        if let Some(vpcs) = &self.vpcs {
            vpcs::blocking(vpcs, move |vpcs| vpcs.leave(id)).await?;
        }
        kept_logs::set_aside(&self.layout, &self.layout.server(id));
        servers::remove_all(&self.layout, id)
    }

    async fn remove_disk_for(&self, by: &Owner, disk: DiskId) -> Result<(), LocalError> {
        let leave = self.fences.enter(by, Kind::Remove).await?;
        let layout = self.layout.clone();
        // Deleting much data takes long enough to stop a runtime's thread. It
        // goes on when its caller has stopped waiting, and so does its leave.
        let removed = tokio::task::spawn_blocking(move || {
            let _leave = leave;
            disks::remove_disk(&layout, disk)
        });
        removed.await.unwrap_or(Err(LocalError::Interrupted))
    }

    /// The effect, if no later owner of the instance was here before. No other
    /// worker acts on the instance until it has ended.
    async fn owned<T>(
        &self,
        by: &Owner,
        kind: Kind,
        effect: impl Future<Output = Result<T, LocalError>>,
    ) -> Outcome<T> {
        let owned = async {
            let _leave = self.fences.enter(by, kind).await?;
            effect.await
        };
        outcome(owned.await)
    }
}

#[async_trait]
impl Cloud for LocalCloud {
    async fn take_over(&self, by: &Owner) -> Outcome<()> {
        self.owned(by, Kind::Remove, async { Ok(()) }).await
    }

    async fn ensure_network(&self, by: &Owner, network: &NetworkSpec) -> Outcome<()> {
        self.owned(by, Kind::Make, self.make_network(network)).await
    }

    async fn ensure_disk(&self, by: &Owner, disk: &DiskSpec) -> Outcome<()> {
        let made = async { disks::ensure(&self.layout, disk, self.uid(disk.instance_id)?) };
        self.owned(by, Kind::Make, made).await
    }

    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<ObservedServer> {
        self.owned(by, Kind::Make, self.make_server(server)).await
    }

    async fn remove_server(&self, by: &Owner, server: ServerId) -> Outcome<()> {
        let removal = async {
            let _serial = self.serial.lock().await;
            self.unmake(server, by.instance_id).await
        };
        self.owned(by, Kind::Remove, removal).await
    }

    async fn remove_disk(&self, by: &Owner, disk: DiskId) -> Outcome<()> {
        outcome(self.remove_disk_for(by, disk).await)
    }

    /// Nothing is enforced for servers at addresses of the host itself, where rules for one
    /// server would be rules for the whole host.
    async fn apply_firewall(&self, server: ServerId, openings: &[Opening]) -> Outcome<Enforcement> {
        let rule = |opening: &Opening| {
            let from = opening.from;
            opening.ports.iter().map(move |port| Rule::new(from, *port)).collect::<Vec<_>>()
        };
        let rules = openings.iter().flat_map(rule).collect();
        let enforcement = |is_enforced| {
            if is_enforced { Enforcement::Enforced } else { Enforcement::NotEnforced }
        };
        outcome(self.open_to(server, rules).await.map(enforcement))
    }

    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        let removed = async {
            if let Some(vpcs) = &self.vpcs {
                vpcs::blocking(vpcs, move |vpcs| vpcs.remove(network)).await?;
            }
            remove(&self.layout.network(network))
        };
        outcome(removed.await)
    }

    async fn retire(&self, by: &Owner) -> Outcome<()> {
        let retired = async {
            let leave = self.fences.enter(by, Kind::Remove).await?;
            if !holdings::has_any(&self.layout, by.instance_id)? {
                uids::forget(&self.layout, by.instance_id)?;
            }
            self.fences.retire(&leave, by)
        };
        outcome(retired.await)
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
