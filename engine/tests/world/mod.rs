//! A world for the engine without processes: a real store, the simulated
//! cloud, and stand-ins for agents and Kafka that do what the real ones do to
//! the store and to logins.

use async_trait::async_trait;
use cloud::{Cloud, SimulatedCloud};
use engine::{Engine, Parts, Rest, Settings};
use kafka::client::{Acl, Admin, Cluster, ClusterView, Error, Login};
use model::*;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use store::{
    AuthorityKind, Installation, MasterKey, NewAccount, ServerRecord, Store, accounts, authorities,
    disks, hash_key, installation, instances, servers, vpcs,
};
use wire::agent::{CertificateRequest, Desired, Phase, Report, Run};

pub const REGION: &str = "local::this-machine";

pub struct World {
    #[allow(dead_code, reason = "not every test binary looks at the file")]
    pub directory: tempfile::TempDir,
    pub store: Store,
    pub cloud: Arc<SimulatedCloud>,
    pub kafka: Arc<SimulatedKafka>,
    pub clock: Arc<ManualClock>,
    entropy: Arc<SeededEntropy>,
    pub installation: Installation,
    account: AccountId,
}

/// Knows who was let in, and lets nobody else in.
#[derive(Default)]
pub struct SimulatedKafka {
    users: Mutex<HashMap<String, Secret>>,
    rights: Mutex<HashSet<String>>,
    pub calls: Mutex<Vec<&'static str>>,
    /// The next calls that fail before their effect.
    pub refuse: Mutex<u32>,
}

impl SimulatedKafka {
    fn called(&self, call: &'static str) -> Result<(), Error> {
        self.calls.lock().unwrap().push(call);
        let mut refuse = self.refuse.lock().unwrap();
        if *refuse == 0 {
            return Ok(());
        }
        *refuse -= 1;
        Err(Error::NoBrokers)
    }
}

#[async_trait]
impl Admin for SimulatedKafka {
    async fn set_scram_user(
        &self,
        _: &Cluster,
        user: &str,
        password: &Secret,
    ) -> Result<(), Error> {
        self.called("set_scram_user")?;
        self.users.lock().unwrap().insert(user.into(), password.clone());
        Ok(())
    }

    async fn add_acls(&self, _: &Cluster, acls: &[Acl]) -> Result<(), Error> {
        self.called("add_acls")?;
        self.rights.lock().unwrap().extend(acls.iter().map(|acl| acl.principal.clone()));
        Ok(())
    }

    async fn describe_cluster(&self, _: &Cluster) -> Result<ClusterView, Error> {
        Err(Error::NoBrokers)
    }

    async fn check_login(&self, login: &Login) -> Result<(), Error> {
        self.called("check_login")?;
        let known = self.users.lock().unwrap().get(&login.username) == Some(&login.password);
        let allowed = self.rights.lock().unwrap().contains(&format!("User:{}", login.username));
        if known && allowed { Ok(()) } else { Err(Error::NoBrokers) }
    }
}

