//! The customer: kcat, which is librdkafka, with nothing but what the API says.

use crate::installation::Installation;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

const TOPIC: &str = "tour";
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Kcat {
    directory: tempfile::TempDir,
    brokers: String,
    plaintext: String,
    username: String,
    password: String,
    ca: String,
    namespace: Option<PathBuf>,
}

impl Kcat {
    pub async fn new(castellan: &Installation, instance: &Value) -> Self {
        let text = |field: &str| instance[field].as_str().unwrap().to_owned();
        let id = &instance["id"];
        let (_, ca) = castellan.get(&format!("/api/instances/{id}/ca/ca_cert.pem")).await;
        assert_eq!(ca, instance["ca"], "both tell the same authority");
        let (_, details) = castellan.get(&format!("/api/instances/{id}/details")).await;
        let port = &details["connections"]["plaintext"]["port"];
        let host = details["servers"][0]["private_ip"].as_str().unwrap();
        Self {
            directory: tempfile::tempdir().unwrap(),
            brokers: text("brokers"),
            plaintext: format!("{host}:{port}"),
            username: text("username"),
            password: text("password"),
            ca: text("ca"),
            namespace: None,
        }
    }

    /// The same customer in a network namespace.
    #[must_use]
    pub fn within(self, namespace: PathBuf) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// Writes one message and waits for its acknowledgement.
    pub async fn write(&self, mechanism: &str, message: &str) {
        let output =
            self.produce(&self.secured(mechanism, &self.password, &self.ca), message).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The same without a login.
    pub async fn write_plainly(&self, message: &str) {
        let output = self.produce(&self.plain(), message).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Every message of a topic so far.
    pub async fn read(&self, topic: &str, mechanism: &str) -> Vec<String> {
        self.read_by(self.secured(mechanism, &self.password, &self.ca), topic).await
    }

    /// The same without a login.
    pub async fn read_plainly(&self, topic: &str) -> Vec<String> {
        self.read_by(self.plain(), topic).await
    }

    async fn read_by(&self, mut arguments: Vec<String>, topic: &str) -> Vec<String> {
        arguments.extend(["-t".to_owned(), topic.to_owned()]);
        arguments.extend(["-C", "-q", "-e", "-o", "beginning"].map(str::to_owned));
        let output = self.run(arguments).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    pub async fn refused_with_password(&self, password: &str) -> String {
        let arguments = self.secured("SCRAM-SHA-256", password, &self.ca);
        refusal(&self.produce(&arguments, "from a stranger").await)
    }

    pub async fn refused_with_ca(&self, ca: &str) -> String {
        let arguments = self.secured("SCRAM-SHA-256", &self.password, ca);
        refusal(&self.produce(&arguments, "from a stranger").await)
    }

    pub async fn refused_without_credentials(&self) -> String {
        refusal(&self.produce(&self.plain(), "from a stranger").await)
    }

    fn plain(&self) -> Vec<String> {
        ["-b", &self.plaintext].map(str::to_owned).to_vec()
    }

    fn secured(&self, mechanism: &str, password: &str, ca: &str) -> Vec<String> {
        let settings = [
            "security.protocol=SASL_SSL".to_owned(),
            format!("sasl.mechanisms={mechanism}"),
            format!("sasl.username={}", self.username),
            format!("sasl.password={password}"),
            format!("ssl.ca.pem={ca}"),
        ];
        let mut arguments = ["-b", &self.brokers].map(str::to_owned).to_vec();
        arguments.extend(settings.into_iter().flat_map(|setting| ["-X".to_owned(), setting]));
        arguments
    }

    async fn produce(&self, arguments: &[String], message: &str) -> Output {
        let file = self.directory.path().join("message");
        std::fs::write(&file, message).unwrap();
        let settings = ["-t", TOPIC, "-P", "-X", "acks=all", "-X", "message.timeout.ms=8000"];
        let mut arguments = arguments.to_vec();
        arguments.extend(settings.map(str::to_owned));
        arguments.push(file.to_str().unwrap().to_owned());
        self.run(arguments).await
    }

    async fn run(&self, arguments: Vec<String>) -> Output {
        let namespace = self.namespace.clone();
        let running = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            host::run_within(namespace.as_deref(), "kcat", &arguments, "")
        });
        tokio::time::timeout(PATIENCE, running).await.expect("kcat ends in time").unwrap().unwrap()
    }
}

fn refusal(output: &Output) -> String {
    assert!(!output.status.success(), "a stranger got in");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
