//! An agent that measures what the test says, and nothing else.

use model::{Clock as _, InstanceId, OsEntropy, Secret, Server, SignedDuration, SystemClock};
use pki::{Authority, KeyPair, Leaf, Request, Usage};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use store::{MasterKey, Store, hash_public_key, installation, servers};
use test_support::installation::Installation;
use wire::metrics::{Sample, Samples};

const STEP: i64 = 10;

pub struct Agent {
    pub server: Server,
    http: reqwest::Client,
}

impl Agent {
    /// The agent of the instance's only server, written into the store as if it had enrolled.
    pub async fn enrolled(castellan: &Installation, instance: i64) -> Self {
        let data = castellan.data();
        let master = Secret::new(fs::read_to_string(data.join("master.key")).unwrap().trim());
        let master = MasterKey::parse(&master, Arc::new(OsEntropy)).unwrap();
        let store = Store::open(&data.join("castellan.db"), master).await.unwrap();
        let found = installation::find(&mut store.reader()).await.unwrap().unwrap();
        let fleet = Authority { certificate: found.fleet_ca, key: found.fleet_ca_key };
        let mut work = store.begin().await.unwrap();
        let server = servers::list_bare(&mut work, InstanceId(instance)).await.unwrap().remove(0);
        let (key, now) = (KeyPair::generate(), SystemClock.now());
        let name = format!("server-{}.{}", server.id, server.incarnation);
        let request = Request::parse(&pki::request(&key, &name).unwrap()).unwrap();
        let leaf = Leaf {
            common_name: name,
            hosts: vec![],
            usage: Usage::Client,
            valid_for: SignedDuration::from_hours(1),
        };
        let certificate = fleet.issue(request, &leaf, now, &OsEntropy).unwrap();
        let hash = hash_public_key(&key.public_key_der());
        servers::set_enrolled(&mut work, server.id, &hash, now).await.unwrap();
        work.commit().await.unwrap();
        store.close().await;
        let identity = format!("{certificate}{}", key.private_key_pem().expose());
        let authority = reqwest::Certificate::from_pem(fleet.certificate.as_bytes()).unwrap();
        let http = reqwest::Client::builder()
            .identity(reqwest::Identity::from_pem(identity.as_bytes()).unwrap())
            .tls_certs_only([authority])
            .build();
        Self { server, http: http.unwrap() }
    }

    /// Sends samples of the last five minutes, each with as many connections.
    pub async fn measure(&self, castellan: &Installation, connections: f32) {
        let now = SystemClock.now().as_second();
        let newest = now - now.rem_euclid(STEP);
        let sample = |age: i64| Sample {
            at: newest - age * STEP,
            values: BTreeMap::from([("connections".to_owned(), connections)]),
            ..Sample::default()
        };
        let samples = (0..30).rev().map(sample).collect();
        let body = Samples { incarnation: self.server.incarnation, samples };
        let url = castellan.agent_url("/agent/v1/metrics");
        let answer = self.http.post(url).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// A line of the control plane's own metrics.
    pub async fn counter(&self, castellan: &Installation, line: &str) -> Option<String> {
        let answer = self.http.get(castellan.agent_url("/metrics")).send().await.unwrap();
        let page = answer.text().await.unwrap();
        page.lines().find_map(|it| it.strip_prefix(line)).map(|value| value.trim().to_owned())
    }
}
