//! A control plane on the simulated cloud, without a rate limit: started from the
//! binary, in a directory of its own, ended by pid.

use host::{ProcessId, Spawn};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_castellan");
const PATIENCE: Duration = Duration::from_mins(1);
const CONFIG: &str = r#"
cloud = "simulated"
[listen]
customer = "127.0.0.1:0"
instance = "127.0.0.1:0"
agent = "127.0.0.1:0"
[rate_limit]
key = { per_second = 0 }
account = { per_second = 0 }
address = { per_second = 0 }
invitations_per_hour = 0
[rate_limit.messages]
unrequested_mails_per_mailbox_per_day = 0
tests_per_account_per_hour = 0
tests_per_destination_per_hour = 0
"#;

pub struct Plane {
    directory: tempfile::TempDir,
    process: ProcessId,
    http: reqwest::Client,
    /// The address of the Customer API.
    pub customer: String,
    /// Of an admin.
    pub key: String,
}

impl Plane {
    pub async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let directory = host::testing::tempdir();
        let config = directory.path().join("castellan.toml");
        fs::write(&config, CONFIG).unwrap();
        let data = directory.path().join("data");
        let key = create_account(&data).await;
        let words = ["serve", "--data", data.to_str().unwrap(), "--config"];
        let spawn = Spawn {
            program: BINARY.into(),
            arguments: words
                .into_iter()
                .chain([config.to_str().unwrap()])
                .map(Into::into)
                .collect(),
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("serve.log"),
        };
        let (process, ended) = spawn.start().unwrap();
        tokio::spawn(ended);
        let http = reqwest::Client::new();
        let mut plane = Self { directory, process, http, customer: String::new(), key };
        plane.customer = plane.endpoint().await;
        plane
    }

    async fn endpoint(&self) -> String {
        let path = self.directory().join("data/endpoints.json");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = fs::read(&path).unwrap_or_default();
            if let Ok(endpoints) = serde_json::from_slice::<Value>(&text) {
                return endpoints["customer"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < deadline, "it does not serve: {}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.directory().join("serve.log")).unwrap_or_default()
    }

    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    pub async fn get(&self, path: &str) -> u16 {
        let request = self.http.get(format!("{}{path}", self.customer));
        let answer = request.basic_auth("", Some(&self.key)).send().await.unwrap();
        answer.status().as_u16()
    }

    pub async fn stop(self) {
        if let Some(watch) = self.process.watch() {
            self.process.terminate();
            tokio::time::timeout(PATIENCE, watch.ended()).await.expect("it stops");
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.process.kill();
    }
}

async fn create_account(data: &Path) -> String {
    let data: PathBuf = data.into();
    let words = ["account", "create", "--json", "--email", "fuzz@example.test", "--data"];
    let mut arguments = words.to_vec();
    arguments.push(data.to_str().unwrap());
    let made = host::run_output(Path::new(BINARY), &arguments, None).await.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    made["apikey"].as_str().unwrap().to_owned()
}
