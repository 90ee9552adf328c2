//! Clients that log in with certificates of their own: kcat, which is librdkafka, with
//! keys and requests made by openssl and keytool, signed through the API.

use crate::installation::Installation;
use host::Piped;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

/// What Java says in the handshake to a certificate that it does not trust.
pub const REFUSED: &str = "alert certificate unknown";
/// After it was revoked, as promised.
pub const REFUSED_WITHIN: Duration = Duration::from_secs(10);
/// How openssl makes a key of the kind that most people take.
pub const P256: [&str; 4] = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
const PATIENCE: Duration = Duration::from_mins(1);
const STORE_PASSWORD: &str = "changeit";

/// Each goes by a name of its own, and all write to one topic.
pub struct Clients {
    directory: tempfile::TempDir,
    /// Of the instance.
    pub path: String,
    brokers: String,
    topic: String,
}

impl Clients {
    pub async fn new(castellan: &Installation, instance: &Value, topic: &str) -> Self {
        let path = format!("/api/instances/{}", instance["id"]);
        let (_, details) = castellan.get(&format!("{path}/details")).await;
        let port = &details["connections"]["ssl"]["port"];
        let servers = details["servers"].as_array().unwrap().iter();
        let brokers: Vec<String> =
            servers.map(|it| format!("{}:{port}", it["hostname"].as_str().unwrap())).collect();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), instance["ca"].as_str().unwrap()).unwrap();
        Self { directory, path, brokers: brokers.join(","), topic: topic.to_owned() }
    }

    pub fn file(&self, name: &str, kind: &str) -> String {
        self.directory.path().join(format!("{name}.{kind}")).to_str().unwrap().to_owned()
    }

    /// A key of its own, a request by openssl, and the certificate for it. Its serial.
    pub async fn request(
        &self,
        castellan: &Installation,
        name: &str,
        key: &[&str],
        cn: &str,
    ) -> String {
        let (key_file, csr) = (self.file(name, "key"), self.file(name, "csr"));
        let mut make = vec!["genpkey", "-quiet", "-out", &key_file];
        make.extend(key);
        openssl(&make).await;
        let subject = format!("/O=Acme/CN={cn}");
        openssl(&["req", "-new", "-key", &key_file, "-subj", &subject, "-out", &csr]).await;
        self.sign(castellan, name).await
    }

    /// The same as people of Java do it.
    pub async fn request_by_keytool(&self, castellan: &Installation, name: &str, cn: &str) {
        let (store, csr) = (self.file(name, "p12"), self.file(name, "csr"));
        let store_of = ["-keystore", &store, "-storepass", STORE_PASSWORD, "-alias", "client"];
        let subject = format!("CN={cn}, O=Acme");
        let key = ["-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", &subject];
        run("keytool", &[&key[..], &store_of].concat()).await;
        run("keytool", &[&["-certreq", "-file", &csr][..], &store_of].concat()).await;
        let (key_file, password) = (self.file(name, "key"), format!("pass:{STORE_PASSWORD}"));
        let of_store = ["pkcs12", "-in", &store, "-nodes", "-nocerts"];
        openssl(&[&of_store[..], &["-passin", &password, "-out", &key_file]].concat()).await;
        self.sign(castellan, name).await;
    }

    /// Has its request signed. The certificate's serial.
    async fn sign(&self, castellan: &Installation, name: &str) -> String {
        let body = json!({"csr": std::fs::read_to_string(self.file(name, "csr")).unwrap()});
        let (status, answer) = castellan.post(&format!("{}/ca/sign", self.path), &body).await;
        assert_eq!(status, 200, "{answer}");
        let certificate = self.file(name, "pem");
        std::fs::write(&certificate, answer.as_str().unwrap()).unwrap();
        let told = openssl(&["x509", "-in", &certificate, "-noout", "-serial"]).await;
        told.trim().strip_prefix("serial=").unwrap().to_lowercase()
    }

    pub async fn allow(&self, castellan: &Installation, cn: &str) {
        let rule = json!({"operation": "all", "resource": "topic", "resource_pattern": self.topic});
        let body = json!({"user": cn, "rules": [rule]});
        let (status, answer) = castellan.post(&format!("{}/acls", self.path), &body).await;
        assert_eq!(status, 201, "{answer}");
    }

    /// Its own name.
    pub async fn write(&self, name: &str) {
        let written = self.produce(name, name).await;
        assert!(written.status.success(), "{name}: {}", String::from_utf8_lossy(&written.stderr));
    }

    pub async fn produce(&self, name: &str, message: &str) -> Output {
        let file = self.file(name, "message");
        std::fs::write(&file, message).unwrap();
        let settings = ["-P", "-t", &self.topic, "-X", "acks=all", "-X", "message.timeout.ms=8000"];
        let more = [&settings[..], &[file.as_str()]].concat();
        let arguments = self.arguments(&self.brokers, name, &more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let running = host::run_output(Path::new("kcat"), &arguments, None);
        tokio::time::timeout(PATIENCE, running).await.expect("kcat ends in time").unwrap()
    }

    /// What it says when it is refused for its certificate, or what happened instead.
    pub async fn refusal(&self, name: &str) -> Result<String, String> {
        refusal(&self.produce(name, "too late").await)
    }

    /// The same at another listener. By openssl, which shows a certificate also where the
    /// other side says that it trusts none of its kind.
    pub async fn refusal_at(&self, listener: &str, name: &str) -> Result<String, String> {
        let (certificate, key) = (self.file(name, "pem"), self.file(name, "key"));
        let shown = ["-connect", listener, "-cert", &certificate, "-key", &key];
        let arguments = [&["s_client", "-ign_eof"][..], &shown].concat();
        let running = host::run_output(Path::new("openssl"), &arguments, None);
        refusal(&tokio::time::timeout(PATIENCE, running).await.expect("it ends in time").unwrap())
    }

    /// Waits as long as is promised for one that was revoked.
    pub async fn until_refused(&self, name: &str, revoked: Instant) -> String {
        loop {
            match self.refusal(name).await {
                Ok(said) => return said,
                Err(said) => {
                    assert!(revoked.elapsed() < REFUSED_WITHIN, "{name} is still let in: {said}");
                }
            }
        }
    }

    /// One that ends when no broker lets it in, and says why on standard error.
    pub fn start_reading(&self, name: &str) -> Piped {
        let more = ["-C", "-u", "-o", "beginning", "-t", &self.topic];
        let errors = Path::new(&self.file("reader", "log")).to_owned();
        let arguments = self.arguments(&self.brokers, name, &more);
        Piped::start(Path::new("kcat"), &arguments, &errors).unwrap()
    }

    fn arguments(&self, brokers: &str, name: &str, more: &[&str]) -> Vec<String> {
        let settings = [
            "security.protocol=SSL".to_owned(),
            format!("ssl.ca.location={}", self.file("ca", "pem")),
            format!("ssl.certificate.location={}", self.file(name, "pem")),
            format!("ssl.key.location={}", self.file(name, "key")),
        ];
        let mut arguments = ["-b", brokers].map(str::to_owned).to_vec();
        arguments.extend(settings.into_iter().flat_map(|setting| ["-X".to_owned(), setting]));
        arguments.extend(more.iter().map(ToString::to_string));
        arguments
    }
}

/// What was said, if it was because of the certificate that nothing was written.
fn refusal(output: &Output) -> Result<String, String> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_refused = !output.status.success() && said.contains(REFUSED);
    if is_refused { Ok(said) } else { Err(format!("{}: {said}", output.status)) }
}

async fn openssl(arguments: &[&str]) -> String {
    run("openssl", arguments).await
}

async fn run(program: &str, arguments: &[&str]) -> String {
    let ran = host::run_output(Path::new(program), arguments, None).await.unwrap();
    let said = || [&ran.stdout[..], &ran.stderr].concat();
    assert!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&said()));
    String::from_utf8(ran.stdout).unwrap()
}
