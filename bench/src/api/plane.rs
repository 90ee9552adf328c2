//! A control plane on the simulated cloud, without a rate limit, in a directory of
//! its own.

use super::load::{Request, body};
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host::{ProcessId, Spawn};
use model::Secret;
use serde_json::Value;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(20);
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
[limits]
instances = 0
servers = 0
disk_gb = 0
vpcs = 0
creates_per_day = 0
"#;

pub struct Plane {
    directory: tempfile::TempDir,
    process: ProcessId,
    customer: SocketAddr,
    /// Of an admin.
    pub key: Secret,
}

impl Plane {
    pub async fn start(binary: &Path) -> Result<Self> {
        Self::start_with(binary, "").await
    }

    /// With more at the end of its config file.
    pub async fn start_with(binary: &Path, more: &str) -> Result<Self> {
        let binary = built_alike(binary)?;
        let directory = tempfile::tempdir()?;
        let config = directory.path().join("castellan.toml");
        fs::write(&config, format!("{CONFIG}{more}"))?;
        let data = directory.path().join("data");
        let key = create_account(&binary, &data).await?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let arguments =
            vec!["serve".into(), "--data".into(), text(&data), "--config".into(), text(&config)];
        let spawn = Spawn {
            program: binary,
            arguments,
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("serve.log"),
        };
        let (process, ended) = spawn.start()?;
        tokio::spawn(ended);
        let customer = endpoint(&data).await?;
        Ok(Self { directory, process, customer, key })
    }

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Where agents call.
    pub fn agents(&self) -> Result<SocketAddr> {
        let text = fs::read(self.data().join("endpoints.json"))?;
        let endpoints: Value = serde_json::from_slice(&text)?;
        let url = endpoints["agent"].as_str().context("the agents' listener is named")?;
        Ok(url.trim_start_matches("https://").parse()?)
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.customer)
    }

    /// A request as it goes over the wire, with a JSON body if there is one.
    pub fn request(&self, method: &str, path: &str, key: &Secret, body: Option<&str>) -> Request {
        let key = STANDARD.encode(format!(":{}", key.expose()));
        let kind = body.map_or_else(String::new, |body| {
            let length = body.len();
            format!("content-type: application/json\r\ncontent-length: {length}\r\n")
        });
        let body = body.unwrap_or_default();
        let line = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n");
        let text = format!("{line}authorization: Basic {key}\r\n{kind}\r\n{body}");
        Request { to: self.customer, bytes: text.into_bytes() }
    }

    pub fn pid(&self) -> i32 {
        self.process.pid
    }

    /// Waits until the engine has made what it can of an instance: agents that
    /// never report are all that is left to wait for.
    pub async fn until_looked_at(&self, id: i64) -> Result<()> {
        let read = self.request("GET", &format!("/api/instances/{id}"), &self.key, None);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let instance: Value = serde_json::from_slice(&body(&read).await?)?;
            let conditions = instance["conditions"].as_array().cloned().unwrap_or_default();
            if conditions.iter().any(|it| it["kind"] == "starting") {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("instance {id} is still {}", instance["status"]);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub async fn stop(self) {
        if let Some(watch) = self.process.watch() {
            self.process.terminate();
            watch.ended().await;
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.process.terminate();
    }
}

/// The release binary, or its debug sibling where this is a debug build itself.
pub fn built_alike(release: &Path) -> Result<PathBuf> {
    if !cfg!(debug_assertions) {
        return Ok(release.into());
    }
    let target = release.ancestors().nth(2).context("it is built somewhere")?;
    Ok(target.join("debug").join("castellan"))
}

async fn create_account(binary: &Path, data: &Path) -> Result<Secret> {
    let data = data.to_string_lossy();
    let words = ["account", "create", "--json", "--email", "bench@example.test", "--data", &data];
    let made = host::run_output(binary, &words, None).await?;
    if !made.status.success() {
        bail!("no account could be made: {}", String::from_utf8_lossy(&made.stderr));
    }
    let made: Value = serde_json::from_slice(&made.stdout)?;
    Ok(Secret::new(made["apikey"].as_str().context("a new account has a key")?))
}

async fn endpoint(data: &Path) -> Result<SocketAddr> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read(data.join("endpoints.json")).unwrap_or_default();
        if let Ok(endpoints) = serde_json::from_slice::<Value>(&text) {
            let url = endpoints["customer"].as_str().context("the Customer API is named")?;
            return Ok(url.trim_start_matches("http://").parse()?);
        }
        if Instant::now() > deadline {
            bail!("the control plane does not serve");
        }
        tokio::time::sleep(LOOK).await;
    }
}
