//! A world for one instance: the ground, its agents, and control planes that
//! come and go. It says what must hold at any moment.

use super::agent::SimAgent;
use super::gate::Gate;
use super::ground::Ground;
use super::hands::Hands;
use super::plane::{Plane, Went};
use crate::rows::Rows;
use cloud::{Cloud, Clouds, Inventory, Outcome, SimulatedCloud};
use engine::{Engine, Load, Measured, Parts, Rest, Settings};
use kafka::Endpoint;
use kafka::client::{Admin as _, NewTopic, Quotas as _, parse_directory};
use kafka::simulated::{Fault, SimKafka, SimNode, Timing};
use model::*;
use mover::Throttle;
use reach::Reach;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{ServerRecord, disk_guards};

/// Rounds of a pass and of every agent after which an instance is what it
/// should be, once nothing goes wrong any more.
const ENOUGH: usize = 120;

pub struct Sim<'a> {
    pub rows: &'a Rows,
    pub cloud: Arc<SimulatedCloud>,
    pub ground: Arc<Mutex<Ground>>,
    pub kafka: Arc<SimKafka>,
    /// As whoever answers agents has it.
    pub reach: Reach,
    /// As it was created.
    pub instance: Instance,
    pub agents: Vec<SimAgent>,
    pub servers: Vec<ServerId>,
    /// Kafka's ids of the same.
    pub nodes: Vec<i32>,
    internal: BTreeMap<i32, Endpoint>,
    /// As the operator has set it.
    pub certificate_life: CertificateLife,
    /// A broker was killed or frozen since the cluster last served.
    excused: bool,
}

/// Short enough for thousands of renewals before the authorities of the rows end.
pub fn certificate_life() -> CertificateLife {
    "10d".parse().expect("ten days are a life")
}

impl<'a> Sim<'a> {
    pub async fn new(rows: &'a Rows, servers: u32, seed: u64) -> Self {
        let instance = rows.create(servers).await;
        // A settled instance is not waited for so long.
        let timing = Timing { lonely_stop: SignedDuration::from_secs(20), ..Timing::default() };
        let kafka = Arc::new(SimKafka::new(rows.clock.clone(), seed, timing));
        let records = rows.servers(instance.id).await;
        let reach =
            Reach::new(rows.store.clone(), kafka.clone(), rows.clock.clone(), rows.entropy.clone());
        let mut sim = Self {
            rows,
            reach,
            cloud: Arc::new(SimulatedCloud::new()),
            ground: Arc::new(Mutex::new(Ground::new(kafka.clone()))),
            kafka,
            agents: vec![],
            servers: vec![],
            internal: BTreeMap::new(),
            nodes: vec![],
            instance,
            certificate_life: certificate_life(),
            excused: false,
        };
        sim.follow(&records).await;
        sim
    }

    /// Servers that are on record have nodes and agents, once a cloud makes them.
    async fn follow(&mut self, records: &[ServerRecord]) {
        let is_new = |it: &&ServerRecord| !self.servers.contains(&it.server.id);
        let new: Vec<&Server> = records.iter().filter(is_new).map(|it| &it.server).collect();
        if new.is_empty() {
            return;
        }
        let disks = self.rows.disks(self.id()).await;
        for server in new {
            self.kafka.add_node(node(server));
            let disk = disks.iter().find(|disk| disk.server_id == server.id);
            let directory = disk.and_then(|disk| parse_directory(&disk.directory_id));
            self.kafka.set_directory(server.node_id, directory.expect("a disk has a directory"));
            self.ground.lock().unwrap().nodes.insert(server.id, server.node_id);
            self.agents.push(SimAgent::new(server.id));
            self.servers.push(server.id);
            self.nodes.push(server.node_id);
            self.internal.extend([at(node(server))]);
        }
    }

    pub fn id(&self) -> InstanceId {
        self.instance.id
    }

    /// A topic with a partition that is led by each server at first, if the cluster runs.
    pub async fn make_topic(&self) {
        let records = self.rows.servers(self.id()).await.into_iter();
        let servers: Vec<Server> = records.map(|record| record.server).collect();
        let Ok(cluster) = self.reach.cluster(self.id(), &servers).await else { return };
        let count = i32::try_from(servers.len()).unwrap();
        let topic = NewTopic {
            name: "led".into(),
            partitions: count,
            replicas: i16::try_from(count.min(3)).unwrap(),
            settings: vec![("min.insync.replicas".into(), (count.min(3) / 2 + 1).to_string())],
        };
        let _ = self.kafka.create_topic(&cluster, &topic).await;
    }

