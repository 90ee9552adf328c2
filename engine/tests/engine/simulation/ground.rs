//! What is really there, whatever anybody believes: disks and what is on them,
//! and brokers' processes, whose Kafka is a simulated one.
//!
//! It lets everything happen that could happen on a real machine, and writes
//! down what must never happen.

use cloud::{Epoch, Owner};
use kafka::simulated::{Process, SimKafka};
use model::{DiskId, InstanceId, ServerId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::agent::{Desired, DesiredBroker};

pub struct Ground {
    pub disks: BTreeMap<DiskId, SimDisk>,
    pub brokers: Vec<SimBroker>,
    kafka: Arc<SimKafka>,
    /// The controllers that the quorum was founded with.
    founders: BTreeSet<String>,
    /// The highest epoch that a cloud has answered.
    owners: BTreeMap<InstanceId, Epoch>,
    /// How often a server's directory was wiped, its agent's keys with it.
    pub lives: BTreeMap<ServerId, u32>,
    /// Whose Kafka node is on which server.
    pub nodes: BTreeMap<ServerId, i32>,
    /// Nodes that went and should not have, unless their instance is deleted.
    pub missed: Vec<String>,
    /// How often a broker was started.
    pub starts: u32,
    /// Servers that were let stop one at a time and are not back yet.
    pub away: BTreeMap<ServerId, Away>,
    /// What happened that never may.
    pub violations: Vec<String>,
}

/// A disk as the cloud made it, with the marker on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimDisk {
    pub instance: InstanceId,
    pub server: ServerId,
    pub formatted: bool,
}

/// A broker's process. It outlives its agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimBroker {
    pub server: ServerId,
    pub instance: InstanceId,
    pub disk: DiskId,
    pub node_id: i32,
    pub config_hash: String,
    pub launch: i64,
}

/// A server that was let stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Away {
    node_id: Option<i32>,
    /// Until somebody asks for it again.
    for_good: bool,
    has_gone: bool,
}

impl Ground {
    /// Bare.
    pub fn new(kafka: Arc<SimKafka>) -> Self {
        Self {
            disks: BTreeMap::new(),
            brokers: Vec::new(),
            kafka,
            founders: BTreeSet::new(),
            owners: BTreeMap::new(),
            lives: BTreeMap::new(),
            nodes: BTreeMap::new(),
            missed: Vec::new(),
            starts: 0,
            away: BTreeMap::new(),
            violations: Vec::new(),
        }
    }

    pub fn violate(&mut self, what: impl Into<String>) {
        self.violations.push(what.into());
    }

    /// A call to the cloud that was answered, or had an effect. Once a later
    /// owner has been answered, no earlier one has an effect.
    pub fn acted(&mut self, by: &Owner, had_effect: bool) {
        let highest = self.owners.entry(by.instance_id).or_insert(by.epoch);
        if by.epoch < *highest && had_effect {
            let words = format!("{by:?} acted after epoch {highest}");
            return self.violate(words);
        }
        *highest = by.epoch.max(*highest);
    }

    pub fn broker(&self, server: ServerId) -> Option<&SimBroker> {
        self.brokers.iter().find(|broker| broker.server == server)
    }

    /// What the broker's process does; one that has ended is forgotten.
    pub fn look_at_broker(&mut self, server: ServerId) -> Process {
        let node = self.broker(server).map(|broker| broker.node_id);
        let process = node.map_or(Process::Down, |node| self.kafka.process(node));
        if process == Process::Down {
            self.brokers.retain(|broker| broker.server != server);
        }
        let is_back = node.is_some_and(|node| self.kafka.serves(node));
        match self.away.get_mut(&server) {
            Some(away) if process != Process::Running => away.has_gone = true,
            Some(Away { has_gone: true, .. }) if is_back => drop(self.away.remove(&server)),
            _ => {}
        }
        process
    }

