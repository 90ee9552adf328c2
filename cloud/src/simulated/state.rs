//! What a simulated cloud holds, and what happened to it.
//!
//! Its answers without faults are those of any good cloud; faults are put
//! around it from outside.

use crate::{
    Addresses, Agent, DiskSpec, Enforcement, Inventory, Kind, Mark, NetworkSpec, ObservedServer,
    Outcome, Owner, Refusal, ServerSpec,
};
use model::{DiskId, InstanceId, Opening, ServerId, VpcId};
use std::collections::{BTreeMap, BTreeSet};

/// Something that changed in the cloud.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    NetworkMade(VpcId),
    NetworkRemoved(VpcId),
    DiskMade(DiskId),
    /// To so many gigabytes.
    DiskGrown(DiskId, u32),
    DiskRemoved(DiskId),
    /// A server of that incarnation.
    ServerMade(ServerId, i64),
    ServerRemoved(ServerId),
    AgentStarted(ServerId),
    AgentEnded(ServerId),
}

impl Effect {
    /// The effect after which this one may happen again.
    fn undone_by(self) -> Self {
        match self {
            Effect::NetworkMade(id) => Effect::NetworkRemoved(id),
            Effect::NetworkRemoved(id) => Effect::NetworkMade(id),
            Effect::DiskMade(id) | Effect::DiskGrown(id, _) => Effect::DiskRemoved(id),
            Effect::DiskRemoved(id) => Effect::DiskMade(id),
            Effect::ServerMade(id, _) => Effect::ServerRemoved(id),
            Effect::ServerRemoved(id) => Effect::ServerMade(id, 0),
            Effect::AgentStarted(id) => Effect::AgentEnded(id),
            Effect::AgentEnded(id) => Effect::AgentStarted(id),
        }
    }

    /// The same effect on the same thing, whatever the incarnation.
    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Effect::ServerMade(one, _), Effect::ServerMade(two, _)) => one == two,
            _ => self == other,
        }
    }
}

#[derive(Debug)]
struct Disk {
    spec: DiskSpec,
    has_data: bool,
}

#[derive(Debug)]
struct Server {
    spec: ServerSpec,
    agent_alive: bool,
    openings: Option<Vec<Opening>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    networks: BTreeMap<VpcId, String>,
    disks: BTreeMap<DiskId, Disk>,
    servers: BTreeMap<ServerId, Server>,
    marks: BTreeMap<InstanceId, Mark>,
    /// Addresses that the cloud has chosen itself.
    assigned: BTreeMap<ServerId, Addresses>,
    enforces_firewalls: bool,
    /// Networks whose removal never comes back.
    blocked_removals: BTreeSet<VpcId>,
    /// Servers to which rules are given without an end.
    blocked_firewalls: BTreeSet<ServerId>,
    effects: Vec<Effect>,
}

impl State {
    pub(super) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    pub(super) fn made_twice(&self) -> Vec<Effect> {
        let again = |(at, effect): (usize, &Effect)| {
            let before = self.effects[..at].iter().rev();
            before
                .take_while(|earlier| !earlier.is_like(effect.undone_by()))
                .any(|earlier| earlier.is_like(*effect))
        };
        let repeated = self.effects.iter().enumerate().filter(|entry| again(*entry));
        repeated.map(|(_, effect)| *effect).collect()
    }

    /// Lets an owner act, and keeps earlier ones out from then on.
    pub(super) fn admit(&mut self, by: &Owner, kind: Kind) -> Result<(), Refusal> {
        let before = self.marks.get(&by.instance_id).copied();
        let mark = Mark::admit(before, by, kind)?;
        self.marks.insert(by.instance_id, mark);
        Ok(())
    }

    pub(super) fn retire(&mut self, by: &Owner) -> Outcome<()> {
        self.marks.insert(by.instance_id, Mark { epoch: by.epoch, retired: true });
        Outcome::Ready(())
    }

    pub(super) fn ensure_network(&mut self, network: &NetworkSpec) -> Outcome<()> {
        if self.networks.insert(network.vpc_id, network.subnet.clone()).is_none() {
            self.effects.push(Effect::NetworkMade(network.vpc_id));
        }
        Outcome::Ready(())
    }

    pub(super) fn ensure_disk(&mut self, spec: &DiskSpec) -> Outcome<()> {
        match self.disks.get_mut(&spec.id) {
            Some(disk)
                if disk.spec.instance_id == spec.instance_id
                    && disk.spec.server_id == spec.server_id =>
            {
                if disk.spec.size_gb < spec.size_gb {
                    disk.spec.size_gb = spec.size_gb;
                    self.effects.push(Effect::DiskGrown(spec.id, spec.size_gb));
                }
                Outcome::Ready(())
            }
            Some(disk) => Outcome::give_up(format!(
                "disk {} belongs to server {} of instance {}",
                spec.id, disk.spec.server_id, disk.spec.instance_id
            )),
            None => {
                self.disks.insert(spec.id, Disk { spec: spec.clone(), has_data: false });
                self.effects.push(Effect::DiskMade(spec.id));
                Outcome::Ready(())
            }
        }
    }