    /// A control plane of the instance's own host, just started.
    pub fn plane(&self) -> Plane {
        self.plane_on(self.rows.installation.host_id)
    }

    /// A control plane of another host.
    pub fn other_plane(&self) -> Plane {
        self.plane_on(HostId(self.rows.entropy.uuid()))
    }

    fn plane_on(&self, host_id: HostId) -> Plane {
        let gate = Arc::new(Gate::default());
        let hands = Arc::new(Hands {
            cloud: self.cloud.clone(),
            ground: self.ground.clone(),
            kafka: self.kafka.clone(),
            gate: gate.clone(),
        });
        let engine = Engine::new(Parts {
            store: self.rows.store.clone(),
            clouds: Clouds::bind(
                &self.rows.catalogue,
                [("local".into(), hands.clone() as Arc<dyn Cloud>)],
            )
            .unwrap(),
            reach: Reach::new(
                self.rows.store.clone(),
                hands,
                self.rows.clock.clone(),
                self.rows.entropy.clone(),
            ),
            catalogue: self.rows.catalogue.clone(),
            clock: self.rows.clock.clone(),
            entropy: self.rows.entropy.clone(),
            installation: self.rows.installation.clone(),
            host_id,
            owner: host_id.to_string(),
            // The simulated clock does not move while a step waits.
            settings: Settings {
                login_patience: Duration::ZERO,
                certificate_life: self.certificate_life,
                move_throttle: Throttle { least: 50_000_000, most: 400_000_000 },
                ..Settings::default()
            },
        });
        let engine = engine.witnessed(gate.clone()).measured_by(Arc::new(Idle));
        Plane::new(Arc::new(engine), gate)
    }

    /// Somebody takes the instance and dies before doing anything with it.
    pub async fn die_at_once(&self) {
        self.plane().begin(self.id()).await;
    }

    /// Every agent does one round. Whether any had something new to say.
    pub async fn agents_step(&mut self) -> bool {
        let mut records = self.rows.servers(self.id()).await;
        self.follow(&records).await;
        let mut news = false;
        for agent in &mut self.agents {
            let known = records.iter().position(|record| record.server.id == agent.server);
            let record = known.map(|at| records.swap_remove(at));
            news |= agent.step(self.rows, &self.reach, &self.cloud, &self.ground, record).await;
        }
        news
    }

    pub fn kill_agent(&mut self, at: usize) {
        self.cloud.kill_agent(self.servers[at]);
        self.agents[at].died();
    }

    pub fn kill_broker(&mut self, at: usize) {
        self.excused |= self.ground.lock().unwrap().kill_broker(self.servers[at]);
    }

    pub fn freeze_broker(&mut self, at: usize) {
        self.excused = true;
        self.kafka.freeze(self.nodes[at]);
    }

    /// One of eight things goes wrong with the server at this place, or with calls of Kafka.
    pub fn trouble(&mut self, what: usize, at: usize, time: SignedDuration) {
        let node = self.nodes[at];
        match what {
            0 => self.kill_broker(at),
            1 => self.kill_agent(at),
            2 => self.freeze_broker(at),
            3 => self.kafka.thaw(node),
            4 => self.kafka.stall_replicas(node, true),
            5 => self.kafka.stall_replicas(node, false),
            6 => self.kafka.hold_view(node, time),
            _ => self.kafka.fail_next(Fault::Refused, 2),
        }
    }

    /// Where brokers and we talk to a node.
    pub fn endpoint(&self, node: i32) -> Endpoint {
        self.internal[&node].clone()
    }

    pub fn advance(&self, seconds: i64) {
        self.rows.clock.advance(SignedDuration::from_secs(seconds));
    }

    /// Whether a customer can really log in, at every server but those that
    /// shall not run, or are being restarted.
    pub async fn lets_in(&self) -> bool {
        // Customers are told of the others as well, and don't need them.
        self.let_in_at(|server| server.membership == Membership::Member).await
    }

