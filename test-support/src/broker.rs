//! A real broker in a directory of its own, as an agent would run it.

use host::{ProcessId, Spawn};
use kafka::Endpoint;
use kafka::artifacts::{Artifacts, default_cache_root};
use kafka::launch::{self, FORMAT_FILE, PROPERTIES_FILE, STARTED_FILE};
use kafka::render::{BrokerSpec, render};
use kafka::{java, startup_cache, versions};
use model::{KafkaVersion, Listener, Listeners, OsEntropy, ServerRole, kafka_uuid};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// No resolver has a name for it, so Kafka compares certificates with the number.
pub const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 62, 0, 1));
pub const DIRECTORY_ID: &str = "MvDxzVmcRsaTz33bUuRU6A";

/// A test's own certificate authority.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    pub fn der(&self) -> Vec<u8> {
        self.0.der().to_vec()
    }

    /// Key and certificate in one PEM, and the certificate as DER.
    pub fn issue(&self) -> (String, Vec<u8>) {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.subject_alt_names = vec![SanType::IpAddress(ADDRESS)];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (key.serialize_pem() + &certificate.pem(), certificate.der().to_vec())
    }
}

/// A running broker, killed at the end of the test whatever happens.
pub struct Broker {
    pub directory: TempDir,
    pub listeners: Listeners,
    pub process: ProcessId,
    exit: JoinHandle<host::Exit>,
}

/// What was rehearsed with, of which nothing may be left.
pub struct Rehearsed {
    pub directory: PathBuf,
    /// Of its cluster and disk.
    pub ids: Vec<String>,
    _elsewhere: TempDir,
}

/// Everything that a start needs.
struct Prepared {
    directory: TempDir,
    listeners: Listeners,
    logging_file: String,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Prepared {
    async fn new(
        artifacts: &Artifacts,
        version: KafkaVersion,
        authority: &Authority,
        cached: bool,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(version);
        let rendered = render(&spec);
        prepare(directory.path(), &spec, authority);
        write(directory.path(), PROPERTIES_FILE, &rendered.properties);
        write(directory.path(), &rendered.logging_file, &rendered.logging);

        let show = |step| eprintln!("{step}");
        let kafka = artifacts.ensure(version, &show).await.unwrap();
        assert!(artifacts.present(version));
        let java = java::find(spec.release.java(), None).await.unwrap();
        let mut cache = None;
        if cached {
            let root = default_cache_root();
            cache = Some(startup_cache::ensure(&root, &kafka, &java, None, &show).await.unwrap());
        }
        let logging_file = rendered.logging_file;
        let (program, arguments) =
            launch::command_line(&kafka, &java, cache.as_ref(), &rendered.jvm_flags, &logging_file);
        Self { directory, listeners: spec.listeners, logging_file, program, arguments }
    }

    fn spawn(&self, working_directory: &Path) -> Spawn {
        Spawn {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            environment: vec![],
            directory: working_directory.into(),
            output: self.directory.path().join("logs/output"),
        }
    }

    fn running(self, process: ProcessId, exit: JoinHandle<host::Exit>) -> Broker {
        Broker { directory: self.directory, listeners: self.listeners, process, exit }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.process.kill_for_good();
    }
}

impl Broker {
    /// Returns once it has started.
    pub async fn start(version: KafkaVersion, authority: &Authority, cached: bool) -> Self {
        let artifacts = Artifacts::new(default_cache_root(), BTreeMap::new());
        Self::start_from(&artifacts, version, authority, cached).await
    }

    /// The same, with jars from there.
    pub async fn start_from(
        artifacts: &Artifacts,
        version: KafkaVersion,
        authority: &Authority,
        cached: bool,
    ) -> Self {
        let prepared = Prepared::new(artifacts, version, authority, cached).await;
        let spawn = prepared.spawn(prepared.directory.path());
        let began = std::time::Instant::now();
        let (process, ended) = spawn.start().unwrap();
        let broker = prepared.running(process, tokio::spawn(ended));
        broker.until("it has started", || broker.path(STARTED_FILE).exists()).await;
        eprintln!("Kafka {version} started cold in {:?}", began.elapsed());
        broker
    }

