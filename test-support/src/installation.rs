//! A Castellan of its own for a test: started from the binary, used over HTTP,
//! killed by pid, purged at the end.

use crate::{binary, left_over};
use faults::Fault;
use host::{ProcessId, Spawn};
use model::{Clock, SystemClock};
use serde_json::Value;
use std::fmt::Debug;
use std::fs;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(3);
const LOOPBACK: &str = "network = \"loopback\"\n";

/// The two processes of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Processes {
    pub agent: ProcessId,
    pub broker: ProcessId,
}

pub struct Installation {
    directory: tempfile::TempDir,
    process: Option<ProcessId>,
    /// Microseconds since 1970, as the store has them.
    serving_since: i64,
    http: reqwest::Client,
    pub key: String,
    endpoints: Value,
    /// How many warm JVMs the host keeps.
    warm: u8,
    warm_rolls: bool,
    /// What makes servers.
    cloud: &'static str,
    /// More lines of what is local to the host.
    local: String,
}

impl Installation {
    pub async fn start() -> Self {
        Self::start_with("").await
    }

    /// With more lines of config.
    pub async fn start_with(config: &str) -> Self {
        Self::start_on("local", LOOPBACK, 0, config).await
    }

    /// With a namespace for each network, whose servers the host forwards those ports of an
    /// address of its own to.
    pub async fn start_in_namespaces(address: Ipv4Addr, ports: RangeInclusive<u16>) -> Self {
        let (first, last) = ports.into_inner();
        let local = format!(
            "network = \"namespaces\"\npublic = \"shared-address\"\nshared_host = \"{address}\"\n\
             shared_bind = \"{address}\"\nshared_ports = [{first}, {last}]\n"
        );
        Self::start_on("local", &local, 0, "").await
    }

    /// Without any process but the control plane: servers are rows alone, and get never ready.
    pub async fn start_simulated(config: &str) -> Self {
        Self::start_on("simulated", LOOPBACK, 0, config).await
    }

    /// On a host that keeps so many warm JVMs.
    pub async fn start_warm(warm: u8) -> Self {
        Self::start_on("local", LOOPBACK, warm, "").await
    }

    async fn start_on(cloud: &'static str, local: &str, warm: u8, config: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let directory = host::testing::tempdir();
        let mut castellan = Self {
            directory,
            process: None,
            serving_since: 0,
            http: reqwest::Client::new(),
            key: String::new(),
            endpoints: Value::Null,
            warm,
            warm_rolls: true,
            cloud,
            local: local.to_owned(),
        };
        castellan.configure(config);
        castellan.serve().await;
        castellan.key = castellan.create_account("t@x.test").await;
        castellan
    }

    /// Counts from the next start on.
    pub fn configure(&self, more: &str) {
        let Self { warm, warm_rolls, cloud, local, .. } = self;
        let config = format!(
            "cloud = \"{cloud}\"\n[outbound]\nallow_private_addresses = true\n\
             [local]\n{local}max_heap_mb = 256\nwarm = {warm}\nwarm_rolls = {warm_rolls}\n\
             [listen]\ncustomer = \"127.0.0.1:0\"\n\
             instance = \"127.0.0.1:0\"\nagent = \"127.0.0.1:0\"\n{more}"
        );
        fs::write(self.config(), config).unwrap();
    }

    /// Whether the JVM that follows a broker is warmed up before that is restarted. A control
    /// plane that starts tells the agents.
    pub async fn set_warm_rolls(&mut self, warm_rolls: bool) {
        if self.warm_rolls == warm_rolls {
            return;
        }
        let config = fs::read_to_string(self.config()).unwrap();
        let line = |warm_rolls: bool| format!("warm_rolls = {warm_rolls}\n");
        let changed = config.replace(&line(self.warm_rolls), &line(warm_rolls));
        assert_ne!(changed, config);
        fs::write(self.config(), changed).unwrap();
        self.warm_rolls = warm_rolls;
        self.kill_control_plane().await;
        self.serve().await;
    }

    fn config(&self) -> PathBuf {
        self.directory.path().join("castellan.toml")
    }

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// By which the clocks of our own processes can be stepped.
    pub fn clock(&self) -> PathBuf {
        self.directory.path().join("clock")
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("serve.log")
    }