    async fn let_in_at(&self, counts: impl Fn(&Server) -> bool) -> bool {
        let Instance { username, password, .. } = &self.instance;
        let away = self.ground.lock().unwrap().away.clone();
        let rows = self.rows.servers(self.id()).await;
        let servers = rows.iter().map(|record| &record.server);
        let mut servers = servers.filter(|server| counts(server));
        self.kafka.has_rights(&format!("User:{username}"))
            && servers.all(|server| {
                server.wanted.is_stopped()
                    || away.contains_key(&server.id)
                    || self.kafka.lets_in(server.node_id, username, password)
            })
    }

    /// What must hold after every event, in words if it does not.
    pub async fn check(&mut self) -> Result<(), String> {
        if let Some(violation) = self.ground.lock().unwrap().violations.first() {
            return Err(violation.clone());
        }
        if let Some(effect) = self.cloud.made_twice().first() {
            return Err(format!("{effect:?} happened twice"));
        }
        let let_in = self.lets_in().await;
        // A leaving server that the others can do without may become a member again.
        self.excused &= !(let_in && self.let_in_at(|_| true).await);
        let Some(now) = self.rows.instance(self.id()).await else { return self.is_gone().await };
        if now.progress.status().is_empty() {
            return Err("the status is empty".into());
        }
        if now.deleted_at.is_some() {
            return Ok(());
        }
        if let Some(missed) = self.ground.lock().unwrap().missed.first() {
            return Err(missed.clone());
        }
        self.check_replicas()?;
        if now.ready() && !let_in && !self.excused {
            let away = self.ground.lock().unwrap().away.clone();
            let nodes: Vec<i32> = self.internal.keys().copied().collect();
            let each: Vec<_> = nodes.iter().map(|node| self.kafka.process(*node)).collect();
            let progress = &now.progress;
            return Err(format!(
                "ready, but nobody can log in: {progress:?}, {nodes:?} are {each:?}, {away:?}"
            ));
        }
        let records = self.rows.servers(self.id()).await;
        let leaves = |id| records.iter().any(|it| it.server.id == id && it.server.is_leaving());
        for disk in self.rows.disks(self.id()).await {
            let formatted =
                self.ground.lock().unwrap().disks.get(&disk.id).is_some_and(|disk| disk.formatted);
            if disk.state < DiskState::Formatting && formatted {
                return Err(format!("disk {} was formatted before it was allowed", disk.id));
            }
            if disk.state == DiskState::Formatted && !formatted && !leaves(disk.server_id) {
                return Err(format!("disk {} is sealed, but nothing is on it", disk.id));
            }
        }
        Ok(())
    }

    /// That no partition lacks replicas in sync for copies that we make, and none is on a
    /// broker that Kafka has forgotten.
    fn check_replicas(&self) -> Result<(), String> {
        if self.kafka.lost_metadata() {
            return Err("a controller without all metadata became active".into());
        }
        let registered = self.kafka.registered();
        for partition in self.kafka.partitions() {
            let is_whole =
                |id: &i32| partition.in_sync.contains(id) || partition.adding.contains(id);
            let is_short = partition.in_sync.len() < partition.needed;
            if is_short && partition.replicas.iter().all(is_whole) {
                return Err(format!("takes no writes while it is copied: {partition:?}"));
            }
            if !partition.replicas.iter().all(|id| registered.contains(id)) {
                return Err(format!("a replica is on a broker that is forgotten: {partition:?}"));
            }
        }
        Ok(())
    }

    /// That no server of a cluster that runs has a certificate that is to be renewed.
    pub async fn check_certificates(&self) -> Result<(), String> {
        let runs = self.rows.instance(self.id()).await.is_some_and(|now| !now.stopped);
        let now = self.rows.clock.now();
        for installed in self.agents.iter().filter(|_| runs).flat_map(SimAgent::installed) {
            let life = installed.not_after.duration_since(installed.not_before);
            if installed.not_before + life * 2 / 3 <= now {
                return Err(format!("not renewed by {now}: {installed:?}"));
            }
        }
        Ok(())
    }

