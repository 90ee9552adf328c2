//! Starts a broker once, as in production, has it do what a new cluster does
//! first, and ends it, so that the JVM writes down what it loaded.

use super::{StartupCache, StartupCacheError, certificates, exercise};
use crate::Endpoint;
use crate::artifacts::Distribution;
use crate::java::Java;
use crate::launch::{self, FORMAT_FILE, PROPERTIES_FILE, STARTED_FILE};
use crate::render::{BrokerSpec, Rendered, render};
use crate::versions::{self, Release};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::{Exit, ProcessId, Spawn};
use model::{Listener, Listeners, OsEntropy, ServerRole, kafka_uuid};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

/// A loopback address that no resolver has a name for: Kafka checks a peer's
/// certificate against that name, if there is one.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 63, 255, 1));
/// Generous: a small machine may be busy with other things.
const DEADLINE: Duration = Duration::from_mins(4);
const POLL: Duration = Duration::from_millis(50);
const OUTPUT: &str = "output";

/// Runs the broker with the recording flags until it has started, stops it, and
/// sees that the file was made.
pub async fn run(
    distribution: &Distribution,
    java: &Java,
    recording: &StartupCache,
    directory: &Path,
    made: &Path,
    uid: Option<u32>,
) -> Result<(), StartupCacheError> {
    let io = StartupCacheError::io(directory);
    let Some(release) = versions::release(distribution.version) else {
        return Err(failed("is of an unsupported release", directory));
    };
    let training = prepare(release, directory).map_err(&io)?;
    let rendered = &training.rendered;
    let (program, mut arguments) = launch::command_line(
        distribution,
        java,
        Some(recording),
        &rendered.jvm_flags,
        &rendered.logging_file,
    );
    // However we end, the broker must not outlive us.
    arguments.insert(0, format!("-Dcastellan.trainer={}", std::process::id()));
    let spawn = Spawn {
        program,
        arguments,
        environment: vec![],
        directory: directory.into(),
        output: directory.join(OUTPUT),
    };
    let (process, ended) = start(&spawn, uid).map_err(&io)?;
    let guard = KillOnDrop(process);
    let started = directory.join(STARTED_FILE);
    tokio::pin!(ended);
    tokio::select! {
        () = exists(&started) => {}
        _ = &mut ended => return Err(failed("ended before it had started", directory)),
        () = tokio::time::sleep(DEADLINE) => return Err(failed("did not start in time", directory)),
    }
    // A cache without this is a cache all the same.
    if let Err(error) = exercise::run(&training).await {
        tracing::warn!(%error, "the training broker did not do all that it was asked");
    }
    guard.0.terminate();
    if tokio::time::timeout(DEADLINE, ended).await.is_err() {
        return Err(failed("did not end in time", directory));
    }
    if made.exists() {
        return Ok(());
    }
    Err(StartupCacheError::NotWritten(java.version.clone(), tail(directory)))
}

/// As a user of its own where there is one: it listens on this machine, and nobody who
/// reaches it shall reach more.
fn start(spawn: &Spawn, uid: Option<u32>) -> io::Result<(ProcessId, BoxFuture<'static, Exit>)> {
    let Some(uid) = uid else {
        let (process, ended) = spawn.start()?;
        return Ok((process, ended.boxed()));
    };
    host::give_away(&spawn.directory, uid, &[])?;
    let (process, ended) = spawn.start_as(uid)?;
    Ok((process, ended.boxed()))
}

/// A training broker must not outlive its training, however that ends.
struct KillOnDrop(ProcessId);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

async fn exists(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(POLL).await;
    }
}

fn failed(what: &'static str, directory: &Path) -> StartupCacheError {
    StartupCacheError::Training { what, output: tail(directory) }
}

/// The last line the JVM printed.
fn tail(directory: &Path) -> String {
    let text = fs::read_to_string(directory.join(OUTPUT)).unwrap_or_default();
    text.lines().last().unwrap_or("it printed nothing").to_owned()
}

/// What is known of the broker that trains.
pub struct Training {
    pub listeners: Listeners,
    /// Key and certificate, good for every listener.
    pub identity: String,
    pub authority: String,
    rendered: Rendered,
}

/// Fills the server's directory as an agent would.
fn prepare(release: &'static Release, directory: &Path) -> io::Result<Training> {
    for name in ["disk", "run", "logs"] {
        fs::create_dir(directory.join(name))?;
    }
    let (identity, authority) = certificates::write(directory, ADDRESS)?;
    let spec = spec(release)?;
    let rendered = render(&spec);
    fs::write(directory.join(PROPERTIES_FILE), &rendered.properties)?;
    fs::write(directory.join(&rendered.logging_file), &rendered.logging)?;
    let directory_id = kafka_uuid(&OsEntropy);
    let Endpoint { host, port } = &spec.controllers[0];
    let controllers = [format!("1@{host}:{port}:{directory_id}")];
    let arguments = launch::format_arguments(&kafka_uuid(&OsEntropy), &directory_id, &controllers);
    host::write_private(&directory.join(FORMAT_FILE), arguments.join("\n").as_bytes())?;
    Ok(Training { listeners: spec.listeners, identity, authority, rendered })
}

fn spec(release: &'static Release) -> io::Result<BrokerSpec> {
    // All are held until the last is known, or one port could come up twice.
    let held: Vec<TcpListener> =
        (0..6).map(|_| TcpListener::bind((ADDRESS, 0))).collect::<io::Result<_>>()?;
    let mut listeners = Vec::new();
    for listener in &held {
        let host = ADDRESS.to_string();
        let port = listener.local_addr()?.port();
        listeners.push(Listener { bind_host: host.clone(), advertised_host: host, port });
    }
    let [plaintext, ssl, sasl_scram, internal, controller, metrics] =
        <[Listener; 6]>::try_from(listeners).expect("six were bound");
    let (plaintext, metrics) = (Some(plaintext), Some(metrics));
    Ok(BrokerSpec {
        release,
        node_id: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        controllers: vec![Endpoint { host: ADDRESS.to_string(), port: controller.port }],
        listeners: Listeners { plaintext, ssl, sasl_scram, internal, controller, metrics },
        private_ip: ADDRESS.to_string(),
        servers: 1,
        zone: "training".into(),
        cores: 2,
        // Gives a heap with the G1 collector, which is never filled here: a
        // cache made with G1 serves the serial collector too.
        memory_mb: 4096,
        max_heap_mb: None,
        shared: false,
        settings: BTreeMap::new(),
    })
}
