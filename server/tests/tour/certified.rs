//! Clients that log in with certificates: made by openssl and keytool, signed through
//! the API, without rights until an ACL gives them some, and out within seconds of
//! being revoked, while every broker runs on.

use crate::installation::Installation;
use host::Piped;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

const TOPIC: &str = "certified";
/// As promised.
const REFUSED_WITHIN: Duration = Duration::from_secs(10);
/// What Java says in the handshake to a certificate that it does not trust.
const REFUSED: &str = "alert certificate unknown";
const PATIENCE: Duration = Duration::from_mins(1);
/// Every client, by what its key is or who made it.
const NAMES: [&str; 5] = ["p256", "p384", "rsa", "ed25519", "keytool"];
const STORE_PASSWORD: &str = "changeit";

pub async fn come_in_until_they_are_revoked(castellan: &Installation, instance: &Value) {
    let clients = Clients::new(castellan, instance).await;
    let before = castellan.processes();
    let cn = "orders";
    // Every kind of key that is taken, as the brokers' Java takes it.
    let mut serials = Vec::new();
    for (name, key) in [
        ("p256", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"].as_slice()),
        ("p384", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
        ("rsa", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
        ("ed25519", &["-algorithm", "ED25519"]),
    ] {
        serials.push(clients.request(castellan, name, key, cn).await);
        let refused = clients.produce(name, "too early").await;
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("uthorization failed"), "{said}");
    }
    clients.request_by_keytool(castellan, "keytool", cn).await;
    clients.allow(castellan, cn).await;
    for name in NAMES {
        clients.write(name).await;
    }
    // One that is connected when it happens, and does nothing but wait for more.
    let mut reader = clients.start_reading("p256");
    for name in NAMES {
        let heard = tokio::time::timeout(PATIENCE, reader.hear()).await.expect("it reads");
        assert_eq!(heard.unwrap().as_deref(), Some(name));
    }
    let path = format!("{}/ca/certificates/{}", clients.path, serials[0]);
    assert_eq!(castellan.delete(&path).await, 204);
    let revoked = Instant::now();
    let heard = tokio::time::timeout(REFUSED_WITHIN, reader.hear()).await;
    let said = std::fs::read_to_string(clients.file("reader", "log")).unwrap();
    assert_eq!(heard.unwrap_or_else(|_| panic!("it is still in: {said}")).unwrap(), None);
    assert!(said.contains(REFUSED), "{said}");
    assert!(!reader.end().await.unwrap().success());
    eprintln!("a revoked client was thrown out after {:?}", revoked.elapsed());
    let last = loop {
        let output = clients.produce("p256", "too late").await;
        if !output.status.success() {
            break String::from_utf8_lossy(&output.stderr).into_owned();
        }
        assert!(revoked.elapsed() < REFUSED_WITHIN, "it is still let in");
    };
    eprintln!("a revoked certificate was refused after {:?}: {last}", revoked.elapsed());
    assert!(last.contains(REFUSED), "{last}");

    clients.write("ed25519").await;
    assert_eq!(castellan.processes(), before, "no broker was restarted for it");
    let (_, status) = castellan.get(&format!("{}/cluster/status", clients.path)).await;
    assert_eq!(status["configured"], true);
    let (_, listed) = castellan.get(&format!("{}/ca/certificates", clients.path)).await;
    let listed = listed.as_array().unwrap();
    let good = listed.iter().filter(|it| it["revoked_at"].is_null()).count();
    assert_eq!((listed.len(), good), (5, 4), "{listed:?}");
}

struct Clients {
    directory: tempfile::TempDir,
    /// Of the instance.
    path: String,
    brokers: String,
}

impl Clients {
    async fn new(castellan: &Installation, instance: &Value) -> Self {
        let path = format!("/api/instances/{}", instance["id"]);
        let (_, details) = castellan.get(&format!("{path}/details")).await;
        let port = &details["connections"]["ssl"]["port"];
        let servers = details["servers"].as_array().unwrap().iter();
        let brokers: Vec<String> =
            servers.map(|it| format!("{}:{port}", it["hostname"].as_str().unwrap())).collect();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), instance["ca"].as_str().unwrap()).unwrap();
        Self { directory, path, brokers: brokers.join(",") }
    }

    fn file(&self, name: &str, kind: &str) -> String {
        self.directory.path().join(format!("{name}.{kind}")).to_str().unwrap().to_owned()
    }

    /// A key of its own, a request by openssl, and the certificate for it. Its serial.
    async fn request(
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
    async fn request_by_keytool(&self, castellan: &Installation, name: &str, cn: &str) {
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

    async fn allow(&self, castellan: &Installation, cn: &str) {
        let rule = json!({"operation": "all", "resource": "topic", "resource_pattern": TOPIC});
        let body = json!({"user": cn, "rules": [rule]});
        let (status, answer) = castellan.post(&format!("{}/acls", self.path), &body).await;
        assert_eq!(status, 201, "{answer}");
    }

    async fn write(&self, name: &str) {
        let written = self.produce(name, name).await;
        assert!(written.status.success(), "{name}: {}", String::from_utf8_lossy(&written.stderr));
    }

    async fn produce(&self, name: &str, message: &str) -> Output {
        let file = self.file(name, "message");
        std::fs::write(&file, message).unwrap();
        let settings = ["-P", "-t", TOPIC, "-X", "acks=all", "-X", "message.timeout.ms=8000"];
        let mut arguments = settings.to_vec();
        arguments.push(&file);
        self.kcat(name, &arguments).await
    }

    /// One that ends when no broker lets it in, and says why on standard error.
    fn start_reading(&self, name: &str) -> Piped {
        let more = ["-C", "-u", "-o", "beginning", "-t", TOPIC];
        let errors = Path::new(&self.file("reader", "log")).to_owned();
        Piped::start(Path::new("kcat"), &self.arguments(name, &more), &errors).unwrap()
    }

    async fn kcat(&self, name: &str, more: &[&str]) -> Output {
        let arguments = self.arguments(name, more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let running = host::run_output(Path::new("kcat"), &arguments, None);
        tokio::time::timeout(PATIENCE, running).await.expect("kcat ends in time").unwrap()
    }

    /// With this one's certificate.
    fn arguments(&self, name: &str, more: &[&str]) -> Vec<String> {
        let settings = [
            "security.protocol=SSL".to_owned(),
            format!("ssl.ca.location={}", self.file("ca", "pem")),
            format!("ssl.certificate.location={}", self.file(name, "pem")),
            format!("ssl.key.location={}", self.file(name, "key")),
        ];
        let mut arguments = ["-b", &self.brokers].map(str::to_owned).to_vec();
        arguments.extend(settings.into_iter().flat_map(|setting| ["-X".to_owned(), setting]));
        arguments.extend(more.iter().map(ToString::to_string));
        arguments
    }
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
