//! What a cluster says to a client that shares no code with ours: librdkafka's
//! admin client, in Python.

use host::Piped;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Of Python.
const ENVIRONMENT: &str = "witness";
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

    /// The same while servers are restarted, and may go away as they are asked: what it
    /// has, or why it can't tell now.
    pub async fn look(&self) -> Result<Value, String> {
        self.attempt(&["everything"]).await
    }

    /// A topic over Kafka's own protocol; why it failed, if it did.
    pub async fn make(&self, topic: &str) -> Option<String> {
        let outcome = self.run(&["make", topic]).await;
        outcome["error"].as_str().map(str::to_owned)
    }

    /// Why it failed, if it did.
    pub async fn write(&self, topic: &str, value: &str) -> Option<String> {
        let outcome = self.run(&["write", topic, value]).await;
        outcome["error"].as_str().map(str::to_owned)
    }

    /// So many messages of a topic from its begin, by partition and offset.
    pub async fn read(&self, topic: &str, count: usize) -> Value {
        self.run(&["read", topic, &count.to_string()]).await
    }

    /// The same for a group, which commits it and has no members, or why it can't now.
    pub async fn read_for(&self, group: &str, topic: &str, count: usize) -> Result<Value, String> {
        self.attempt(&["read", topic, &count.to_string(), group]).await
    }

    /// Joins a group by one of Kafka's protocols, and reads and commits from then on.
    pub async fn join(&self, topic: &str, group: &str, protocol: &str) -> Member {
        let arguments = self.arguments(&["stay", topic, group, protocol]);
        let errors = self.directory.path().join("errors");
        let mut piped = Piped::start(&crate::python(ENVIRONMENT), &arguments, &errors).unwrap();
        let said = tokio::time::timeout(PATIENCE, piped.hear()).await;
        let Ok(Ok(Some(line))) = said else {
            panic!("it does not join: {}", std::fs::read_to_string(&errors).unwrap());
        };
        Member { piped, assigned: serde_json::from_str(&line).unwrap() }
    }

    fn arguments(&self, words: &[&str]) -> Vec<String> {
        let login = self.directory.path().join("login.json");
        std::fs::write(&login, self.login.to_string()).unwrap();
        let script = crate::script("witness/witness.py");
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let words = words.iter().map(ToString::to_string);
        [text(script), text(login)].into_iter().chain(words).collect()
    }

    async fn run(&self, arguments: &[&str]) -> Value {
        self.attempt(arguments).await.unwrap_or_else(|why| panic!("{arguments:?}: {why}"))
    }

    /// What it prints, or why it failed.
    async fn attempt(&self, arguments: &[&str]) -> Result<Value, String> {
        let all = self.arguments(arguments);
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let python = crate::python(ENVIRONMENT);
        let running = host::run_output(&python, &all, None);
        let Ok(ran) = tokio::time::timeout(PATIENCE, running).await else {
            return Err(format!("it has not ended after {PATIENCE:?}"));
        };
        let ran = ran.unwrap();
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
        }
        Ok(serde_json::from_slice(&ran.stdout).unwrap())
    }
}

/// A consumer of the witness's that stays in its group.
pub struct Member {
    piped: Piped,
    /// The partitions it was given.
    pub assigned: Value,
}

impl Member {
    /// Commits what it has read, and goes.
    pub async fn leave(self) {
        let ended = tokio::time::timeout(PATIENCE, self.piped.end()).await;
        assert!(ended.expect("it ends in time").unwrap().success());
    }
}
