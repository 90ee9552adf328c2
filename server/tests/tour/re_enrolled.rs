//! A stolen identity of an agent, ended by the operator while its broker runs.

use reqwest::{Certificate, Client, Identity};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use test_support::binary;
use test_support::installation::Installation;

/// What a thief has copied from a server's directory.
struct Stolen {
    url: String,
    http: Client,
}

impl Stolen {
    fn from(directory: &Path) -> Self {
        let text = fs::read(directory.join("start.json")).unwrap();
        let start: Value = serde_json::from_slice(&text).unwrap();
        let trusted = Certificate::from_pem(start["fleet_ca"].as_str().unwrap().as_bytes());
        let identity = Identity::from_pem(&fs::read(identity_file(directory)).unwrap()).unwrap();
        let http = Client::builder().tls_certs_only([trusted.unwrap()]).identity(identity);
        let url = format!("{}/agent/v1/desired?after=0", start["control_plane"].as_str().unwrap());
        Self { url, http: http.build().unwrap() }
    }

    async fn status(&self) -> u16 {
        self.http.get(&self.url).send().await.unwrap().status().as_u16()
    }
}

fn identity_file(directory: &Path) -> PathBuf {
    directory.join("identity/agent.pem")
}

pub async fn shuts_a_thief_out_and_restarts_nothing(castellan: &Installation, instance: &Value) {
    let before = castellan.processes();
    let directory = castellan.server_dirs().remove(0);
    let stolen = Stolen::from(&directory);
    assert_eq!(stolen.status().await, 200, "it opens what its server may know");
    let identity = || fs::read_to_string(identity_file(&directory)).unwrap();
    let first = identity();

    let (data, name) = (castellan.data(), instance["name"].as_str().unwrap());
    let arguments = ["server", "re-enrol", name, "1", "--data", data.to_str().unwrap()];
    let output = host::run_output(&binary(), &arguments, None).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(stolen.status().await, 401, "at once");

    castellan
        .until("the agent has another identity", async || {
            if identity() == first { Err("the same") } else { Ok(()) }
        })
        .await;
    castellan.until_running(instance["id"].as_i64().unwrap()).await;
    castellan.until_heard_anew(&before).await;
    assert_eq!(castellan.processes(), before, "an agent or a broker was started anew");
    assert!(before.iter().all(|it| it.agent.is_alive() && it.broker.is_alive()));
    assert_eq!(stolen.status().await, 401);
}
