//! One of several control planes on a PostgreSQL and a host directory: a real
//! process that can be stopped in the middle of a step, and continued.

use faults::{Fault, Injected};
use host::{ProcessId, Spawn};
use serde_json::Value;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const BINARY: &str = env!("CARGO_BIN_EXE_castellan");
const PATIENCE: Duration = Duration::from_mins(3);

pub struct Plane {
    root: PathBuf,
    name: &'static str,
    process: ProcessId,
    /// While it stands still.
    stopped: Option<Injected>,
    endpoints: Value,
    http: reqwest::Client,
    key: String,
}

impl Plane {
    /// Starts a control plane, held up at a moment of a step if one is named,
    /// and waits until it answers. `key` is a customer's.
    pub async fn start(
        root: &Path,
        name: &'static str,
        database: &str,
        hold_at: Option<&str>,
        key: &str,
    ) -> Self {
        let data = root.join(name);
        let _ = fs::remove_file(data.join("endpoints.json"));
        let hold = root.join(format!("{name}-hold"));
        let _ = fs::remove_dir_all(&hold);
        fs::create_dir(&hold).unwrap();
        write_config(root, name, database);
        let (process, ended) = spawn(root, name, &hold, hold_at).start().unwrap();
        // Reaped in the background, so that an ended one is no zombie.
        tokio::spawn(ended);
        let http = reqwest::Client::new();
        let (root, key) = (root.to_owned(), key.to_owned());
        let stopped = None;
        let mut plane = Self { root, name, process, stopped, endpoints: Value::Null, http, key };
        plane.endpoints = plane
            .until("it serves", async || {
                let text = fs::read(data.join("endpoints.json")).unwrap_or_default();
                serde_json::from_slice::<Value>(&text).map_err(|error| error.to_string())
            })
            .await;
        plane
    }

    fn data(&self) -> PathBuf {
        self.root.join(self.name)
    }

    fn hold(&self) -> PathBuf {
        self.root.join(format!("{}-hold", self.name))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.root.join(format!("{}.log", self.name))).unwrap_or_default()
    }

    pub async fn create_account(&mut self) -> String {
        let output = self.command(&["account", "create", "--email", "t@x.test", "--json"]).await;
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        let key = created["apikey"].as_str().unwrap();
        key.clone_into(&mut self.key);
        key.to_owned()
    }

    /// A command beside it, which must succeed.
    async fn command(&self, arguments: &[&str]) -> std::process::Output {
        let (data, config) = (self.data(), self.root.join(format!("{}.toml", self.name)));
        let at = ["--data", data.to_str().unwrap(), "--config", config.to_str().unwrap()];
        let arguments = [arguments, &at].concat();
        let output = host::run_output(Path::new(BINARY), &arguments, None).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Stops the process with SIGSTOP once it has come to where it is held.
    pub async fn stop_where_it_is_held(&mut self) {
        let held = self.hold().join("held");
        self.until("it is held", async || held.exists().then_some(()).ok_or("not yet")).await;
        let stopped = Fault::Pause(self.process.clone()).inject().await.unwrap();
        // Nobody is there to see this before SIGCONT.
        fs::write(self.hold().join("go"), "").unwrap();
        self.stopped = Some(stopped);
    }

    /// Continues the process, which goes on with what it had in mind.
    pub fn go_on(&mut self) {
        assert!(self.process.is_stopped(), "it is no longer stopped");
        drop(self.stopped.take());
    }

    pub async fn until_it_says(&self, words: &str) {
        self.until(words, async || self.log().contains(words).then_some(()).ok_or("not yet")).await;
    }

    pub async fn get(&self, path: &str) -> Value {
        self.send(self.http.get(self.url(path))).await.1
    }

    pub async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(self.http.post(self.url(path)).json(body)).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    pub async fn delete(&self, path: &str) {
        assert_eq!(self.send(self.http.delete(self.url(path))).await.0, 204);
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoints["customer"].as_str().unwrap())
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.basic_auth("", Some(&self.key)).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    pub async fn until_running(&self, id: i64) {
        self.until("the instance runs", async || {
            let instance = self.get(&format!("/api/instances/{id}")).await;
            let running = instance["ready"] == true && instance["status"] == "running";
            if running { Ok(()) } else { Err(instance["status"].to_string()) }
        })
        .await;
    }

    /// Ends the control plane, as a service manager would.
    pub async fn end(self) {
        let watch = self.process.watch().unwrap();
        self.process.terminate();
        tokio::time::timeout(PATIENCE, watch.ended()).await.expect("it does not end");
    }

    /// Ends it and all clusters, and removes everything of them.
    pub async fn purge(self) {
        let data = self.data();
        let arguments = ["down", "--data", data.to_str().unwrap(), "--purge", "--yes"];
        let output = host::run_output(Path::new(BINARY), &arguments, None).await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // The database stays, and with it the key without which it can't be read.
        let left = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["master.key"]);
    }

    /// Waits for a condition; says what was seen last when it takes too long.
    pub async fn until<T, E: Debug>(
        &self,
        what: &str,
        condition: impl AsyncFn() -> Result<T, E>,
    ) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = match condition().await {
                Ok(value) => return value,
                Err(seen) => seen,
            };
            let log = || self.log();
            assert!(Instant::now() < deadline, "never {what}; last seen {seen:?}; {}", log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Plane {
    /// A test that fails leaves no process either.
    fn drop(&mut self) {
        self.process.kill();
    }
}

fn write_config(root: &Path, name: &str, database: &str) {
    let host = root.join("host");
    let text = format!(
        "database_url = \"{database}\"\n[engine]\nlease_seconds = 3\n[local]\nmax_heap_mb = 256\nwarm = 0\n\
         directory = \"{}\"\n[listen]\ncustomer = \"127.0.0.1:0\"\ninstance = \"127.0.0.1:0\"\n\
         agent = \"127.0.0.1:0\"\n",
        host.display()
    );
    fs::write(root.join(format!("{name}.toml")), text).unwrap();
}

fn spawn(root: &Path, name: &str, hold: &Path, hold_at: Option<&str>) -> Spawn {
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    let environment = hold_at.map(|at| {
        let directory = ("CASTELLAN_TEST_HOLD_DIR".to_owned(), path(hold.to_owned()));
        [("CASTELLAN_TEST_HOLD_AT".to_owned(), at.to_owned()), directory]
    });
    Spawn {
        program: BINARY.into(),
        arguments: vec![
            "serve".into(),
            "--data".into(),
            path(root.join(name)),
            "--config".into(),
            path(root.join(format!("{name}.toml"))),
        ],
        environment: environment.into_iter().flatten().collect(),
        directory: root.into(),
        output: root.join(format!("{name}.log")),
    }
}
