//! What is really there, whatever anybody believes: disks and what is on them,
//! brokers' processes, and the metadata of each cluster.
//!
//! It lets everything happen that could happen on a real machine, and writes
//! down what must never happen.

use cloud::{Epoch, Owner};
use model::{DiskId, InstanceId, Secret, ServerId};
use std::collections::{BTreeMap, BTreeSet};
use wire::agent::{Desired, DesiredBroker};

#[derive(Default)]
pub struct Ground {
    pub disks: BTreeMap<DiskId, SimDisk>,
    pub brokers: Vec<SimBroker>,
    clusters: BTreeMap<InstanceId, SimCluster>,
    /// The highest epoch that a cloud has answered.
    owners: BTreeMap<InstanceId, Epoch>,
    /// Who listens at an address.
    pub addresses: BTreeMap<String, ServerId>,
    /// How often a server's directory was wiped, its agent's keys with it.
    pub lives: BTreeMap<ServerId, u32>,
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
    pub controller: bool,
    /// It has joined the cluster and said that it has started.
    pub started: bool,
    pub config_hash: String,
}

/// What a cluster's controllers remember. It is on their disks.
#[derive(Default)]
struct SimCluster {
    /// The controllers that the quorum was founded with.
    voters: BTreeSet<String>,
    users: BTreeMap<String, Secret>,
    rights: BTreeSet<String>,
}

impl Ground {
    /// Bare, with servers that will listen at these addresses.
    pub fn new(addresses: BTreeMap<String, ServerId>) -> Self {
        Self { addresses, ..Self::default() }
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

    /// The broker's process ends, whatever it was doing.
    pub fn end_broker(&mut self, server: ServerId) -> bool {
        let before = self.brokers.len();
        self.brokers.retain(|broker| broker.server != server);
        self.brokers.len() < before
    }

    /// The server is gone with everything that ran there; its disk stays.
    pub fn wipe_server(&mut self, server: ServerId) {
        self.end_broker(server);
        *self.lives.entry(server).or_default() += 1;
    }

    pub fn remove_disk(&mut self, disk: DiskId) {
        self.disks.remove(&disk);
        if self.brokers.iter().any(|broker| broker.disk == disk) {
            self.violate(format!("disk {disk} was removed under its broker"));
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
            controller: desired.roles.contains(&model::ServerRole::Controller),
            started: false,
            config_hash: told.config_hash.clone(),
        });
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
        let voters: BTreeSet<String> = format.initial_controllers.iter().cloned().collect();
        if !desired.roles.contains(&model::ServerRole::Controller) {
            // Kafka gives such a disk an id of its own, and it is refused.
            if !voters.is_empty() {
                self.violate("a disk without a controller was formatted as a founder's");
            }
            return;
        }
        let cluster = self.clusters.entry(desired.instance_id).or_default();
        if cluster.voters.is_empty() {
            cluster.voters = voters;
        } else if cluster.voters != voters {
            let instance = desired.instance_id;
            self.violate(format!("instance {instance} was founded with a second quorum"));
        }
    }

    /// A majority of the founding controllers run.
    pub fn has_quorum(&self, instance: InstanceId) -> bool {
        let Some(cluster) = self.clusters.get(&instance) else { return false };
        let of_ours = |broker: &&SimBroker| broker.controller && broker.instance == instance;
        let up = self.brokers.iter().filter(of_ours).count();
        !cluster.voters.is_empty() && up * 2 > cluster.voters.len()
    }

    /// A broker that waits has started once there is a quorum to join.
    pub fn join(&mut self, server: ServerId) {
        let Some(instance) = self.broker(server).map(|broker| broker.instance) else { return };
        let joins = self.has_quorum(instance);
        let mut brokers = self.brokers.iter_mut();
        if let Some(broker) = brokers.find(|broker| broker.server == server) {
            broker.started |= joins;
        }
    }

    /// Whether the server's broker serves: it started, and there is a quorum.
    pub fn serves(&self, server: ServerId) -> bool {
        let broker = self.broker(server);
        broker.is_some_and(|broker| broker.started && self.has_quorum(broker.instance))
    }

    pub fn set_user(&mut self, instance: InstanceId, user: &str, password: &Secret) {
        let cluster = self.clusters.entry(instance).or_default();
        let before = cluster.users.insert(user.to_owned(), password.clone());
        // Nothing keeps a late writer out of Kafka.
        if before.is_some_and(|before| before != *password) {
            self.violate(format!("{user} got a second password"));
        }
    }

    pub fn add_right(&mut self, instance: InstanceId, principal: &str) {
        self.clusters.entry(instance).or_default().rights.insert(principal.to_owned());
    }

    /// Whether a login with these succeeds at the server.
    pub fn lets_in(&self, server: ServerId, user: &str, password: &Secret) -> bool {
        let Some(broker) = self.broker(server).filter(|_| self.serves(server)) else {
            return false;
        };
        self.clusters.get(&broker.instance).is_some_and(|cluster| {
            cluster.users.get(user) == Some(password)
                && cluster.rights.contains(&format!("User:{user}"))
        })
    }
}