    /// Starts the control plane and waits until it answers.
    pub async fn serve(&mut self) {
        let _ = fs::remove_file(self.data().join("endpoints.json"));
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        let config = path(self.config());
        let spawn = Spawn {
            program: binary(),
            arguments: vec![
                "serve".into(),
                "--data".into(),
                path(self.data()),
                "--config".into(),
                config,
            ],
            environment: vec![(Fault::STEPPED_CLOCK.to_owned(), path(self.clock()))],
            directory: self.directory.path().into(),
            output: self.log(),
        };
        self.serving_since = SystemClock.now().as_microsecond();
        let (process, ended) = spawn.start().unwrap();
        // Reaped in the background, so that a killed one is no zombie.
        tokio::spawn(ended);
        self.process = Some(process);
        self.endpoints = self
            .until("the control plane serves", async || {
                let text = fs::read(self.data().join("endpoints.json")).unwrap_or_default();
                serde_json::from_slice::<Value>(&text).map_err(|error| error.to_string())
            })
            .await;
    }

    /// Its key.
    pub async fn create_account(&self, email: &str) -> String {
        let data = self.data();
        let arguments =
            ["account", "create", "--data", data.to_str().unwrap(), "--email", email, "--json"];
        let output = host::run_output(&binary(), &arguments, None).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        created["apikey"].as_str().unwrap().to_owned()
    }

    pub fn control_plane(&self) -> &ProcessId {
        self.process.as_ref().unwrap()
    }

    pub async fn kill_control_plane(&mut self) {
        let process = self.process.take().unwrap();
        drop(Fault::kill(&process).inject().await.unwrap());
    }

