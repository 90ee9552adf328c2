//! What one control plane reaches: the cloud and Kafka, with a gate around each
//! effect. It sees to it that the ground follows the cloud, and that an effect
//! by an earlier owner is written down.

use crate::gate::{Effect, Gate, Point};
use crate::ground::{Ground, SimDisk};
use async_trait::async_trait;
use cloud::{
    Agent, Cloud, DiskSpec, Disruption, Inventory, NetworkSpec, Outcome, Owner, ServerSpec,
    SimulatedCloud,
};
use kafka::client::{Acl, Admin, Cluster, ClusterView, Endpoint, Error, Login};
use model::{DiskId, Secret, ServerId, VpcId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
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
}

impl Hands {
    fn ground(&self) -> MutexGuard<'_, Ground> {
        self.ground.lock().unwrap()
    }

    /// One call to the cloud, and what the ground does with it.
    async fn reach<T: Send>(
        &self,
        effect: Effect,
        by: &Owner,
        call: impl Future<Output = Outcome<T>> + Send,
        follow: impl FnOnce(&Self) + Send,
    ) -> Outcome<T> {
        self.gate.comes_to(Point::Before(effect)).await;
        let before = self.cloud.effects().len();
        let outcome = call.await;
        let had_effect = self.cloud.effects().len() > before;
        if had_effect || matches!(outcome, Outcome::Ready(_)) {
            self.ground().acted(by, had_effect);
        }
        follow(self);
        self.gate.comes_to(Point::After(effect)).await;
        outcome
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
        self.gate.comes_to(Point::Before(effect)).await;
        let fault = self.fault();
        let server = self.serving(&cluster.brokers).ok_or(Error::NoBrokers)?;
        if fault != Some(KafkaFault::Refused) {
            let mut ground = self.ground();
            let instance = ground.broker(server).expect("it serves").instance;
            change(&mut ground, instance);
        }
        self.gate.comes_to(Point::After(effect)).await;
        fault.map_or(Ok(()), |_| Err(Error::NoBrokers))
    }
}

#[async_trait]
impl Cloud for Hands {
    async fn take_over(&self, by: &Owner) -> Outcome<()> {
        self.reach(Effect::TakeOver, by, self.cloud.take_over(by), |_| {}).await
    }

    async fn ensure_network(&self, by: &Owner, network: &NetworkSpec) -> Outcome<()> {
        let call = self.cloud.ensure_network(by, network);
        self.reach(Effect::EnsureNetwork, by, call, |_| {}).await
    }

    async fn ensure_disk(&self, by: &Owner, disk: &DiskSpec) -> Outcome<()> {
        let call = self.cloud.ensure_disk(by, disk);
        self.reach(Effect::EnsureDisk, by, call, |hands| {
            if hands.cloud.disk_owner(disk.id).is_some() {
                let (instance, server) = (disk.instance_id, disk.server_id);
                let blank = SimDisk { instance, server, formatted: false };
                hands.ground().disks.entry(disk.id).or_insert(blank);
            }
        })
        .await
    }

    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<Agent> {
        let call = self.cloud.ensure_server(by, server);
        self.reach(Effect::EnsureServer, by, call, |_| {}).await
    }

    async fn remove_server(&self, by: &Owner, server: ServerId) -> Outcome<()> {
        let call = async {
            let was_there = self.cloud.server(server).is_some();
            let outcome = self.cloud.remove_server(by, server).await;
            self.follow_server(server, was_there);
            outcome
        };
        self.reach(Effect::RemoveServer, by, call, |_| {}).await
    }

    async fn remove_disk(&self, by: &Owner, disk: DiskId) -> Outcome<()> {
        let call = self.cloud.remove_disk(by, disk);
        self.reach(Effect::RemoveDisk, by, call, |hands| {
            if hands.cloud.disk_owner(disk).is_none() {
                hands.ground().remove_disk(disk);
            }
        })
        .await
    }

    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        self.gate.comes_to(Point::Before(Effect::RemoveNetwork)).await;
        let outcome = self.cloud.remove_network(network).await;
        self.gate.comes_to(Point::After(Effect::RemoveNetwork)).await;
        outcome
    }

    async fn retire(&self, by: &Owner) -> Outcome<()> {
        self.reach(Effect::Retire, by, self.cloud.retire(by), |_| {}).await
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
        self.gate.comes_to(Point::Before(Effect::LogIn)).await;
        let refused = self.fault().is_some();
        let let_in = self
            .serving(&login.brokers)
            .is_some_and(|server| self.ground().lets_in(server, &login.username, &login.password));
        self.gate.comes_to(Point::After(Effect::LogIn)).await;
        if let_in && !refused { Ok(()) } else { Err(Error::NoBrokers) }
    }
}
