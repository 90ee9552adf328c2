//! The cluster that is resized, and what is asked of it through the Customer API.

use checker::{Access, LoadSpec};
use kafka::versions::Release;
use serde_json::{Value, json};
use test_support::installation::Installation;
use tokio::sync::{Mutex, MutexGuard};

/// Several at once would keep each other waiting until clients give up.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

pub struct Cluster {
    pub castellan: Installation,
    pub id: i64,
    pub instance: Value,
    _alone: MutexGuard<'static, ()>,
}

impl Cluster {
    pub async fn create(release: &Release, servers: u32) -> Self {
        let alone = ONE_AT_A_TIME.lock().await;
        let castellan = Installation::start().await;
        let body = json!({
            "name": "resized", "plan": format!("mouse-{servers}"), "region": "local::this-machine",
            "kafka_version": release.version.to_string(),
        });
        let (status, created) = castellan.post("/api/instances", &body).await;
        assert_eq!(status, 200, "{created}");
        let id = created["id"].as_i64().unwrap();
        let instance = castellan.until_running(id).await;
        Self { castellan, id, instance, _alone: alone }
    }

    /// Asks for so many servers.
    pub async fn ask_for(&self, servers: u32) {
        self.ask(&json!({ "nodes": servers, "accept_single_copy": true })).await;
    }

    /// Asks for a change that servers have to follow.
    pub async fn ask(&self, body: &Value) {
        let (status, answer) = self.castellan.put(&self.path(), body).await;
        assert_eq!(status, 200, "{answer}");
        assert!(!self.is_configured().await, "from the answer on");
    }

    pub async fn is_configured(&self) -> bool {
        let path = format!("{}/cluster/status", self.path());
        self.castellan.get(&path).await.1["configured"] == true
    }

    pub async fn resize_to(&self, servers: u32) {
        self.ask_for(servers).await;
        self.until_configured().await;
    }

    pub async fn until_configured(&self) {
        self.castellan
            .until_within(super::LONGEST, "the cluster is resized", async || {
                let (_, now) = self.castellan.get(&self.path()).await;
                let is_done = self.is_configured().await && now["status"] == "running";
                if is_done { Ok(()) } else { Err(now["status"].to_string()) }
            })
            .await;
    }

    /// What the API tells follows the servers.
    pub async fn is_of(&self, servers: u32) {
        let count = usize::try_from(servers).unwrap();
        let (_, now) = self.castellan.get(&self.path()).await;
        assert_eq!(now["nodes"], servers, "{now}");
        let (_, details) = self.castellan.get(&format!("{}/details", self.path())).await;
        assert_eq!(details["servers"].as_array().map(Vec::len), Some(count), "{details}");
        let brokers = details["brokers"].as_str().or(now["brokers"].as_str()).unwrap();
        assert_eq!(brokers.split(',').count(), count, "{brokers}");
        let (_, nodes) = self.castellan.get(&format!("{}/nodes", self.path())).await;
        assert_eq!(nodes.as_array().map(Vec::len), Some(count), "{nodes}");
        assert_eq!(self.castellan.processes().len(), count);
    }

    pub fn path(&self) -> String {
        format!("/api/instances/{}", self.id)
    }

    /// How a customer gets in now.
    pub async fn access(&self) -> Access {
        Access::of_instance(&self.castellan.get(&self.path()).await.1).unwrap()
    }

    /// Idempotent and transactional clients, and a consumer group, on a topic of one replica.
    pub fn load(&self) -> LoadSpec {
        let Access { brokers, auth } = Access::of_instance(&self.instance).unwrap();
        LoadSpec {
            brokers,
            auth,
            topic: "resized".into(),
            replicas: 1,
            min_in_sync: 1,
            rate_per_second: 200,
            ..LoadSpec::default()
        }
    }
}
