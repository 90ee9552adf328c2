//! A world for the engine without processes: a real store, the simulated
//! cloud and Kafka, and stand-ins for agents that do what the real ones do to
//! the store.

use crate::rows::Rows;
use cloud::{Cloud, Clouds, SimulatedCloud};
use engine::{Engine, Parts, Rest, Settings};
use kafka::client::Cluster;
use kafka::simulated::{SimKafka, SimNode, Timing};
use model::*;
use reach::Reach;
use std::ops::Deref;
use std::sync::Arc;
use store::{ServerRecord, hash_key, instances, servers};
use wire::agent::{CertificateRequest, Desired, DesiredCertificate, Phase, Report, Run};

pub struct World {
    pub rows: Rows,
    pub cloud: Arc<SimulatedCloud>,
    /// Brokers that always run; one serves every instance.
    pub kafka: Arc<SimKafka>,
}

/// What is in the store is asked of the world itself.
impl Deref for World {
    type Target = Rows;
    fn deref(&self) -> &Rows {
        &self.rows
    }
}

impl World {
    pub async fn new() -> Self {
        let rows = Rows::new().await;
        let kafka = Arc::new(SimKafka::new(rows.clock.clone(), 1, Timing::INSTANT));
        Self { rows, cloud: Arc::new(SimulatedCloud::new()), kafka }
    }

    /// A control plane as after a start; an earlier one may be dead.
    pub fn engine(&self) -> Engine {
        self.engine_on(self.installation.host_id)
    }

    /// A control plane of another host.
    pub fn other_engine(&self) -> Engine {
        self.engine_on(HostId(self.entropy.uuid()))
    }

    /// A control plane whose operator wants no listener without encryption.
    pub fn engine_without_plaintext(&self) -> Engine {
        let settings = Settings { plaintext: false, ..Settings::default() };
        self.engine_with(self.installation.host_id, settings)
    }

    fn engine_on(&self, host_id: HostId) -> Engine {
        self.engine_with(host_id, Settings::default())
    }

    pub fn engine_with(&self, host_id: HostId, settings: Settings) -> Engine {
        Engine::new(Parts {
            store: self.store.clone(),
            clouds: Clouds::bind(
                &self.catalogue,
                [("local".into(), self.cloud.clone() as Arc<dyn Cloud>)],
            )
            .unwrap(),
            reach: self.reach(),
            catalogue: self.catalogue.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            installation: self.installation.clone(),
            host_id,
            owner: host_id.to_string(),
            settings,
        })
    }

    fn reach(&self) -> Reach {
        let (store, kafka) = (self.store.clone(), self.kafka.clone());
        Reach::new(store, kafka, self.clock.clone(), self.entropy.clone())
    }

    /// The way into the instance's brokers.
    pub async fn cluster(&self, id: InstanceId) -> Cluster {
        let servers: Vec<Server> = self.servers(id).await.into_iter().map(|it| it.server).collect();
        self.reach().cluster(id, &servers).await.unwrap()
    }

    pub async fn create(&self, servers: u32) -> InstanceId {
        let id = self.rows.create(servers).await.id;
        for ServerRecord { server, .. } in self.servers(id).await {
            let node = i32::try_from(server.id.0).unwrap();
            self.kafka.add_node(SimNode {
                id: node,
                roles: server.roles.clone(),
                internal: (&server.listeners.internal).into(),
                sasl: (&server.listeners.sasl_scram).into(),
            });
            self.kafka.found(&[node].into());
            self.kafka.start(node);
        }
        id
    }

    /// Passes of this engine with agents at work in between, until `done` or
    /// nothing changes any more. Returns how the last pass ended.
    pub async fn run(&self, engine: &Engine, id: InstanceId) -> Rest {
        for _ in 0..60 {
            let rest = engine.pass(id).await.unwrap();
            let agents_did = self.agents(id).await;
            let settled = rest == Rest::Gone
                || self.instance(id).await.is_some_and(|instance| {
                    let rested = if instance.stopped { "stopped" } else { "running" };
                    instance.configured()
                        && instance.progress.kafka_observed >= instance.kafka_generation
                        && instance.deleted_at.is_none()
                        && instance.progress.status() == rested
                });
            if settled && !agents_did {
                return rest;
            }
            self.clock.advance(SignedDuration::from_secs(2));
        }
        panic!("not settled: {:?}", self.instance(id).await.map(|instance| instance.progress));
    }