    pub(super) fn ensure_server(&mut self, spec: &ServerSpec) -> Outcome<ObservedServer> {
        let known = self.servers.get(&spec.id);
        let present = known.map(|server| server.spec.incarnation);
        if let Some(newer) = present.filter(|present| *present > spec.incarnation) {
            return Outcome::give_up(format!(
                "server {} is at incarnation {newer} already",
                spec.id
            ));
        }
        let (is_new, agent_alive) = (known.is_none(), known.is_some_and(|s| s.agent_alive));
        if is_new {
            self.effects.push(Effect::ServerMade(spec.id, spec.incarnation));
        }
        if !agent_alive {
            self.effects.push(Effect::AgentStarted(spec.id));
        }
        let mut spec = spec.clone();
        let kept = known.filter(|_| present == Some(spec.incarnation));
        spec.token = spec.token.or_else(|| kept.and_then(|server| server.spec.token.clone()));
        let addresses = self.assigned.get(&spec.id).unwrap_or(&spec.addresses).clone();
        let openings = known.and_then(|server| server.openings.clone());
        self.servers.insert(spec.id, Server { spec, agent_alive: true, openings });
        let agent = if agent_alive { Agent::Running } else { Agent::Started };
        Outcome::Ready(ObservedServer { agent, addresses })
    }

    pub(super) fn remove_server(&mut self, id: ServerId) -> Outcome<()> {
        self.stop_agent(id);
        if self.servers.remove(&id).is_some() {
            self.effects.push(Effect::ServerRemoved(id));
        }
        Outcome::Ready(())
    }

    pub(super) fn remove_disk(&mut self, id: DiskId) -> Outcome<()> {
        if let Some(user) = self.servers.values().find(|server| server.spec.disk_id == id) {
            return Outcome::retry(format!("disk {id} is still used by server {}", user.spec.id));
        }
        if self.disks.remove(&id).is_some() {
            self.effects.push(Effect::DiskRemoved(id));
        }
        Outcome::Ready(())
    }

    pub(super) fn apply_firewall(
        &mut self,
        id: ServerId,
        openings: &[Opening],
    ) -> Outcome<Enforcement> {
        let Some(server) = self.servers.get_mut(&id) else {
            return Outcome::retry(format!("server {id} is not there"));
        };
        server.openings = Some(openings.to_vec());
        Outcome::Ready(if self.enforces_firewalls {
            Enforcement::Enforced
        } else {
            Enforcement::NotEnforced
        })
    }

    pub(super) fn block_removal(&mut self, id: VpcId, is_blocked: bool) {
        if is_blocked {
            self.blocked_removals.insert(id);
        } else {
            self.blocked_removals.remove(&id);
        }
    }

    pub(super) fn is_removal_blocked(&self, id: VpcId) -> bool {
        self.blocked_removals.contains(&id)
    }

    pub(super) fn block_firewall(&mut self, id: ServerId) {
        self.blocked_firewalls.insert(id);
    }

    pub(super) fn is_firewall_blocked(&self, id: ServerId) -> bool {
        self.blocked_firewalls.contains(&id)
    }

    pub(super) fn enforce_firewalls(&mut self, enforces: bool) {
        self.enforces_firewalls = enforces;
    }

    pub(super) fn openings(&self, id: ServerId) -> Option<Vec<Opening>> {
        self.servers.get(&id)?.openings.clone()
    }

    pub(super) fn flush_firewall(&mut self, id: ServerId) {
        if let Some(server) = self.servers.get_mut(&id) {
            server.openings = None;
        }
    }

    pub(super) fn remove_network(&mut self, id: VpcId) -> Outcome<()> {
        if self.networks.remove(&id).is_some() {
            self.effects.push(Effect::NetworkRemoved(id));
        }
        Outcome::Ready(())
    }

    pub(super) fn inventory(&self) -> Inventory {
        Inventory {
            networks: self.networks.keys().copied().collect(),
            disks: self.disks.keys().copied().collect(),
            servers: self.servers.keys().copied().collect(),
        }
    }

    /// The server's instance, if there was an agent to stop.
    pub(super) fn stop_agent(&mut self, id: ServerId) -> Option<InstanceId> {
        let server = self.servers.get_mut(&id).filter(|server| server.agent_alive)?;
        server.agent_alive = false;
        self.effects.push(Effect::AgentEnded(id));
        Some(server.spec.instance_id)
    }

    pub(super) fn agent_is_alive(&self, id: ServerId) -> bool {
        self.servers.get(&id).is_some_and(|server| server.agent_alive)
    }

    pub(super) fn lose_disk(&mut self, id: DiskId) {
        self.disks.remove(&id);
    }

    pub(super) fn write_on_disk(&mut self, id: DiskId) {
        if let Some(disk) = self.disks.get_mut(&id) {
            disk.has_data = true;
        }
    }

    pub(super) fn disk_has_data(&self, id: DiskId) -> bool {
        self.disks.get(&id).is_some_and(|disk| disk.has_data)
    }

    pub(super) fn server(&self, id: ServerId) -> Option<ServerSpec> {
        self.servers.get(&id).map(|server| server.spec.clone())
    }

    pub(super) fn assign(&mut self, id: ServerId, addresses: Addresses) {
        self.assigned.insert(id, addresses);
    }

    pub(super) fn disk_gb(&self, id: DiskId) -> Option<u32> {
        self.disks.get(&id).map(|disk| disk.spec.size_gb)
    }

    pub(super) fn disk_owner(&self, id: DiskId) -> Option<InstanceId> {
        self.disks.get(&id).map(|disk| disk.spec.instance_id)
    }
}
