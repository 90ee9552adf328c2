//! Castellan as a customer meets it: POST, wait, write.

use crate::on_record;
use crate::producer::{self, Write};
use crate::timeline::{Timeline, Watch};
use anyhow::{Context, Result, bail};
use client::Client;
use host::{ProcessId, Spawn};
use kafka::Endpoint;
use kafka::client::{Broker, Login, Mechanism};
use model::{Clock as _, InstanceId, Secret, SystemClock};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wire::customer::{CreateInstance, Instance};

const LOOK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_mins(5);
/// Nobody is slowed down.
const CONFIG: &str = "[rate_limit]\nkey = { per_second = 0 }\naccount = { per_second = 0 }\n\
                      address = { per_second = 0 }\n";

/// At loopback addresses, as where no other network can be had.
pub const LOCAL: &str = "[local]\nnetwork = \"loopback\"\n";

pub struct Castellan {
    binary: PathBuf,
    directory: tempfile::TempDir,
    process: ProcessId,
    client: Client,
}

/// Seconds from POST until ready and until the first acknowledged write.
pub struct FirstWrite {
    pub id: i64,
    pub ready: f64,
    pub written: f64,
    pub timeline: Timeline,
}

/// What runs for one server.
pub struct Processes {
    pub agent_mib: f64,
    /// What the broker's JVM was started with.
    pub flags: String,
}

/// Seconds from the call until no process is left, and from the call until a
/// write is acknowledged again.
pub struct PowerCycle {
    pub stop: f64,
    pub start: f64,
}

impl Castellan {
    /// Every JVM is started when it is needed.
    pub async fn start(binary: &Path) -> Result<Self> {
        Self::start_warm(binary, 0).await
    }

    /// With so many JVMs in its pool.
    pub async fn start_warm(binary: &Path, warm: usize) -> Result<Self> {
        Self::start_with(binary, &format!("{LOCAL}warm = {warm}\n")).await
    }

    /// With more at the end of its config file.
    pub async fn start_with(binary: &Path, more: &str) -> Result<Self> {
        let directory = host::testing::tempdir();
        let data = directory.path().join("data");
        let config = directory.path().join("castellan.toml");
        fs::write(&config, format!("{CONFIG}{more}"))?;
        // Fetches Kafka and makes the start-up cache, so that rounds are alike.
        up(binary, &data, &["--config", &config.to_string_lossy()]).await?;
        let spawn = Spawn {
            program: binary.into(),
            arguments: ["serve", "--data", &data.to_string_lossy(), "--customer-listen"]
                .into_iter()
                .chain(["127.0.0.1:0", "--instance-listen", "127.0.0.1:0"])
                .chain(["--agent-listen", "127.0.0.1:0", "--config", &config.to_string_lossy()])
                .map(String::from)
                .collect(),
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("serve.log"),
        };
        let _ = fs::remove_file(data.join("endpoints.json"));
        let (process, ended) = spawn.start()?;
        tokio::spawn(ended);
        let client = connect(&data).await?;
        let castellan = Self { binary: binary.into(), directory, process, client };
        for instance in castellan.client.instances().await? {
            castellan.remove(instance.id).await?;
        }
        Ok(castellan)
    }

