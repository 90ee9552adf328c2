//! Four real servers on one loopback address, as agents would run them.

use crate::member::{Join, JoinNewer, Leave, Newer};
use crate::subject::{ALL, NEWCOMER, NODES, Subject};
use async_trait::async_trait;
use host::{Exit, ProcessId, Spawn};
use kafka::Endpoint;
use kafka::artifacts::{Artifacts, default_cache_root};
use kafka::client::admin::produce::Produce;
use kafka::client::{Admin, Broker, Cluster, DirectDial, Error, Identity, ProtocolAdmin, Remedy};
use kafka::launch::{self, FORMAT_FILE, PROPERTIES_FILE};
use kafka::render::{BrokerSpec, render};
use kafka::{java, startup_cache, versions};
use kafka_protocol::ResponseError;
use model::{
    Clock, InstanceId, KafkaVersion, Listener, Listeners, OsEntropy, Secret, ServerRole,
    SystemClock, Timestamp, kafka_uuid,
};
use std::collections::BTreeMap;
use std::fs;
use std::iter::zip;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use test_support::broker::{ADDRESS, Authority, free_listeners, last_words};

pub struct RealCluster {
    version: KafkaVersion,
    admin: ProtocolAdmin,
    cluster: Cluster,
    nodes: Vec<RealNode>,
    /// The consumer that has joined a group.
    member: Mutex<String>,
}

struct RealNode {
    directory: TempDir,
    listeners: Listeners,
    program: (std::path::PathBuf, Vec<String>),
    running: Mutex<Option<(ProcessId, tokio::task::JoinHandle<Exit>)>>,
}

impl Drop for RealNode {
    fn drop(&mut self) {
        if let Some((process, _)) = &*self.running.lock().unwrap() {
            process.kill_for_good();
        }
    }
}

impl RealCluster {
    /// All prepared, none started.
    pub async fn new(version: KafkaVersion) -> Self {
        let authority = Authority::new();
        let listeners = free_listeners();
        let directories = ALL.map(|_| kafka_uuid(&OsEntropy));
        let founders: Vec<String> = (0..NODES.len())
            .map(|at| {
                let Listener { bind_host, port, .. } = &listeners[at].controller;
                format!("{}@{bind_host}:{port}:{}", NODES[at], directories[at])
            })
            .collect();
        let cluster_id = kafka_uuid(&OsEntropy);
        let mut nodes = Vec::new();
        for (at, id) in ALL.into_iter().enumerate() {
            let spec = spec(version, id, &listeners, at);
            let directory = tempfile::tempdir().unwrap();
            let founders: &[String] = if id == NEWCOMER { &[] } else { &founders };
            let format = launch::format_arguments(&cluster_id, &directories[at], founders);
            write(&directory, FORMAT_FILE, &format.join("\n"));
            nodes.push(prepare(spec, directory, &authority).await);
        }
        let (identity, _) = authority.issue();
        Self {
            version,
            admin: ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy)),
            cluster: Cluster {
                instance: InstanceId(1),
                brokers: zip(NODES, &listeners)
                    .map(|(id, it)| Broker::new(id, (&it.internal).into()))
                    .collect(),
                trust_pem: authority.pem(),
                identity: Identity {
                    certificate_chain_pem: identity.clone(),
                    key_pem: Secret::new(identity),
                },
            },
            nodes,
            member: Mutex::default(),
        }
    }

    /// Ends all at once.
    pub async fn end(self) {
        let all = NODES.map(|id| self.stop(id));
        let [first, second, third] = all;
        tokio::join!(first, second, third);
    }

    pub fn listeners(&self, id: i32) -> &Listeners {
        &self.node(id).listeners
    }

    /// Good on every listener that asks for a certificate.
    pub fn identity(&self) -> Identity {
        self.cluster.identity.clone()
    }

    fn node(&self, id: i32) -> &RealNode {
        &self.nodes[usize::try_from(id - 1).unwrap()]
    }
}

