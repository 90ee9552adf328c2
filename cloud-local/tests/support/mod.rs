//! A local cloud in a directory of its own, whose agents are shell scripts.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use async_trait::async_trait;
use cloud::conformance::Subject;
use cloud::{Cloud, DiskSpec, Epoch, Outcome, Owner, Remedy, ServerSpec};
use cloud_local::{LocalCloud, Options};
use host::ProcessId;
use model::{DiskId, InstanceId, Secret, ServerId, VpcId};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};
use wire::agent::AgentStart;

/// Waits without children of its own, ends on TERM with the word `stopped`,
/// and becomes `bin/current` on HUP: read by the shell, since a fork of another test
/// may hold it open, and what is written to can't be executed. Below `nohup` a shell
/// can't have HUP before it was given back.
const AGENT: &str = r#"#!/bin/sh
[ "$WITH_HUP" ] || WITH_HUP=1 exec env --default-signal=HUP /bin/sh "$0" "$@"
mkdir -p run
[ -p run/wait ] || mkfifo run/wait
exec 3<>run/wait
trap 'echo stopped; exit 0' TERM
trap 'exec /bin/sh "$(readlink -f ../../bin/current)" "$@"' HUP
echo "ready $0 $$" >> run/starts
while :; do read line <&3; done
"#;

/// Whoever works on the one instance there is.
pub const BY: Owner = Owner { instance_id: InstanceId(3), epoch: Epoch { store: 1, lease: 1 } };

pub const UIDS: RangeInclusive<u32> = 1_900_000_000..=1_999_999_999;

pub struct Local {
    pub cloud: LocalCloud,
    pub place: TempDir,
}

pub fn options(place: &Path, extra: &str) -> Options {
    let binary = place.join("program");
    fs::write(&binary, format!("{AGENT}{extra}")).unwrap();
    Options {
        data_dir: place.join("data"),
        binary,
        control_plane: "https://127.0.0.1:7443".into(),
        fleet_ca: "the fleet CA".into(),
        host: <_>::default(),
        uids: None,
        network: None,
    }
}

/// With uids for instances.
pub fn separate_options(place: &Path, extra: &str) -> Options {
    Options { uids: Some(UIDS), ..options(place, extra) }
}

impl Local {
    pub async fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let cloud = LocalCloud::open(options(place.path(), "")).await.unwrap();
        Self { cloud, place }
    }

    /// With uids for instances, which takes root.
    pub async fn separate() -> Self {
        let place = host::testing::tempdir();
        let cloud = LocalCloud::open(separate_options(place.path(), "")).await.unwrap();
        Self { cloud, place }
    }

    pub fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    pub fn server_dir(&self, id: i64) -> PathBuf {
        self.data().join("servers").join(id.to_string())
    }

    pub fn agent(&self, id: i64) -> Option<ProcessId> {
        ProcessId::load(&self.server_dir(id).join("agent.pid")).filter(ProcessId::is_alive)
    }

    pub fn disk_dir(&self, id: DiskId) -> PathBuf {
        self.data().join("disks").join(id.to_string())
    }

    pub fn start(&self, id: i64) -> AgentStart {
        let text = fs::read(self.server_dir(id).join("start.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Makes a server and waits until its agent can handle signals.
    pub async fn make(&self, id: i64) {
        assert_eq!(self.cloud.ensure_disk(&BY, &disk(id)).await, Outcome::Ready(()));
        ensure(&self.cloud, &server(id)).await;
        self.wait_for_start(id, 1).await;
    }

    pub async fn wait_for_start(&self, id: i64, times: usize) -> String {
        let path = self.server_dir(id).join("run/starts");
        let read = || fs::read_to_string(&path).unwrap_or_default();
        wait_for(read, |starts| starts.lines().count() == times).await
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        for running in cloud_local::running(&self.data()).unwrap_or_default() {
            running.agent.iter().chain(&running.brokers).for_each(ProcessId::kill_for_good);
        }
        let _ = cloud_local::remove_groups(&self.data());
        let _ = cloud_local::remove_namespaces(&self.data());
    }
}

/// A script that was just copied may be busy for a moment, while another
/// test's fork still holds it open: that is answered with `Retry`.
pub async fn ensure(cloud: &LocalCloud, spec: &ServerSpec) {
    loop {
        match cloud.ensure_server(&BY, spec).await {
            Outcome::Ready(_) => return,
            Outcome::Failed { remedy: Remedy::Retry, reason, .. } if reason.contains("busy") => {}
            other => panic!("{other:?}"),
        }
    }
}

pub async fn wait_for<T: std::fmt::Debug>(read: impl Fn() -> T, done: impl Fn(&T) -> bool) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let state = read();
        if done(&state) {
            return state;
        }
        assert!(Instant::now() < deadline, "never came, last state {state:?}");
        sleep(Duration::from_millis(5)).await;
    }
}

pub fn disk(server: i64) -> DiskSpec {
    DiskSpec {
        id: disk_id(server),
        instance_id: InstanceId(3),
        server_id: ServerId(server),
        size_gb: 1,
    }
}

pub fn disk_id(server: i64) -> DiskId {
    format!("00000000-0000-4000-8000-{server:012}").parse().unwrap()
}

pub fn server(id: i64) -> ServerSpec {
    ServerSpec {
        id: ServerId(id),
        incarnation: 1,
        instance_id: InstanceId(3),
        vpc_id: VpcId(7),
        disk_id: disk_id(id),
        cores: 1,
        memory_mb: 512,
        addresses: cloud::conformance::addresses("127.64.0.1"),
        token: Some(Secret::new("once")),
    }
}

#[async_trait]
impl Subject for Local {
    fn cloud(&self) -> &dyn Cloud {
        &self.cloud
    }
    async fn kill_agent(&self, server: ServerId) {
        self.agent(server.0).unwrap().kill();
    }
    async fn lose_disk(&self, disk: DiskId) {
        fs::remove_dir_all(self.disk_dir(disk)).unwrap();
    }
    async fn write_on_disk(&self, disk: DiskId) {
        fs::write(self.disk_dir(disk).join("data"), "kept").unwrap();
    }
    async fn has_data(&self, disk: DiskId) -> bool {
        fs::read(self.disk_dir(disk).join("data")).is_ok_and(|data| data == b"kept")
    }
    async fn agent_is_alive(&self, server: ServerId) -> bool {
        self.agent(server.0).is_some()
    }
    async fn add_another(&self) {
        // The first process lives for as long as any.
        let other = ProcessId::from_pid(1).unwrap();
        other.save(&self.data().join("planes/1")).unwrap();
    }
    async fn token(&self, server: ServerId) -> Option<Secret> {
        self.start(server.0).token
    }
}