    /// Waits until every JVM of the pool is warmed up. The answer is the mebibytes they take.
    pub async fn pool_filled(&self) -> Result<u64> {
        let (data, config) = (self.data(), self.directory.path().join("castellan.toml"));
        let (data, config) = (data.to_string_lossy(), config.to_string_lossy());
        let arguments = ["host", "--json", "--data", &data, "--config", &config];
        let began = Instant::now();
        loop {
            let output = host::run_output(&self.binary, &arguments, None).await?;
            let host: Value = serde_json::from_slice(&output.stdout)?;
            let warm = &host["warm"];
            if warm["ready"].as_u64() > Some(0) && warm["ready"] == warm["wanted"] {
                return warm["memory_mb"].as_u64().context("the pool's memory is told");
            }
            if began.elapsed() > PATIENCE {
                bail!("the pool is not filled: {host}");
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until a warm JVM stands by beside every broker.
    pub async fn on_standby(&self) -> Result<()> {
        let began = Instant::now();
        while !self.standby()?.iter().all(Option::is_some) {
            if began.elapsed() > PATIENCE {
                bail!("not every broker has a JVM on standby");
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Ends the JVMs on standby, and those that are on their way there.
    fn end_standby(&self) -> Result<()> {
        self.standby()?.iter().flatten().for_each(ProcessId::kill_for_good);
        Ok(())
    }

    /// Of each server: the JVM that waits to be its next broker.
    fn standby(&self) -> Result<Vec<Option<ProcessId>>> {
        let servers = fs::read_dir(self.data().join("servers"))?;
        let waiting = |said: String| {
            let pid = said.strip_suffix(" ready\n")?.parse().ok()?;
            ProcessId::from_pid(pid)
        };
        let standby = |server: std::io::Result<fs::DirEntry>| {
            let said = fs::read_to_string(server?.path().join("run/warm"));
            Ok(said.ok().and_then(waiting))
        };
        servers.map(standby).collect()
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub async fn first_write(&self, servers: u8) -> Result<FirstWrite> {
        let create = CreateInstance {
            name: "bench".into(),
            plan: format!("mouse-{servers}"),
            region: "local::this-machine".into(),
            ..CreateInstance::default()
        };
        let store = on_record::open(&self.data()).await?;
        let (began, posted) = (Instant::now(), SystemClock.now());
        let id = self.client.create_instance(&create).await?.id;
        let mut watch = Watch::begin(store, id, posted, SystemClock.now());
        let instance = self.until(id, Some(&mut watch), |instance| instance.ready).await?;
        let (ready, seen) = (began.elapsed().as_secs_f64(), SystemClock.now());
        let write = Write { topic: "first", replicas: servers.into() };
        producer::write_secured(&login(&instance)?, write).await?;
        let written = began.elapsed().as_secs_f64();
        watch.look(seen).await?;
        let timeline = watch.end(&self.data(), seen, SystemClock.now()).await?;
        Ok(FirstWrite { id, ready, written, timeline })
    }

    pub async fn power_cycle(&self, id: i64) -> Result<PowerCycle> {
        let began = Instant::now();
        self.client.stop_cluster(id).await?;
        self.until(id, None, Instance::is_stopped).await?;
        let stop = began.elapsed().as_secs_f64();
        let began = Instant::now();
        self.client.start_cluster(id).await?;
        let instance = self.until(id, None, |instance| instance.ready).await?;
        let replicas = self.client.details(id).await?.servers.len();
        let write = Write { topic: "again", replicas: i16::try_from(replicas)? };
        producer::write_secured(&login(&instance)?, write).await?;
        Ok(PowerCycle { stop, start: began.elapsed().as_secs_f64() })
    }

    /// Asks for the instance until `reached` is true of it. The watch looks before each call.
    async fn until(
        &self,
        id: i64,
        mut watch: Option<&mut Watch>,
        reached: impl Fn(&Instance) -> bool,
    ) -> Result<Instance> {
        let began = Instant::now();
        loop {
            if let Some(watch) = watch.as_deref_mut() {
                watch.look(SystemClock.now()).await?;
            }
            let instance = self.client.instance(id).await?;
            if reached(&instance) {
                return Ok(instance);
            }
            if began.elapsed() > PATIENCE {
                bail!("not reached: {}", instance.status);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What a customer needs to connect.
    pub async fn login(&self, id: i64) -> Result<Login> {
        login(&self.client.instance(id).await?)
    }

    /// The safe roll, until it has ended.
    pub async fn roll(&self, id: i64) -> Result<()> {
        self.client.restart_cluster(id).await?;
        let began = Instant::now();
        while !self.client.cluster_status(id).await?.configured {
            if began.elapsed() > PATIENCE {
                bail!("the roll has not ended: {}", self.client.instance(id).await?.status);
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Ends one broker after the other; the next as soon as the last one, started
    /// again by its agent in a cold JVM, says that it has started.
    pub async fn restart_plainly(&self) -> Result<()> {
        self.end_standby()?;
        for server in fs::read_dir(self.data().join("servers"))? {
            let run = server?.path().join("run");
            let broker = ProcessId::load(&run.join("broker.pid")).context("a broker runs")?;
            broker.terminate();
            until_back(&run, &broker).await?;
        }
        Ok(())
    }

    /// Kills the broker of a node; until its agent has it started again.
    pub async fn kill(&self, node: i32) -> Result<()> {
        let line = format!("node.id={node}");
        for server in fs::read_dir(self.data().join("servers"))? {
            let server = server?.path();
            let properties = fs::read_to_string(server.join("server.properties"))?;
            if properties.lines().any(|it| it == line) {
                let run = server.join("run");
                let broker = ProcessId::load(&run.join("broker.pid")).context("a broker runs")?;
                broker.kill();
                return until_back(&run, &broker).await;
            }
        }
        bail!("no server has {line}")
    }

    /// Deletes and waits until nothing of it is left to disturb the next round.
    pub async fn remove(&self, id: i64) -> Result<()> {
        self.client.delete_instance(id).await?;
        let began = Instant::now();
        while fs::read_dir(self.data().join("servers"))?.count() > 0 {
            if began.elapsed() > PATIENCE {
                bail!("instance {id} is not gone");
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// The directory of the only server.
    pub fn server(&self) -> Result<PathBuf> {
        Ok(fs::read_dir(self.data().join("servers"))?.next().context("a server")??.path())
    }

    fn recorded(&self, file: &str) -> Result<ProcessId> {
        ProcessId::load(&self.server()?.join(file)).with_context(|| format!("{file} is there"))
    }

    /// The process of an agent alone, without its broker.
    pub fn agent(&self) -> Result<i32> {
        Ok(self.recorded("agent.pid")?.pid)
    }

    pub fn processes(&self) -> Result<Processes> {
        let agent_mib = resident_mib(self.agent()?)?;
        Ok(Processes { agent_mib, flags: self.flags()? })
    }

    /// Every flag of the broker's JVM but class path and cache, whose paths
    /// belong to the machine.
    fn flags(&self) -> Result<String> {
        let pid = self.recorded("run/broker.pid")?.pid;
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline"))?;
        let flags = line.split('\0').filter(|word| word.starts_with("-X") && !word.contains('/'));
        Ok(flags.collect::<Vec<_>>().join(" "))
    }

    pub fn resident_mib(&self) -> Result<f64> {
        resident_mib(self.process.pid)
    }

    /// Seconds of a second `castellan up` beside a running cluster.
    pub async fn second_up(mut self, binary: &Path) -> Result<f64> {
        self.stop().await;
        let data = self.data();
        up(binary, &data, &[]).await?;
        let began = Instant::now();
        up(binary, &data, &[]).await?;
        let took = began.elapsed().as_secs_f64();
        self.purge().await?;
        Ok(took)
    }

    /// Ends everything that it has started, and removes it.
    pub async fn end(mut self) -> Result<()> {
        self.stop().await;
        self.purge().await
    }

    async fn purge(&self) -> Result<()> {
        let data = self.data();
        let down = ["down", "--data", &data.to_string_lossy(), "--purge", "--yes"];
        run(&self.binary, &down.map(String::from)).await
    }

    async fn stop(&mut self) {
        if let Some(watch) = self.process.watch() {
            self.process.terminate();
            watch.ended().await;
        }
    }
}

impl Drop for Castellan {
    fn drop(&mut self) {
        self.process.terminate();
    }
}

/// What the API says a customer needs.
fn login(instance: &Instance) -> Result<Login> {
    let broker = |(node_id, text): (i32, &str)| {
        let (host, port) = text.rsplit_once(':').context("brokers are host:port")?;
        Ok(Broker::new(node_id, Endpoint::new(host, port.parse()?)))
    };
    Ok(Login {
        instance: InstanceId(instance.entry.id),
        brokers: (1..).zip(instance.brokers.split(',')).map(broker).collect::<Result<_>>()?,
        trust_pem: instance.ca.clone(),
        username: instance.username.clone(),
        password: instance.password.clone(),
        mechanism: Mechanism::ScramSha256,
    })
}

async fn connect(data: &Path) -> Result<Client> {
    let began = Instant::now();
    let endpoints: Value = loop {
        match fs::read(data.join("endpoints.json")) {
            Ok(text) => break serde_json::from_slice(&text)?,
            Err(error) if began.elapsed() > PATIENCE => return Err(error.into()),
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    };
    let url = endpoints["customer"].as_str().context("endpoints.json names the Customer API")?;
    let key = fs::read_to_string(data.join("customer-key"))?;
    Ok(Client::new(&url.parse()?, Secret::new(key.trim()))?)
}

/// The agent has started another process, which says that it has started.
async fn until_back(run: &Path, old: &ProcessId) -> Result<()> {
    let began = Instant::now();
    loop {
        let now = ProcessId::load(&run.join("broker.pid")).map_or(0, |process| process.pid);
        let said = fs::read_to_string(run.join("started")).unwrap_or_default();
        if now != old.pid && said.trim() == now.to_string() {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            bail!("a broker did not come back");
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn up(binary: &Path, data: &Path, more: &[&str]) -> Result<()> {
    let data = data.to_string_lossy();
    let mut arguments = vec!["up", "--detach", "--data", &data];
    for listen in ["--customer-listen", "--instance-listen", "--agent-listen"] {
        arguments.extend([listen, "127.0.0.1:0"]);
    }
    arguments.extend(more);
    run(binary, &arguments.into_iter().map(String::from).collect::<Vec<_>>()).await
}

async fn run(binary: &Path, arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = host::run_output(binary, &arguments, None).await?;
    if !output.status.success() {
        bail!("{} failed: {}", arguments[0], String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

pub fn resident_mib(pid: i32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("VmRSS is told")?;
    let kib: f64 = line.split_whitespace().nth(1).context("VmRSS has a number")?.parse()?;
    Ok(kib / 1024.0)
}