    /// Every live agent enrols if it must, does what its desired state says and
    /// reports. Whether any of them had something new to say.
    pub async fn agents(&self, id: InstanceId) -> bool {
        let mut did = false;
        for record in self.servers(id).await {
            let server = record.server.id;
            if !self.cloud.agent_is_alive(server) || !self.enrols(&record).await {
                continue;
            }
            let Some(desired) = record.desired.as_deref() else { continue };
            let desired: Desired = serde_json::from_str(desired).unwrap();
            let earlier = record.report.as_deref().map(|text| serde_json::from_str(text).unwrap());
            let report = report(&self.rows, &desired, earlier.as_ref());
            if earlier.as_ref() == Some(&report) {
                // A sign of life.
                let mut work = self.store.begin().await.unwrap();
                let seen = [(server, self.clock.now())];
                servers::set_last_seen(&mut work, &seen).await.unwrap();
                work.commit().await.unwrap();
            } else {
                did = true;
                self.say(&record.server, &report).await;
            }
        }
        did
    }

    /// Whether the agent is let in: it was before, or has a token that is good.
    async fn enrols(&self, record: &ServerRecord) -> bool {
        if record.enrolled_key.is_some() {
            return true;
        }
        let given = self.cloud.server(record.server.id).and_then(|spec| spec.token);
        let (Some(given), Some(known)) = (given, &record.token) else { return false };
        if hash_key(&given) != known.hash || known.expires_at < self.clock.now() {
            return false;
        }
        let mut work = self.store.begin().await.unwrap();
        let now = self.clock.now();
        servers::set_enrolled(&mut work, record.server.id, "its key", now).await.unwrap();
        work.commit().await.unwrap();
        true
    }

    pub async fn say(&self, server: &Server, report: &Report) {
        let now = self.clock.now();
        let text = serde_json::to_string(report).unwrap();
        let mut work = self.store.begin().await.unwrap();
        servers::set_report(&mut work, server.id, &text, now).await.unwrap();
        instances::wake(&mut work, server.instance_id, now).await.unwrap();
        work.commit().await.unwrap();
    }
}

/// What an agent says: first its keys, then that the broker runs.
pub fn report(rows: &Rows, desired: &Desired, earlier: Option<&Report>) -> Report {
    let asked = |wanted: &DesiredCertificate| {
        let mut requests = earlier.iter().flat_map(|earlier| &earlier.requests);
        let same =
            requests.find(|it| (&it.name, it.generation) == (&wanted.name, wanted.generation));
        same.cloned().unwrap_or_else(|| request(rows, wanted))
    };
    let requests = desired.certificates.iter().map(asked).collect();
    let certified = desired.certificates.iter().all(|wanted| wanted.certificate.is_some());
    let runs = certified && desired.run == Run::Running;
    let phase = match desired.run {
        Run::Running if certified => Phase::Running,
        Run::Running => Phase::Preparing,
        Run::Stopped => Phase::Stopped,
    };
    Report {
        incarnation: desired.incarnation,
        agent_version: "test".into(),
        agent_pid: None,
        revision: desired.revision,
        store_epoch: desired.store_epoch,
        phase,
        detail: String::new(),
        log_tail: vec![],
        broker_pid: runs.then_some(4711),
        restarts: 0,
        config_hash: desired.broker.as_ref().filter(|_| runs).map(|b| b.config_hash.clone()),
        launch: desired.launch,
        disk_fault: None,
        waits_for_leave: None,
        wait_is_passing: false,
        loading: None,
        silent_since: None,
        requests,
        certificates: vec![],
        integrations: None,
    }
}

fn request(rows: &Rows, wanted: &DesiredCertificate) -> CertificateRequest {
    CertificateRequest {
        name: wanted.name.clone(),
        generation: wanted.generation,
        csr: rows.request(),
    }
}