fn write(directory: &TempDir, name: &str, text: &str) {
    host::write_private(&directory.path().join(name), text.as_bytes()).unwrap();
}

/// Fills the server's directory, and finds what to run there.
async fn prepare(spec: BrokerSpec, directory: TempDir, authority: &Authority) -> RealNode {
    for name in ["disk", "run", "logs", "tls"] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    write(&directory, "tls/internal.pem", &authority.issue().0);
    write(&directory, "tls/server.pem", &authority.issue().0);
    write(&directory, "tls/internal-ca.pem", &authority.pem());
    write(&directory, "tls/clients-ca.pem", &authority.pem());
    let rendered = render(&spec);
    write(&directory, PROPERTIES_FILE, &rendered.properties);
    write(&directory, &rendered.logging_file, &rendered.logging);
    let show = |step| eprintln!("{step}");
    let root = default_cache_root();
    let artifacts = Artifacts::new(root.clone(), BTreeMap::new());
    let kafka = artifacts.ensure(spec.release.version, &show).await.unwrap();
    let java = java::find(spec.release.java(), None).await.unwrap();
    let cache = startup_cache::ensure(&root, &kafka, &java, None, &show).await.unwrap();
    let (flags, logging) = (&rendered.jvm_flags, &rendered.logging_file);
    let program = launch::command_line(&kafka, &java, Some(&cache), flags, logging);
    RealNode { directory, listeners: spec.listeners, program, running: Mutex::default() }
}

fn spec(version: KafkaVersion, id: i32, listeners: &[Listeners; 4], at: usize) -> BrokerSpec {
    BrokerSpec {
        release: versions::release(version).unwrap(),
        node_id: id,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        controllers: listeners.iter().map(|it| Endpoint::from(&it.controller)).collect(),
        listeners: listeners[at].clone(),
        private_ip: ADDRESS.to_string(),
        servers: 3,
        zone: "test".into(),
        cores: 1,
        memory_mb: 2048,
        max_heap_mb: Some(256),
        shared: false,
        settings: BTreeMap::new(),
    }
}

/// How often a consumer tries to join, a second apart.
const ATTEMPTS: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);
/// Of a message, when much is written.
const PIECE: usize = 500_000;
/// How a consumer of the newer protocol calls itself.
const NEWER: &str = "5e9c0d1f-7b1c-4a69-9d0b-3a4f5b6c7d8e";

/// Whether the brokers don't have the call, or have it switched off.
fn is_unspoken(error: &Error) -> bool {
    match error {
        Error::Unsupported { .. } => true,
        Error::Kafka { code, .. } => *code == ResponseError::UnsupportedVersion,
        Error::AllFailed { last, .. } => is_unspoken(last),
        _ => false,
    }
}

#[async_trait]
impl Subject for RealCluster {
    fn admin(&self) -> &dyn Admin {
        &self.admin
    }

    fn cluster(&self) -> Cluster {
        self.cluster.clone()
    }

    fn internal(&self, node: i32) -> Endpoint {
        (&self.node(node).listeners.internal).into()
    }

    fn sasl(&self, node: i32) -> Endpoint {
        (&self.node(node).listeners.sasl_scram).into()
    }

    fn controller(&self, node: i32) -> Endpoint {
        (&self.node(node).listeners.controller).into()
    }

    fn has_elr(&self) -> bool {
        // 4.0 has it switched off.
        self.version >= KafkaVersion::new(4, 1, 0)
    }

    fn has_cordon(&self) -> bool {
        self.version >= KafkaVersion::new(4, 3, 0)
    }

    async fn start(&self, node: i32) {
        let node = self.node(node);
        let (program, arguments) = node.program.clone();
        let directory = node.directory.path();
        let spawn = Spawn {
            program,
            arguments,
            environment: vec![],
            directory: directory.into(),
            output: directory.join("logs/output"),
        };
        let (process, ended) = spawn.start().unwrap();
        *node.running.lock().unwrap() = Some((process, tokio::spawn(ended)));
    }

