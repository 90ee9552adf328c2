//! Holds this process up right before or after one of its effects, so that a
//! test can stop it there with SIGSTOP. Not in a release.
//!
//! `CASTELLAN_TEST_HOLD_AT` names the moment, such as `before ensure_server`,
//! and `CASTELLAN_TEST_HOLD_DIR` a directory: there the file `held` appears, and
//! once there is a file `go` it goes on. Its thread stands still meanwhile, as
//! all threads of a stopped process do: nothing else of the step happens first.

use async_trait::async_trait;
use cloud::{
    Cloud, DiskSpec, Disruption, Enforcement, Inventory, NetworkSpec, ObservedServer, Outcome,
    Owner, ServerSpec,
};
use model::{DiskId, Opening, ServerId, VpcId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::broadcast;

/// The cloud, with the moment at which it is held, if one is named.
pub fn around(cloud: Arc<dyn Cloud>) -> Arc<dyn Cloud> {
    let named = std::env::var("CASTELLAN_TEST_HOLD_AT").ok();
    let directory = std::env::var_os("CASTELLAN_TEST_HOLD_DIR").map(PathBuf::from);
    let (Some(at), Some(directory)) = (named, directory) else { return cloud };
    Arc::new(Held { cloud, at, directory, used: AtomicBool::new(false) })
}

struct Held {
    cloud: Arc<dyn Cloud>,
    at: String,
    directory: PathBuf,
    used: AtomicBool,
}

impl Held {
    async fn pass<T>(&self, call: &str, effect: impl Future<Output = T> + Send) -> T {
        self.comes_to(&format!("before {call}"));
        let outcome = effect.await;
        self.comes_to(&format!("after {call}"));
        outcome
    }

    /// The first worker that comes there is held, and none after it.
    fn comes_to(&self, moment: &str) {
        if moment != self.at || self.used.swap(true, Ordering::SeqCst) {
            return;
        }
        tracing::warn!(moment, "held up for a test");
        let _ = std::fs::write(self.directory.join("held"), "");
        while !self.directory.join("go").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[async_trait]
impl Cloud for Held {
    async fn take_over(&self, by: &Owner) -> Outcome<()> {
        self.pass("take_over", self.cloud.take_over(by)).await
    }
    async fn ensure_network(&self, by: &Owner, network: &NetworkSpec) -> Outcome<()> {
        self.pass("ensure_network", self.cloud.ensure_network(by, network)).await
    }
    async fn ensure_disk(&self, by: &Owner, disk: &DiskSpec) -> Outcome<()> {
        self.pass("ensure_disk", self.cloud.ensure_disk(by, disk)).await
    }
    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<ObservedServer> {
        self.pass("ensure_server", self.cloud.ensure_server(by, server)).await
    }
    async fn remove_server(&self, by: &Owner, server: ServerId) -> Outcome<()> {
        self.pass("remove_server", self.cloud.remove_server(by, server)).await
    }
    async fn remove_disk(&self, by: &Owner, disk: DiskId) -> Outcome<()> {
        self.pass("remove_disk", self.cloud.remove_disk(by, disk)).await
    }
    async fn apply_firewall(&self, server: ServerId, openings: &[Opening]) -> Outcome<Enforcement> {
        self.pass("apply_firewall", self.cloud.apply_firewall(server, openings)).await
    }
    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        self.pass("remove_network", self.cloud.remove_network(network)).await
    }
    async fn retire(&self, by: &Owner) -> Outcome<()> {
        self.pass("retire", self.cloud.retire(by)).await
    }
    async fn inventory(&self) -> Outcome<Inventory> {
        self.cloud.inventory().await
    }
    fn events(&self) -> broadcast::Receiver<Disruption> {
        self.cloud.events()
    }
}
