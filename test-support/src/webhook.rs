//! A webhook's other side, which is none of our code: a web server in Python that
//! checks signatures and says what came.

use host::Piped;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const SECRET: &str = "7h15 15 n0 53cr37";
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Webhook {
    running: Piped,
    directory: tempfile::TempDir,
    url: String,
}

impl Webhook {
    pub async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [fails, holds] = ["fails", "holds"].map(|name| directory.path().join(name));
        for file in [&fails, &holds] {
            std::fs::write(file, "").unwrap();
        }
        let script = crate::script("webhook.py");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let arguments = [text(&script), SECRET.to_owned(), text(&fails), text(&holds)];
        let errors = directory.path().join("errors");
        let mut running = Piped::start(Path::new("python3"), &arguments, &errors).unwrap();
        let port = tokio::time::timeout(PATIENCE, running.hear()).await.expect("it listens");
        let port = port.unwrap().unwrap();
        Self { running, directory, url: format!("http://127.0.0.1:{port}/castellan") }
    }

    /// What makes it a recipient of an instance.
    pub fn recipient(&self) -> Value {
        json!({"type": "webhook", "value": self.url, "name": "tour",
               "options": {"secret": SECRET}})
    }

    /// Notifications of these states are answered 503 from now on.
    pub fn refuse(&self, states: &str) {
        std::fs::write(self.directory.path().join("fails"), states).unwrap();
    }

    /// Notifications of these states are heard from now on, and not answered until
    /// this is told otherwise.
    pub fn hold(&self, states: &str) {
        std::fs::write(self.directory.path().join("holds"), states).unwrap();
    }

    /// The next that comes: what it says.
    pub async fn hear(&mut self) -> Value {
        self.hear_within(PATIENCE).await.expect("it is told in time")
    }

    /// None if nothing comes in that time; what comes later is heard the next time.
    pub async fn hear_within(&mut self, patience: Duration) -> Option<Value> {
        let heard = tokio::time::timeout(patience, self.running.hear()).await.ok()?;
        let heard = heard.unwrap().expect("it runs");
        let mut heard: Value = serde_json::from_str(&heard).unwrap();
        assert_eq!(heard["signed"], true, "{heard}");
        assert_eq!(heard["type"], "application/json", "{heard}");
        Some(heard["body"].take())
    }
}