    /// The broker was let stop while its cluster goes on: whatever anybody
    /// believes, the others must be able to do without it.
    pub fn leaves(&mut self, server: ServerId, for_good: bool) {
        let Some(node) = self.broker(server).map(|broker| broker.node_id) else { return };
        // Whoever came back since their own agents looked is no longer away.
        for other in self.away.keys().copied().collect::<Vec<ServerId>>() {
            self.look_at_broker(other);
        }
        // One that hangs gives nobody anything, and is back the sooner for it.
        let takes_nothing = self.kafka.stands_still(node) && !for_good;
        if !takes_nothing {
            self.miss(node, for_good);
        }
        let could_wait = self.could_elect_without(node);
        let restarts = |(other, away): &(&ServerId, &Away)| {
            let is_awaited = !takes_nothing || could_wait && self.is_on_its_way(away);
            **other != server && !away.for_good && is_awaited
        };
        let other = self.away.iter().find(restarts).map(|(other, _)| *other);
        if let Some(other) = other {
            self.violate(format!("server {server} was let stop while {other} is away"));
        }
        self.away.insert(server, Away { node_id: Some(node), for_good, has_gone: false });
    }

    /// Whether one that was let stop goes or comes back, and nothing keeps it.
    fn is_on_its_way(&self, away: &Away) -> bool {
        let is_back = |node| away.has_gone && self.kafka.process(node) == Process::Running;
        away.node_id.is_some_and(|node| !self.kafka.stands_still(node) && !is_back(node))
    }

    /// Whether the controllers that work, or are on their way back, are enough.
    fn could_elect_without(&self, node: i32) -> bool {
        let comes = |id: i32| {
            let mut away = self.away.values().filter(|away| !away.for_good);
            away.any(|away| away.node_id == Some(id) && self.is_on_its_way(away))
        };
        let voters = self.kafka.voter_ids();
        let left = voters.iter().filter(|id| **id != node && (self.works(**id) || comes(**id)));
        left.count() * 2 > voters.len()
    }

    fn works(&self, id: i32) -> bool {
        self.kafka.process(id) == Process::Running && !self.kafka.stands_still(id)
    }

    /// Notes what the others would lack without the node.
    fn miss(&mut self, node: i32, for_good: bool) {
        for partition in self.kafka.partitions() {
            let agreed = self.kafka.agreed_in_sync(&partition.topic, partition.index);
            let lags = |id: &&i32| **id != node && !agreed.contains(*id) && self.works(**id);
            let behind = partition.replicas.iter().find(lags).copied();
            if let Some(behind) = behind {
                self.violate(format!("{node} was let stop while {behind} lags in {partition:?}"));
            }
            if !partition.replicas.contains(&node) {
                continue;
            }
            let others = |ids: &[i32]| ids.iter().filter(|id| **id != node).count();
            let left = others(&partition.alive).max(others(&agreed));
            let most = partition.replicas.len() - 1;
            let needed = if for_good { partition.needed } else { partition.needed.min(most) };
            if left < needed {
                self.violate(format!("{partition:?} falls below what it needs without {node}"));
            }
        }
        let voters = self.kafka.voter_ids();
        let works = |id: &&i32| **id != node && self.kafka.process(**id) == Process::Running;
        let (left, majority) = (voters.iter().filter(works).count(), voters.len() / 2 + 1);
        if voters.contains(&node) && left < majority.min(voters.len() - 1) {
            self.violate(format!("without {node} {left} of {} controllers are left", voters.len()));
        }
    }

    /// One that did not run shall run again: it was killed, or let stop.
    pub fn comes_back(&mut self, server: ServerId) {
        if self.look_at_broker(server) != Process::Running {
            self.away.insert(server, Away { node_id: None, for_good: true, has_gone: true });
        }
    }

    /// The broker is asked to end. One that stands still can't, and is killed.
    pub fn stop_broker(&mut self, server: ServerId) {
        let Some(node) = self.broker(server).map(|broker| broker.node_id) else { return };
        if self.kafka.stands_still(node) {
            self.kill_broker(server);
        } else {
            self.kafka.stop(node);
        }
    }

    /// Whether the broker's process is there and does nothing.
    pub fn stands_still(&self, server: ServerId) -> bool {
        self.broker(server).is_some_and(|broker| self.kafka.stands_still(broker.node_id))
    }