impl World {
    pub async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let entropy = Arc::new(SeededEntropy::new(5));
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let key = MasterKey::parse(&MasterKey::generate(&*entropy), entropy.clone()).unwrap();
        let store = Store::open(&directory.path().join("test.db"), key).await.unwrap();
        let fleet = pki::Authority::create("fleet", now, &*entropy).unwrap();
        let installation = Installation {
            id: entropy.uuid(),
            host_id: HostId(entropy.uuid()),
            store_epoch: 1,
            fleet_ca: fleet.certificate,
            fleet_ca_key: fleet.key,
            created_at: now,
        };
        let account = new_account(AccountId(entropy.uuid()), &*entropy, now);
        let mut work = store.begin().await.unwrap();
        installation::insert(&mut work, &installation).await.unwrap();
        accounts::insert(&mut work, &account).await.unwrap();
        work.commit().await.unwrap();
        Self {
            directory,
            store,
            cloud: Arc::new(SimulatedCloud::new()),
            kafka: Arc::new(SimulatedKafka::default()),
            clock: Arc::new(ManualClock::at(now)),
            entropy,
            installation,
            account: account.account.id,
        }
    }

    /// A control plane as after a start; an earlier one may be dead.
    pub fn engine(&self) -> Engine {
        self.engine_on(self.installation.host_id)
    }

    /// A control plane of another host.
    pub fn other_engine(&self) -> Engine {
        self.engine_on(HostId(self.entropy.uuid()))
    }

    fn engine_on(&self, host_id: HostId) -> Engine {
        Engine::new(Parts {
            store: self.store.clone(),
            clouds: HashMap::from([("local".into(), self.cloud.clone() as Arc<dyn Cloud>)]),
            admin: self.kafka.clone(),
            catalogue: Arc::new(Catalogue::built_in()),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            installation: self.installation.clone(),
            host_id,
            settings: Settings::default(),
        })
    }

    /// What the create use case writes, in short.
    pub async fn create(&self, servers: u32) -> InstanceId {
        let now = self.clock.now();
        let entropy = &*self.entropy;
        let mut work = self.store.begin().await.unwrap();
        let vpc_id = VpcId(work.next("vpcs").await.unwrap());
        let id = InstanceId(work.next("instances").await.unwrap());
        let vpc = Vpc {
            id: vpc_id,
            account_id: self.account,
            name: "net".into(),
            region: RegionName(REGION.into()),
            subnet: "10.192.0.0/24".parse().unwrap(),
            tags: Tags::default(),
            provider_id: entropy.uuid(),
            made_for_instance: true,
            created_at: now,
        };
        vpcs::insert(&mut work, &vpc).await.unwrap();
        let instance = Instance { nodes: servers, ..self.new_instance(id, vpc_id) };
        instances::insert(&mut work, &instance).await.unwrap();
        for kind in AuthorityKind::ALL {
            let ca = pki::Authority::create(kind.as_str(), now, entropy).unwrap();
            authorities::insert(&mut work, id, kind, &ca.certificate, &ca.key).await.unwrap();
        }
        for number in 1..=servers {
            let server_id = ServerId(work.next("servers").await.unwrap());
            let server = self.new_server(server_id, id, number);
            servers::insert(&mut work, &server).await.unwrap();
            let disk = Disk {
                id: DiskId(entropy.uuid()),
                instance_id: id,
                server_id,
                size_gb: 25,
                directory_id: kafka_uuid(entropy),
                founding: true,
                state: DiskState::Planned,
            };
            disks::insert(&mut work, &disk).await.unwrap();
        }
        work.commit().await.unwrap();
        id
    }

    fn new_instance(&self, id: InstanceId, vpc_id: VpcId) -> Instance {
        let entropy = &*self.entropy;
        Instance {
            id,
            account_id: self.account,
            provider_id: entropy.uuid(),
            name: InstanceName::parse("orders").unwrap(),
            plan: PlanName("mouse-1".into()),
            region: RegionName(REGION.into()),
            nodes: 1,
            kafka_version: KafkaVersion::new(4, 3, 1),
            disk_size: None,
            tags: Tags::default(),
            vpc_id,
            username: entropy.username(),
            password: entropy.password(),
            apikey: entropy.key(),
            hostname: "127.64.0.1".into(),
            cluster_id: kafka_uuid(entropy),
            created_at: self.clock.now(),
            deleted_at: None,
            stopped: false,
            generation: 1,
            progress: InstanceProgress::default(),
        }
    }

    fn new_server(&self, id: ServerId, instance_id: InstanceId, number: u32) -> Server {
        let address = format!("127.64.{instance_id}.{number}");
        let listener =
            |port| Listener { bind_host: address.clone(), advertised_host: address.clone(), port };
        let controller = (number <= 3).then_some(ServerRole::Controller);
        Server {
            id,
            instance_id,
            number,
            node_id: i32::try_from(number).unwrap(),
            incarnation: 1,
            roles: [ServerRole::Broker].into_iter().chain(controller).collect(),
            name: format!("x-0{number}"),
            kafka_version: KafkaVersion::new(4, 3, 1),
            host_id: self.installation.host_id,
            zone: "a".into(),
            private_ip: address.clone(),
            listeners: Listeners {
                plaintext: listener(9092),
                ssl: listener(9093),
                sasl_scram: listener(9094),
                internal: listener(9091),
                controller: listener(9090),
            },
            made: false,
            enrolled_at: None,
            last_seen: None,
            certificate_generation: 1,
        }
    }

    pub async fn instance(&self, id: InstanceId) -> Option<Instance> {
        instances::find(&mut self.store.reader(), id).await.unwrap()
    }

    pub async fn delete(&self, id: InstanceId) {
        let mut work = self.store.begin().await.unwrap();
        instances::set_deleted(&mut work, id, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    pub async fn stop(&self, id: InstanceId, stopped: bool) {
        let mut work = self.store.begin().await.unwrap();
        instances::set_stopped(&mut work, id, stopped, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    pub async fn servers(&self, id: InstanceId) -> Vec<ServerRecord> {
        servers::list(&mut self.store.reader(), id).await.unwrap()
    }

    pub async fn disks(&self, id: InstanceId) -> Vec<Disk> {
        disks::list(&mut self.store.reader(), id).await.unwrap()
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
                        && instance.deleted_at.is_none()
                        && instance.progress.status == rested
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
            let report = report(&desired, earlier.as_ref());
            if earlier.as_ref() != Some(&report) {
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
pub fn report(desired: &Desired, earlier: Option<&Report>) -> Report {
    let requests = match earlier {
        Some(earlier) if !earlier.requests.is_empty() => earlier.requests.clone(),
        _ => desired.certificates.iter().map(request).collect(),
    };
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
        disk_fault: None,
        requests,
    }
}

fn request(wanted: &wire::agent::DesiredCertificate) -> CertificateRequest {
    CertificateRequest {
        name: wanted.name.clone(),
        generation: wanted.generation,
        csr: pki::request(&pki::KeyPair::generate(), "whoever").unwrap(),
    }
}

fn new_account(id: AccountId, entropy: &dyn Entropy, now: Timestamp) -> NewAccount {
    NewAccount {
        account: Account { id, name: "Acme".into(), email: "a@acme.test".into(), created_at: now },
        owner: User {
            id: UserId(entropy.uuid()),
            account_id: id,
            email: "a@acme.test".into(),
            role: Role::Admin,
            tags: Tags::default(),
            created_at: now,
        },
    }
}