    async fn stop(&self, node: i32) {
        let running = self.node(node).running.lock().unwrap().take();
        let (process, exit) = running.expect("it runs");
        assert!(process.terminate());
        let Ok(exit) = tokio::time::timeout(Duration::from_mins(2), exit).await else {
            process.kill();
            panic!("server {node} does not end");
        };
        assert_eq!(exit.unwrap().0, "exit status: 143");
    }

    async fn kill(&self, node: i32) {
        let running = self.node(node).running.lock().unwrap().take();
        let (process, exit) = running.expect("it runs");
        process.kill();
        exit.await.unwrap();
    }

    async fn write(&self, node: i32, topic: &str, partition: i32) -> Result<(), Error> {
        let cluster = self.cluster.through(&Broker::new(node, self.internal(node)));
        let message = Produce { topic, partition, value: b"one", at: self.now() };
        self.admin.ask(&cluster, &message).await.map(drop)
    }

    async fn fill(&self, node: i32, topic: &str, partition: i32, bytes: usize) {
        let cluster = self.cluster.through(&Broker::new(node, self.internal(node)));
        let value = vec![7; bytes.min(PIECE)];
        for _ in 0..bytes.div_ceil(PIECE) {
            let message = Produce { topic, partition, value: &value, at: self.now() };
            // A leader may not have heard yet that it leads, or of the topic.
            for attempt in 1.. {
                match self.admin.ask(&cluster, &message).await {
                    Err(error) if error.remedy() == Remedy::Retry && attempt < ATTEMPTS => {
                        tokio::time::sleep(PAUSE).await;
                    }
                    other => {
                        other.unwrap();
                        break;
                    }
                }
            }
        }
    }

    async fn join_group(&self, group: &str, topic: &str) {
        let call = Join { group, topic };
        // Coordinators move while brokers of a busy machine come and go.
        let mut attempts = 1;
        let joined = loop {
            match self.admin.ask(&self.cluster, &call).await {
                Err(error) if error.remedy() == Remedy::Retry && attempts < ATTEMPTS => {
                    eprintln!("{error}");
                    tokio::time::sleep(PAUSE).await;
                }
                joined => break joined.unwrap(),
            }
            attempts += 1;
        };
        *self.member.lock().unwrap() = joined;
    }

    async fn leave_group(&self, group: &str) {
        let member = self.member.lock().unwrap().clone();
        self.admin.ask(&self.cluster, &Leave { group, member: &member }).await.unwrap();
    }

    async fn join_newer_group(&self, group: &str, topic: &str) -> bool {
        let call = JoinNewer { newer: Newer { group, member: NEWER }, topic };
        match self.admin.ask(&self.cluster, &call).await {
            Ok(()) => true,
            Err(error) if is_unspoken(&error) => false,
            Err(error) => panic!("{error}"),
        }
    }

    async fn leave_newer_group(&self, group: &str) {
        self.admin.ask(&self.cluster, &Newer { group, member: NEWER }).await.unwrap();
    }

    fn last_words(&self) -> String {
        let tell = |(id, node): (i32, &RealNode)| {
            let running = node.running.lock().unwrap();
            let alive = running.as_ref().is_some_and(|(process, _)| process.is_alive());
            let words = last_words(node.directory.path());
            format!("\nserver {id}, {}:\n{words}", if alive { "running" } else { "ended" })
        };
        ALL.into_iter().zip(&self.nodes).map(tell).collect()
    }

    fn activity(&self) -> u64 {
        let size = |node: &RealNode| {
            let log = node.directory.path().join("logs/server.log");
            // What is written every minute is no progress.
            fs::metadata(log).map_or(0, |log| log.len() / 4096)
        };
        self.nodes.iter().map(size).sum()
    }

    fn assert_none_ended(&self) {
        for node in &self.nodes {
            let running = node.running.lock().unwrap();
            let is_alive = running.as_ref().is_none_or(|(process, _)| process.is_alive());
            assert!(is_alive, "a broker ended: {}", last_words(node.directory.path()));
        }
    }

    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    async fn pause(&self) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
