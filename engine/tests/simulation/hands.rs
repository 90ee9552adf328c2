//! What one control plane reaches: the cloud and Kafka, with a gate around each
//! effect. It sees to it that the ground follows the cloud, and writes down an
//! effect by somebody who does not hold the lease.

use crate::gate::{Effect, Gate, Point};
use crate::ground::{Ground, SimDisk};
use async_trait::async_trait;
use cloud::{
    Agent, Cloud, DiskSpec, Disruption, Inventory, NetworkSpec, Outcome, ServerSpec, SimulatedCloud,
};
use kafka::client::{Acl, Admin, Cluster, ClusterView, Endpoint, Error, Login};
use model::{Clock, DiskId, ManualClock, Secret, ServerId, VpcId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use store::{Lease, Store, leases};
use tokio::sync::broadcast;

/// What goes wrong with the next calls to Kafka.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KafkaFault {
    Refused,
    /// The effect is there, the answer is not.
    LostReply,
}

pub struct Hands {
    pub cloud: Arc<SimulatedCloud>,
    pub ground: Arc<Mutex<Ground>>,
    pub faults: Arc<Mutex<VecDeque<KafkaFault>>>,
    pub gate: Arc<Gate>,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    /// Of the pass under way.
    pub lease: Mutex<Option<Lease>>,
    /// Off where a test stands still between the last look at the lease and
    /// the effect, which nothing but the effect's idempotence can help.
    pub strict: bool,
}

impl Hands {
    fn ground(&self) -> MutexGuard<'_, Ground> {
        self.ground.lock().unwrap()
    }

    async fn about_to(&self, effect: Effect) {
        self.gate.comes_to(Point::Before(effect)).await;
        let lease = self.lease.lock().unwrap().clone().expect("effects come in passes");
        let now = self.clock.now();
        let holds = leases::holds(&mut self.store.reader(), &lease, now).await.unwrap();
        // A login changes nothing, so anybody may try.
        if self.strict && !holds && effect != Effect::LogIn {
            self.ground().violate(format!("{effect:?} by {lease:?}, which is lost"));
        }
    }

    async fn did(&self, effect: Effect) {
        self.gate.comes_to(Point::After(effect)).await;
    }

    /// The ground follows what the cloud did, whatever the cloud answered.
    fn follow_server(&self, server: ServerId, was_there: bool) {
        if was_there && self.cloud.server(server).is_none() {
            self.ground().wipe_server(server);
        }
    }

    /// Whether the call goes wrong, and if so whether after its effect.
    fn fault(&self) -> Option<KafkaFault> {
        self.faults.lock().unwrap().pop_front()
    }

    fn serving(&self, endpoints: &[Endpoint]) -> Option<ServerId> {
        let ground = self.ground();
        let known = endpoints.iter().filter_map(|at| ground.addresses.get(&at.host)).copied();
        known.into_iter().find(|server| ground.serves(*server))
    }

    async fn change(
        &self,
        effect: Effect,
        cluster: &Cluster,
        change: impl FnOnce(&mut Ground, model::InstanceId) + Send,
    ) -> Result<(), Error> {
        self.about_to(effect).await;
        let fault = self.fault();
        let server = self.serving(&cluster.brokers).ok_or(Error::NoBrokers)?;
        if fault != Some(KafkaFault::Refused) {
            let mut ground = self.ground();
            let instance = ground.broker(server).expect("it serves").instance;
            change(&mut ground, instance);
        }
        self.did(effect).await;
        fault.map_or(Ok(()), |_| Err(Error::NoBrokers))
    }
}

#[async_trait]
impl Cloud for Hands {
    async fn ensure_network(&self, network: &NetworkSpec) -> Outcome<()> {
        self.about_to(Effect::EnsureNetwork).await;
        let outcome = self.cloud.ensure_network(network).await;
        self.did(Effect::EnsureNetwork).await;
        outcome
    }

    async fn ensure_disk(&self, disk: &DiskSpec) -> Outcome<()> {
        self.about_to(Effect::EnsureDisk).await;
        let outcome = self.cloud.ensure_disk(disk).await;
        if self.cloud.disk_owner(disk.id).is_some() {
            let blank =
                SimDisk { instance: disk.instance_id, server: disk.server_id, formatted: false };
            self.ground().disks.entry(disk.id).or_insert(blank);
        }
        self.did(Effect::EnsureDisk).await;
        outcome
    }

    async fn ensure_server(&self, server: &ServerSpec) -> Outcome<Agent> {
        self.about_to(Effect::EnsureServer).await;
        let outcome = self.cloud.ensure_server(server).await;
        self.did(Effect::EnsureServer).await;
        outcome
    }

    async fn remove_server(&self, server: ServerId) -> Outcome<()> {
        self.about_to(Effect::RemoveServer).await;
        let was_there = self.cloud.server(server).is_some();
        let outcome = self.cloud.remove_server(server).await;
        self.follow_server(server, was_there);
        self.did(Effect::RemoveServer).await;
        outcome
    }

    async fn remove_disk(&self, disk: DiskId) -> Outcome<()> {
        self.about_to(Effect::RemoveDisk).await;
        let outcome = self.cloud.remove_disk(disk).await;
        if self.cloud.disk_owner(disk).is_none() {
            self.ground().remove_disk(disk);
        }
        self.did(Effect::RemoveDisk).await;
        outcome
    }

    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        self.about_to(Effect::RemoveNetwork).await;
        let outcome = self.cloud.remove_network(network).await;
        self.did(Effect::RemoveNetwork).await;
        outcome
    }

    async fn inventory(&self) -> Outcome<Inventory> {
        self.cloud.inventory().await
    }

    fn events(&self) -> broadcast::Receiver<Disruption> {
        self.cloud.events()
    }
}

#[async_trait]
impl Admin for Hands {
    async fn set_scram_user(&self, at: &Cluster, user: &str, word: &Secret) -> Result<(), Error> {
        self.change(Effect::SetUser, at, |ground, instance| ground.set_user(instance, user, word))
            .await
    }

    async fn add_acls(&self, cluster: &Cluster, acls: &[Acl]) -> Result<(), Error> {
        self.change(Effect::AddRights, cluster, |ground, instance| {
            for acl in acls {
                ground.add_right(instance, &acl.principal);
            }
        })
        .await
    }

    async fn describe_cluster(&self, _: &Cluster) -> Result<ClusterView, Error> {
        Err(Error::NoBrokers)
    }

    async fn check_login(&self, login: &Login) -> Result<(), Error> {
        self.about_to(Effect::LogIn).await;
        let refused = self.fault().is_some();
        let let_in = self
            .serving(&login.brokers)
            .is_some_and(|server| self.ground().lets_in(server, &login.username, &login.password));
        self.did(Effect::LogIn).await;
        if let_in && !refused { Ok(()) } else { Err(Error::NoBrokers) }
    }
}