    /// The same in a JVM that was warmed up before it knew of its server, and that runs in
    /// another directory.
    pub async fn start_warm(version: KafkaVersion, authority: &Authority) -> (Self, Rehearsed) {
        let artifacts = Artifacts::new(default_cache_root(), BTreeMap::new());
        let prepared = Prepared::new(&artifacts, version, authority, true).await;
        let elsewhere = tempfile::tempdir().unwrap();
        let (rehearsal, state) =
            (elsewhere.path().join("rehearsal"), elsewhere.path().join("warm"));
        fs::create_dir(&rehearsal).unwrap();
        kafka::rehearsal::prepare(versions::release(version).unwrap(), &rehearsal).unwrap();
        let arguments = fs::read_to_string(rehearsal.join(FORMAT_FILE)).unwrap();
        let is_id = |line: &&str| line.len() >= 22 && !line.starts_with('-');
        let ids = arguments.lines().filter(is_id).map(String::from).collect();
        let mut spawn = prepared.spawn(elsewhere.path());
        let logging_file = &prepared.logging_file;
        spawn.arguments =
            launch::warm_arguments(&spawn.arguments, logging_file, &rehearsal, &state);
        let began = std::time::Instant::now();
        let (process, mut input, ended) = spawn.start_listening(None).unwrap();
        let broker = prepared.running(process, tokio::spawn(ended));
        let ready = format!("{} {}\n", broker.process.pid, kafka::rehearsal::READY);
        let said = || fs::read_to_string(&state).unwrap_or_default();
        broker.until("it is ready", || said() == ready).await;
        let usage = host::usage(broker.process.pid).unwrap();
        eprintln!(
            "Kafka {version} rehearsed in {:?}, {:?} of them busy, and waits with {} MiB",
            began.elapsed(),
            usage.cpu,
            usage.resident >> 20,
        );
        assert_eq!(broker.read("logs/server.log"), "", "nothing is logged before the order");
        let began = std::time::Instant::now();
        input.say(&kafka::rehearsal::order(broker.directory.path())).await.unwrap();
        broker.until("it has started", || broker.path(STARTED_FILE).exists()).await;
        let busy = host::usage(broker.process.pid).unwrap().cpu.saturating_sub(usage.cpu);
        eprintln!("Kafka {version} started warm in {:?}, {busy:?} of them busy", began.elapsed());
        (broker, Rehearsed { directory: rehearsal, ids, _elsewhere: elsewhere })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits for a condition, or fails with the end of the log.
    pub async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = std::time::Instant::now();
        while !holds() {
            let tail = last_words(self.directory.path());
            assert!(self.process.is_alive(), "the broker ended before {what}: {tail}");
            assert!(began.elapsed() < Duration::from_mins(2), "waited for: {what}\n{tail}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends it in an orderly way and says how it ended.
    pub async fn stop(mut self) -> String {
        assert!(self.process.terminate());
        let exit = tokio::time::timeout(Duration::from_mins(1), &mut self.exit).await;
        exit.expect("it ends within a minute").unwrap().0
    }
}

fn write(directory: &Path, name: &str, text: &str) {
    host::write_private(&directory.join(name), text.as_bytes()).unwrap();
}

fn prepare(directory: &Path, spec: &BrokerSpec, authority: &Authority) {
    for name in ["disk", "run", "logs", "tls"] {
        fs::create_dir(directory.join(name)).unwrap();
    }
    write(directory, "tls/internal.pem", &authority.issue().0);
    write(directory, "tls/server.pem", &authority.issue().0);
    write(directory, "tls/internal-ca.pem", &authority.pem());
    write(directory, "tls/clients-ca.pem", &authority.pem());
    let Endpoint { host, port } = &spec.controllers[0];
    let controllers = [format!("1@{host}:{port}:{DIRECTORY_ID}")];
    let format = launch::format_arguments(&kafka_uuid(&OsEntropy), DIRECTORY_ID, &controllers);
    write(directory, FORMAT_FILE, &format.join("\n"));
}

/// Where so many servers may listen. All is held until the last is known, or one
/// port could come up twice.
pub fn free_listeners<const SERVERS: usize>() -> [Listeners; SERVERS] {
    let mut held = Vec::new();
    let mut free = || {
        let listener = TcpListener::bind((ADDRESS, 0)).unwrap();
        let (host, port) = (ADDRESS.to_string(), listener.local_addr().unwrap().port());
        held.push(listener);
        Listener { bind_host: host.clone(), advertised_host: host, port }
    };
    std::array::from_fn(|_| Listeners {
        plaintext: Some(free()),
        ssl: free(),
        sasl_scram: free(),
        internal: free(),
        controller: free(),
        metrics: Some(free()),
        reached_at: None,
        published: None,
    })
}

/// The end of what a server in this directory wrote.
pub fn last_words(directory: &Path) -> String {
    let read = |name| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let log = read("logs/output") + &read("logs/server.log");
    log[log.floor_char_boundary(log.len().saturating_sub(3000))..].to_owned()
}

fn spec(version: KafkaVersion) -> BrokerSpec {
    let [listeners] = free_listeners();
    BrokerSpec {
        release: versions::release(version).unwrap(),
        node_id: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        controllers: vec![Endpoint::from(&listeners.controller)],
        listeners,
        private_ip: ADDRESS.to_string(),
        servers: 1,
        zone: "test".into(),
        cores: 1,
        memory_mb: 2048,
        max_heap_mb: Some(256),
        shared: false,
        settings: BTreeMap::new(),
    }
}