    pub fn customer_url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoints["customer"].as_str().unwrap())
    }

    /// Where agents are listened for.
    pub fn agent_url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoints["agent"].as_str().unwrap())
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.http.get(self.customer_url(path)).basic_auth("", Some(&self.key))).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.post(self.customer_url(path)).json(body);
        answer(request.basic_auth("", Some(&self.key))).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.put(self.customer_url(path)).json(body);
        answer(request.basic_auth("", Some(&self.key))).await
    }

    pub async fn delete(&self, path: &str) -> u16 {
        let request = self.http.delete(self.customer_url(path));
        answer(request.basic_auth("", Some(&self.key))).await.0
    }

    pub async fn instance_api(&self, path: &str, key: &str) -> (u16, Value) {
        let url = format!("{}{path}", self.endpoints["instance"].as_str().unwrap());
        answer(self.http.get(url).basic_auth("", Some(key))).await
    }

    /// The instance once it is ready and healthy.
    pub async fn until_running(&self, id: i64) -> Value {
        self.until("the instance runs", async || {
            let (_, instance) = self.get(&format!("/api/instances/{id}")).await;
            let running = instance["ready"] == true && instance["status"] == "running";
            if running { Ok(instance) } else { Err(instance["status"].to_string()) }
        })
        .await
    }

    pub async fn until_status(&self, id: i64, status: &str) {
        self.until(status, async || {
            let (_, instance) = self.get(&format!("/api/instances/{id}")).await;
            if instance["status"] == status { Ok(()) } else { Err(instance["status"].to_string()) }
        })
        .await;
    }

    /// Agents and JVMs, on record or not.
    pub fn servers_alive(&self) -> usize {
        left_over::processes_of("CASTELLAN_SERVER", &self.data()).len()
    }

    /// Waits until nothing of any instance is on this machine.
    pub async fn until_gone(&self) {
        self.until("the instance is gone", async || {
            let left = fs::read_dir(self.data().join("servers")).unwrap().count();
            let rows = left_over::rows(self, "instances").await;
            if left == 0 && rows == 0 { Ok(()) } else { Err(format!("{left} dirs, {rows} rows")) }
        })
        .await;
    }

    /// Waits until these agents have told this control plane that these brokers
    /// run: what an earlier agent or process said does not count.
    pub async fn until_heard_anew(&self, expected: &[Processes]) {
        let since = self.serving_since;
        self.until("the agents report", async || {
            let reports = left_over::reports(self).await;
            let heard = reports.iter().zip(expected).all(|((report, last_seen), processes)| {
                *last_seen >= since
                    && report["phase"] == "running"
                    && report["agent_pid"] == processes.agent.pid
                    && report["broker_pid"] == processes.broker.pid
            });
            let all = heard && reports.len() == expected.len();
            if all { Ok(()) } else { Err(format!("{reports:?}, serving since {since}")) }
        })
        .await;
    }

    /// The servers' directories, by id.
    pub fn server_dirs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.data().join("servers")).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    pub fn server_dir(&self, server: usize) -> PathBuf {
        self.server_dirs().swap_remove(server)
    }

    /// Where a server's disk really is.
    pub fn disk(&self, server: usize) -> PathBuf {
        self.server_dirs()[server].join("disk").canonicalize().unwrap()
    }

    /// What is on record of every server.
    pub fn processes(&self) -> Vec<Processes> {
        let of = |directory: &PathBuf| Processes {
            agent: ProcessId::load(&directory.join("agent.pid")).unwrap(),
            broker: ProcessId::load(&directory.join("run/broker.pid")).unwrap(),
        };
        self.server_dirs().iter().map(of).collect()
    }

    /// Agents on record. A server that is being made or removed may have none.
    pub fn agents(&self) -> Vec<ProcessId> {
        self.on_record("agent.pid")
    }

    /// Brokers on record. A server that joins may have none yet.
    pub fn brokers(&self) -> Vec<ProcessId> {
        self.on_record("run/broker.pid")
    }

    fn on_record(&self, file: &str) -> Vec<ProcessId> {
        let servers = self.server_dirs();
        servers.iter().filter_map(|server| ProcessId::load(&server.join(file))).collect()
    }

    /// JVMs that were started for a server, on record or not.
    pub fn brokers_alive(&self) -> usize {
        // A JVM that was warmed up before its start keeps the mark of that.
        let marked = |mark| left_over::processes_of(mark, &self.data()).len();
        marked("CASTELLAN_BROKER") + marked("CASTELLAN_SUCCESSOR")
    }

    pub async fn until_agent_is_not(&self, server: usize, old: &ProcessId) -> ProcessId {
        let now = async || other_than(old, &self.server_dirs()[server].join("agent.pid"));
        self.until("a new agent runs", now).await
    }

    pub async fn until_broker_is_not(&self, server: usize, old: &ProcessId) -> ProcessId {
        let now = async || other_than(old, &self.server_dirs()[server].join("run/broker.pid"));
        self.until("a new broker runs", now).await
    }

    /// A certificate that is valid, but not the instance's.
    pub fn fleet_ca(&self) -> String {
        fs::read_to_string(self.data().join("fleet-ca.pem")).unwrap()
    }

    /// Stops everything and removes the data, as a person would.
    pub async fn purge(mut self) {
        let data = self.data();
        let arguments = ["down", "--data", data.to_str().unwrap(), "--purge", "--yes"];
        let output = host::run_output(&binary(), &arguments, None).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!data.exists());
        self.process = None;
    }

    /// Waits for a condition; says what was seen last when it takes too long.
    pub async fn until<T, E: Debug>(
        &self,
        what: &str,
        condition: impl AsyncFnMut() -> Result<T, E>,
    ) -> T {
        self.until_within(PATIENCE, what, condition).await
    }

    /// The same for what takes longer than most.
    pub async fn until_within<T, E: Debug>(
        &self,
        patience: Duration,
        what: &str,
        mut condition: impl AsyncFnMut() -> Result<T, E>,
    ) -> T {
        let deadline = Instant::now() + patience;
        loop {
            let seen = match condition().await {
                Ok(value) => return value,
                Err(seen) => seen,
            };
            if Instant::now() > deadline {
                let log = fs::read_to_string(self.log()).unwrap_or_default();
                panic!("waited too long until {what}; last seen: {seen:?}; log:\n{log}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Installation {
    /// A test that fails leaves no process either.
    fn drop(&mut self) {
        if let Some(process) = &self.process {
            process.kill();
        }
        let warm = left_over::processes_of("CASTELLAN_SUCCESSOR", &self.data());
        for jvm in warm.into_iter().filter_map(ProcessId::from_pid) {
            jvm.kill_for_good();
        }
        for server in cloud_local::running(&self.data()).unwrap_or_default() {
            for process in server.agent.iter().chain(&server.brokers) {
                process.kill_for_good();
            }
        }
        let _ = cloud_local::remove_groups(&self.data());
        // What was killed may still be ending, and keeps its namespace for so long.
        let deadline = Instant::now() + Duration::from_secs(10);
        while cloud_local::remove_namespaces(&self.data()).is_ok_and(|left| !left.is_empty())
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn other_than(old: &ProcessId, file: &Path) -> Result<ProcessId, String> {
    match ProcessId::load(file) {
        Some(now) if now != *old && now.is_alive() => Ok(now),
        other => Err(format!("{other:?}")),
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
