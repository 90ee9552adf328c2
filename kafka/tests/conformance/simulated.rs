//! The simulated cluster, with a clock that this moves.

use crate::subject::{ALL, NODES, Subject};
use async_trait::async_trait;
use kafka::Endpoint;
use kafka::client::groups::{Assignment, Member};
use kafka::client::{Admin, Broker, Cluster, Error, Identity};
use kafka::simulated::{Process, SimKafka, SimNode, Timing};
use model::{Clock, InstanceId, ManualClock, Secret, ServerRole, SignedDuration, Timestamp};
use std::sync::Arc;

pub struct Simulated {
    clock: Arc<ManualClock>,
    kafka: SimKafka,
    has_elr: bool,
}

impl Simulated {
    /// Of the newest release, or of the oldest.
    pub fn new(seed: u64, is_newest: bool) -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-15T12:00:00Z".parse().unwrap()));
        let kafka = SimKafka::new(clock.clone(), seed, Timing::default());
        let kafka = if is_newest { kafka } else { kafka.without_elr() };
        let this = Self { clock, kafka, has_elr: is_newest };
        for id in ALL {
            this.kafka.add_node(SimNode {
                id,
                roles: vec![ServerRole::Broker, ServerRole::Controller],
                internal: this.internal(id),
                sasl: this.sasl(id),
            });
        }
        this.kafka.found(&NODES.into());
        this
    }
}

fn host(node: i32) -> String {
    format!("127.64.0.{node}")
}

fn member(topic: &str, partitions: Vec<i32>) -> Member {
    Member {
        id: "consumer-1".into(),
        client_id: "castellan".into(),
        host: "127.0.0.1".into(),
        assignments: vec![Assignment::new(topic, partitions)],
    }
}

#[async_trait]
impl Subject for Simulated {
    fn admin(&self) -> &dyn Admin {
        &self.kafka
    }

    fn cluster(&self) -> Cluster {
        Cluster {
            instance: InstanceId(1),
            brokers: NODES.map(|id| Broker::new(id, self.internal(id))).into(),
            trust_pem: String::new(),
            identity: Identity { certificate_chain_pem: String::new(), key_pem: Secret::new("") },
        }
    }

    fn internal(&self, node: i32) -> Endpoint {
        Endpoint::new(host(node), 9091)
    }

    fn sasl(&self, node: i32) -> Endpoint {
        Endpoint::new(host(node), 9094)
    }

    fn controller(&self, node: i32) -> Endpoint {
        Endpoint::new(host(node), 9090)
    }

    fn has_elr(&self) -> bool {
        self.has_elr
    }

    fn has_cordon(&self) -> bool {
        self.has_elr
    }

    async fn start(&self, node: i32) {
        self.kafka.start(node);
    }

    async fn stop(&self, node: i32) {
        self.kafka.stop(node);
        while self.kafka.process(node) != Process::Down {
            self.pause().await;
        }
    }

    async fn kill(&self, node: i32) {
        self.kafka.kill(node);
    }

    async fn write(&self, node: i32, topic: &str, partition: i32) -> Result<(), Error> {
        let partition = usize::try_from(partition).unwrap();
        let written = self.kafka.produce(&self.internal(node), topic, partition).map(drop);
        assert_eq!(self.kafka.lost_writes(), []);
        written
    }

    async fn fill(&self, node: i32, topic: &str, partition: i32, bytes: usize) {
        let partition = usize::try_from(partition).unwrap();
        self.kafka.produce(&self.internal(node), topic, partition).unwrap();
        self.kafka.fill(topic, partition, bytes as u64);
    }

    async fn join_group(&self, group: &str, topic: &str) {
        self.kafka.join_group(group, member(topic, vec![1, 0]));
    }

    async fn leave_group(&self, group: &str) {
        self.kafka.leave_group(group);
    }

    async fn join_newer_group(&self, group: &str, topic: &str) -> bool {
        self.kafka.join_group(group, member(topic, vec![2, 1, 0]));
        true
    }

    async fn leave_newer_group(&self, group: &str) {
        self.kafka.leave_group(group);
    }

    fn last_words(&self) -> String {
        String::new()
    }

    fn activity(&self) -> u64 {
        0
    }

    fn assert_none_ended(&self) {}

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn pause(&self) {
        self.clock.advance(SignedDuration::from_millis(50));
    }
}