    /// That Kafka has the settings of a cluster that runs, and slows its producers down if,
    /// and only if, a disk of it is nearly full.
    pub async fn check_kafka(&self) -> Result<(), String> {
        let now = self.rows.instance(self.id()).await;
        let Some(now) = now.filter(|now| !now.stopped) else { return Ok(()) };
        let settings = self.kafka.chosen_settings();
        if settings != now.settings {
            return Err(format!("Kafka has {settings:?}, and should have {:?}", now.settings));
        }
        let records = self.rows.servers(self.id()).await.into_iter();
        let servers: Vec<Server> = records.map(|record| record.server).collect();
        let cluster = self.reach.cluster(self.id(), &servers).await.map_err(|e| e.to_string())?;
        let quotas = self.kafka.list_quotas(&cluster).await.map_err(|e| e.to_string())?;
        let guards = disk_guards::list(&mut self.rows.store.reader(), self.id()).await;
        let guards = guards.map_err(|error| error.to_string())?;
        if quotas.is_empty() == guards.is_empty() {
            return Ok(());
        }
        Err(format!("Kafka has {quotas:?} with {guards:?}"))
    }

    fn nothing_runs(&self) -> bool {
        let brokers = self.ground.lock().unwrap().brokers.len();
        brokers == 0 && !self.servers.iter().any(|server| self.cloud.agent_is_alive(*server))
    }

    /// That nothing is left of the instance: in the cloud, on the ground, in the
    /// store.
    async fn is_gone(&self) -> Result<(), String> {
        let inventory = self.cloud.inventory().await;
        let rows = (self.rows.servers(self.id()).await, self.rows.disks(self.id()).await);
        let brokers = self.ground.lock().unwrap().brokers.clone();
        if inventory == Outcome::Ready(Inventory::default())
            && rows == (vec![], vec![])
            && brokers.is_empty()
        {
            return Ok(());
        }
        Err(format!("left of what was deleted: {inventory:?} {rows:?} {brokers:?}"))
    }

    /// Nothing goes wrong any more: passes and agents in turn, until the
    /// instance is what it should be.
    pub async fn settle(&mut self, plane: &mut Plane) -> Result<(), String> {
        self.kafka.forget_faults();
        for agent in &mut self.agents {
            (agent.slow, agent.stale, agent.lose_reply, agent.deaf) = (0, 0, false, false);
        }
        for _ in 0..ENOUGH {
            let went = plane.pass(self.id()).await;
            if let Went::Failed(error) = &went {
                return Err(format!("a pass failed: {error}"));
            }
            if plane.is_frozen() {
                return Err("it stands still".into());
            }
            let news = self.agents_step().await;
            self.check().await?;
            if !news && self.is_settled(&went).await {
                return Ok(());
            }
            self.advance(2);
        }
        let progress = self.rows.instance(self.id()).await.map(|instance| instance.progress);
        Err(format!("not settled after {ENOUGH} rounds: {progress:?}"))
    }

    async fn is_settled(&self, went: &Went) -> bool {
        match self.rows.instance(self.id()).await {
            None => true,
            Some(now) if now.deleted_at.is_some() => false,
            // What is to be written into its brokers waits for their start.
            Some(now) if now.stopped => {
                now.progress.observed_generation >= now.generation
                    && now.progress.status() == "stopped"
                    && self.nothing_runs()
            }
            Some(now) if !now.configured() => false,
            Some(now) if now.progress.kafka_observed < now.kafka_generation => false,
            Some(now) => {
                let rests = matches!(went, Went::Rested(Rest::Until(_)));
                let agents = self.rows.servers(self.id()).await;
                let disks = self.rows.disks(self.id()).await;
                let is_made = |disk: &Disk| {
                    !disk.is_to_grow() && self.cloud.disk_gb(disk.id) == Some(disk.size_gb)
                };
                rests
                    && disks.iter().all(is_made)
                    && agents.iter().all(|record| record.enrolled_key.is_some())
                    && now.progress.status().starts_with("running")
                    && now.ready()
                    && self.lets_in().await
            }
        }
    }
}

/// No producer is slowed down by our copies.
struct Idle;

impl Load for Idle {
    fn measured(&self, _: &[ServerId]) -> Option<Measured> {
        Some(Measured { p99: None, busy: 0.1 })
    }
}

fn at(node: SimNode) -> (i32, Endpoint) {
    (node.id, node.internal)
}

fn node(server: &Server) -> SimNode {
    SimNode {
        id: server.node_id,
        roles: server.roles.clone(),
        internal: (&server.listeners.internal).into(),
        sasl: (&server.listeners.sasl_scram).into(),
    }
}
