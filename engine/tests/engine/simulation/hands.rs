//! What one control plane reaches: the cloud and Kafka, with a gate around each
//! effect. It sees to it that the ground follows the cloud, and that an effect
//! by an earlier owner is written down. What the engine does not use of Kafka is
//! not there, so that no effect comes past the gate.

use super::gate::{Effect, Gate, Point};
use super::ground::{Ground, SimDisk};
use async_trait::async_trait;
use cloud::{
    Cloud, DiskSpec, Disruption, Enforcement, Inventory, NetworkSpec, ObservedServer, Outcome,
    Owner, ServerSpec, SimulatedCloud,
};
use kafka::client::quotas::{Quota, QuotaChange, QuotaEntity};
use kafka::client::{
    Acl, Admin, Cluster, ClusterView, Created, Elected, Error, Groups, LogDir, Login, Mechanism,
    Messages, NewTopic, Placement, Quorum, Quotas, Settings, TopicPartition, TopicReplication,
    Topics, Users, Voters,
};
use kafka::simulated::SimKafka;
use model::{DiskId, Opening, Secret, ServerId, VpcId};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::broadcast;

/// Of what has no gate.
const NO_GATE: &str = "no step has effects here; one that has needs a gate in hands.rs";

pub struct Hands {
    pub cloud: Arc<SimulatedCloud>,
    pub ground: Arc<Mutex<Ground>>,
    pub kafka: Arc<SimKafka>,
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

    /// One call to Kafka.
    pub async fn ask<T>(
        &self,
        effect: Effect,
        call: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        self.gate.comes_to(Point::Before(effect)).await;
        let answer = call.await;
        self.gate.comes_to(Point::After(effect)).await;
        answer
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

    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<ObservedServer> {
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

    async fn apply_firewall(&self, server: ServerId, openings: &[Opening]) -> Outcome<Enforcement> {
        self.cloud.apply_firewall(server, openings).await
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
    fn topics(&self) -> &dyn Topics {
        panic!("{NO_GATE}")
    }

    fn users(&self) -> &dyn Users {
        panic!("{NO_GATE}")
    }

    fn settings(&self) -> &dyn Settings {
        self
    }

    fn groups(&self) -> &dyn Groups {
        panic!("{NO_GATE}")
    }

    fn quotas(&self) -> &dyn Quotas {
        self
    }

    fn messages(&self) -> &dyn Messages {
        panic!("{NO_GATE}")
    }

    fn placement(&self) -> &dyn Placement {
        self
    }

    fn voters(&self) -> &dyn Voters {
        self
    }

    async fn set_scram_users(&self, at: &Cluster, all: &[(&str, &Secret)]) -> Result<(), Error> {
        self.ask(Effect::SetUser, self.kafka.set_scram_users(at, all)).await
    }

    async fn add_acls(&self, cluster: &Cluster, acls: &[Acl]) -> Result<(), Error> {
        self.ask(Effect::AddRights, self.kafka.add_acls(cluster, acls)).await
    }

    async fn check_login(&self, login: &Login) -> Result<(), Error> {
        self.ask(Effect::LogIn, self.kafka.check_login(login)).await
    }

    async fn remove_scram_user(&self, _: &Cluster, _: &str) -> Result<(), Error> {
        panic!("{NO_GATE}")
    }

    async fn describe_scram_user(&self, at: &Cluster, user: &str) -> Result<Vec<Mechanism>, Error> {
        self.kafka.describe_scram_user(at, user).await
    }

    async fn describe_acls(&self, at: &Cluster, principal: &str) -> Result<Vec<Acl>, Error> {
        self.kafka.describe_acls(at, principal).await
    }

    async fn remove_acls(&self, _: &Cluster, _: &str) -> Result<(), Error> {
        panic!("{NO_GATE}")
    }

    async fn create_topic(&self, _: &Cluster, _: &NewTopic) -> Result<Created, Error> {
        panic!("{NO_GATE}")
    }

    async fn describe_cluster(&self, cluster: &Cluster) -> Result<ClusterView, Error> {
        self.kafka.describe_cluster(cluster).await
    }

    async fn describe_quorum(&self, cluster: &Cluster) -> Result<Quorum, Error> {
        self.kafka.describe_quorum(cluster).await
    }

    async fn describe_replication(&self, at: &Cluster) -> Result<Vec<TopicReplication>, Error> {
        self.ask(Effect::Look, self.kafka.describe_replication(at)).await
    }

    async fn describe_log_dirs(&self, cluster: &Cluster) -> Result<Vec<LogDir>, Error> {
        self.kafka.describe_log_dirs(cluster).await
    }

    async fn elect_preferred_leaders(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
    ) -> Result<Elected, Error> {
        let call = self.kafka.elect_preferred_leaders(cluster, partitions);
        self.ask(Effect::ElectLeaders, call).await
    }
}

#[async_trait]
impl Quotas for Hands {
    async fn list_quotas(&self, cluster: &Cluster) -> Result<Vec<Quota>, Error> {
        self.kafka.list_quotas(cluster).await
    }

    async fn alter_quota(
        &self,
        cluster: &Cluster,
        entity: &QuotaEntity,
        changes: &QuotaChange,
    ) -> Result<(), Error> {
        let call = self.kafka.alter_quota(cluster, entity, changes);
        self.ask(Effect::ChangeQuota, call).await
    }
}
