//! An instance: one Kafka cluster of one account, as it should be and as far
//! as it has come.

use crate::condition::{self, Condition};
use crate::{
    AccountId, InstanceId, InstanceName, KafkaVersion, PlanName, RegionName, Secret, Subnet, Tags,
    Timestamp, VpcId,
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A private network. Every dedicated instance lives in one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vpc {
    pub id: VpcId,
    pub account_id: AccountId,
    pub name: String,
    pub region: RegionName,
    pub subnet: Subnet,
    pub tags: Tags,
    pub provider_id: Uuid,
    /// The instance whose create made it, so it goes with that one; none: it
    /// stands alone.
    pub made_for: Option<InstanceId>,
    pub created_at: Timestamp,
    /// From then on nobody sees or joins it; it only waits to be removed.
    pub deleted_at: Option<Timestamp>,
}

/// An instance's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    pub id: InstanceId,
    pub account_id: AccountId,
    pub provider_id: Uuid,
    pub name: InstanceName,
    pub plan: PlanName,
    pub region: RegionName,
    pub nodes: u32,
    pub kafka_version: KafkaVersion,
    pub disk_size: Option<u32>,
    pub tags: Tags,
    pub vpc_id: VpcId,
    /// Asked for at create: start without alarms but the notice.
    pub no_default_alarms: bool,
    /// The default user's name, and the stem of every host name.
    pub username: String,
    pub password: Secret,
    pub apikey: Secret,
    /// Host name clients find the cluster under.
    pub hostname: String,
    /// Kafka's own id of the cluster.
    pub cluster_id: String,
    pub created_at: Timestamp,
    /// Set by DELETE; from then on the instance is only torn down.
    pub deleted_at: Option<Timestamp>,
    /// Set by cluster-stop: no process runs, data and addresses stay.
    pub stopped: bool,
    /// Raised with every change of intent that servers must follow.
    pub generation: i64,
    /// What the customer set for all brokers.
    pub settings: BTreeMap<String, String>,
    /// Raised with what the engine writes into Kafka: the password, the settings.
    pub kafka_generation: i64,
    pub progress: InstanceProgress,
}

/// What the engine has seen and done. Beside it only an action writes here: what was asked
/// for, as conditions, and that an intent was reached by being taken back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstanceProgress {
    /// The intent that servers have fully reached.
    pub observed_generation: i64,
    pub network_made: bool,
    /// The default user's credentials and rights are in Kafka.
    pub credentials_set: bool,
    /// Clients without a login have rights in Kafka.
    pub anonymous_let_in: bool,
    /// When a real login succeeded, since it was created or last started.
    pub ready_at: Option<Timestamp>,
    /// What it does now, or why it waits.
    pub conditions: Vec<Condition>,
    /// Raised whenever somebody but the engine changes what shall be or what is told: what
    /// the engine saw at a lower one is past. The engine's own writes are in its lease's order.
    pub revision: i64,
    /// Attempts of the present step that failed in a row.
    pub failures: u32,
    /// What was last written into Kafka.
    pub kafka_observed: i64,
}

impl InstanceProgress {
    /// What it does now, or why it waits, in words.
    pub fn status(&self) -> String {
        condition::status(&self.conditions)
    }

    /// The same without lines of logs, for sentences that it is a part of.
    pub fn status_without_logs(&self) -> String {
        condition::status_without_logs(&self.conditions)
    }
}

impl Instance {
    /// Whether clients can use it: false only while it is being created, or
    /// stopped as a whole.
    pub fn ready(&self) -> bool {
        self.progress.ready_at.is_some() && !self.stopped
    }

    /// Whether servers have reached what was last asked of them. What the engine writes into a
    /// running Kafka, such as a password, reconfigures no server.
    pub fn configured(&self) -> bool {
        self.progress.observed_generation >= self.generation
    }
}
