//! What a cluster says to a client that shares no code with ours: librdkafka's
//! admin client, in Python.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(1);

pub struct Witness {
    directory: tempfile::TempDir,
    login: Value,
}

impl Witness {
    /// Logs in as the default user, with nothing but what the API says.
    pub fn new(instance: &Value) -> Self {
        let login = json!({
            "brokers": instance["brokers"], "ca": instance["ca"],
            "username": instance["username"], "password": instance["password"],
        });
        Self { directory: tempfile::tempdir().unwrap(), login }
    }

    /// The same cluster, as somebody else.
    pub fn of(&self, username: &str, password: &str) -> Self {
        let mut login = self.login.clone();
        login["username"] = username.into();
        login["password"] = password.into();
        Self { directory: tempfile::tempdir().unwrap(), login }
    }

    pub async fn everything(&self) -> Value {
        self.run(&["everything"]).await
    }

    /// Why it failed, if it did.
    pub async fn write(&self, topic: &str, value: &str) -> Option<String> {
        let outcome = self.run(&["write", topic, value]).await;
        outcome["error"].as_str().map(str::to_owned)
    }

    async fn run(&self, arguments: &[&str]) -> Value {
        let login = self.directory.path().join("login.json");
        std::fs::write(&login, self.login.to_string()).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tour/witness.py");
        let mut all = vec![script.to_str().unwrap(), login.to_str().unwrap()];
        all.extend(arguments);
        let python = python();
        let running = host::run_output(&python, &all, None);
        let ran = tokio::time::timeout(PATIENCE, running).await.expect("it ends in time").unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{arguments:?}: {errors}");
        serde_json::from_slice(&ran.stdout).unwrap()
    }
}

/// Where `scripts/setup.sh test` puts it: beside what is built.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_castellan")).ancestors().nth(2).unwrap();
    let program = target.join("witness/bin/python");
    assert!(program.exists(), "{} is not there; `make setup-test` installs it", program.display());
    program
}