    /// The broker's process ends, whatever it was doing. Whether there was one.
    pub fn kill_broker(&mut self, server: ServerId) -> bool {
        let Some(node) = self.broker(server).map(|broker| broker.node_id) else { return false };
        self.kafka.kill(node);
        self.brokers.retain(|broker| broker.server != server);
        true
    }

    /// The server is gone with everything that ran there; its disk stays.
    pub fn wipe_server(&mut self, server: ServerId) {
        self.kill_broker(server);
        *self.lives.entry(server).or_default() += 1;
    }

    pub fn remove_disk(&mut self, disk: DiskId) {
        let removed = self.disks.remove(&disk);
        let node = removed.and_then(|removed| self.nodes.get(&removed.server).copied());
        if let Some(node) = node {
            self.is_forgotten(node);
        }
        if self.brokers.iter().any(|broker| broker.disk == disk) {
            self.violate(format!("disk {disk} was removed under its broker"));
        }
    }

    /// The node goes for good, be it Kafka that forgets it or its disk that is removed.
    pub fn is_forgotten(&mut self, node: i32) {
        let holds = |it: &kafka::simulated::SimPartition| it.replicas.contains(&node);
        if let Some(held) = self.kafka.partitions().into_iter().find(holds) {
            self.missed.push(format!("node {node} goes while it holds {held:?}"));
        }
        if self.kafka.voter_ids().contains(&node) {
            self.missed.push(format!("node {node} goes while it votes"));
        }
        if self.kafka.process(node) == Process::Running && !self.kafka.stands_still(node) {
            self.missed.push(format!("node {node} goes while it runs"));
        }
    }

    /// Whether the disk lets the broker start, as a sentence if not.
    pub fn check_disk(&self, desired: &Desired) -> Result<(), String> {
        let Some(disk) = self.disks.get(&desired.disk.id) else {
            return Err("the disk is lost: it is not there".into());
        };
        if disk.server != desired.server_id || disk.instance != desired.instance_id {
            return Err("the disk is refused: it is another server's".into());
        }
        if !disk.formatted && desired.disk.format.is_none() {
            return Err("the disk is lost: it is empty, though a broker has run on it".into());
        }
        Ok(())
    }

    /// Formats if the disk is new and that is allowed, as the launcher does.
    pub fn start_broker(&mut self, desired: &Desired, told: &DesiredBroker) {
        let (server, disk) = (desired.server_id, desired.disk.id);
        if self.brokers.iter().any(|broker| broker.server == server || broker.disk == disk) {
            self.violate(format!("two brokers run for server {server} or on its disk"));
        }
        if !self.disks.get(&disk).is_some_and(|disk| disk.formatted) {
            self.format(desired);
        }
        self.brokers.push(SimBroker {
            server,
            instance: desired.instance_id,
            disk,
            node_id: desired.node_id,
            config_hash: told.config_hash.clone(),
            launch: desired.launch,
        });
        self.kafka.start(desired.node_id);
        self.starts += 1;
    }

    fn format(&mut self, desired: &Desired) {
        let Some(format) = &desired.disk.format else {
            return self.violate("a disk was formatted without leave");
        };
        let id = desired.disk.id;
        match self.disks.get_mut(&id) {
            Some(disk) if !disk.formatted => disk.formatted = true,
            _ => self.violate(format!("disk {id} was formatted twice")),
        }
        let founders: BTreeSet<String> = format.initial_controllers.iter().cloned().collect();
        if !desired.roles.contains(&model::ServerRole::Controller) {
            // Kafka gives such a disk an id of its own, and it is refused.
            if !founders.is_empty() {
                self.violate("a disk without a controller was formatted as a founder's");
            }
            return;
        }
        // One that joins later founds nothing.
        if founders.is_empty() && !self.founders.is_empty() {
            return;
        }
        if self.founders.is_empty() {
            self.kafka.found(&founders.iter().map(|founder| node_id(founder)).collect());
            self.founders = founders;
        } else if self.founders != founders {
            let instance = desired.instance_id;
            self.violate(format!("instance {instance} was founded with a second quorum"));
        }
    }
}

/// Of `<node id>@<host>:<port>:<directory id>`.
fn node_id(founder: &str) -> i32 {
    founder.split('@').next().and_then(|id| id.parse().ok()).expect("a founder has an id")
}
