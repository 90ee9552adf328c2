//! A real agent process, made by the local cloud, with a small control plane.
//!
//! This program is the agent as well: started as `… agent --dir DIR` it is one.
//! That is why it has a main function and no test harness.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use cloud::{Cloud as _, DiskSpec, Epoch, Outcome, Owner, Remedy, ServerSpec};
use cloud_local::{LocalCloud, Options};
use host::ProcessId;
use model::{DiskId, InstanceId, IntegrationConfig, IntegrationId, Secret, ServerId, VpcId};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use test_support::control_plane::{ControlPlane, sign};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use wire::agent::{
    Desired, DesiredCertificate, DesiredDisk, LogIntegration, LogIntegrations, Outbound, Phase, Run,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match arguments.get(1..) {
        Some([word, flag, dir]) if word == "agent" && flag == "--dir" => {
            runtime.block_on(agent::run(PathBuf::from(dir))).unwrap();
        }
        // Asked for its tests, as some runners do.
        Some(words) if words.iter().any(|word| word == "--list") => {}
        _ => runtime.block_on(a_life()),
    }
}

const BY: Owner = Owner { instance_id: InstanceId(3), epoch: Epoch { store: 0, lease: 1 } };

fn disk_id() -> DiskId {
    "00000000-0000-4000-8000-000000000011".parse().unwrap()
}

fn document(revision: i64, certificate: Option<String>) -> Desired {
    Desired {
        revision,
        store_epoch: 0,
        server_id: ServerId(11),
        incarnation: 1,
        instance_id: InstanceId(3),
        node_id: 1,
        roles: vec![],
        cluster_id: "cluster-A".into(),
        disk: DesiredDisk { id: disk_id(), directory_id: "directory-A".into(), format: None },
        run: Run::Running,
        launch: 0,
        rehearse: false,
        broker: None,
        certificates: vec![DesiredCertificate {
            name: "internal".into(),
            generation: 1,
            certificate,
        }],
        trust: <_>::default(),
        revoked: vec![],
    }
}

async fn open(
    place: &Path,
    program: &Path,
    control_plane: &ControlPlane,
    uids: Option<RangeInclusive<u32>>,
) -> LocalCloud {
    let options = Options {
        data_dir: place.join("data"),
        binary: program.into(),
        control_plane: control_plane.url.clone(),
        fleet_ca: control_plane.authority.certificate.clone(),
        host: <_>::default(),
        uids,
        network: None,
    };
    LocalCloud::open(options).await.unwrap()
}

async fn ensure(cloud: &LocalCloud, token: Option<&str>) {
    ensure_incarnation(cloud, 1, token).await;
}

async fn ensure_incarnation(cloud: &LocalCloud, incarnation: i64, token: Option<&str>) {
    let disk =
        DiskSpec { id: disk_id(), instance_id: InstanceId(3), server_id: ServerId(11), size_gb: 1 };
    let server = ServerSpec {
        id: ServerId(11),
        incarnation,
        instance_id: InstanceId(3),
        vpc_id: VpcId(7),
        disk_id: disk_id(),
        cores: 1,
        memory_mb: 512,
        addresses: cloud::conformance::addresses("127.64.0.1"),
        token: token.map(Secret::new),
    };
    assert_eq!(cloud.ensure_disk(&BY, &disk).await, Outcome::Ready(()));
    loop {
        match cloud.ensure_server(&BY, &server).await {
            Outcome::Ready(_) => return,
            Outcome::Failed { remedy: Remedy::Retry, .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn wait_for(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "never came: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Where the server's logs go: to a program that takes lines.
struct Receiver {
    address: SocketAddr,
    /// What each line ends with, once.
    words: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let words: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&words);
        tokio::spawn(async move {
            // One connection after the other, as an agent has them.
            while let Ok((stream, _)) = listener.accept().await {
                let mut lines = BufReader::new(stream).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let word = line.rsplit(' ').next().unwrap().to_owned();
                    let mut words = heard.lock().unwrap();
                    // What was on its way when an agent died comes twice.
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
            }
        });
        Self { address, words }
    }

    fn integrations(&self) -> LogIntegrations {
        let system = "logentries";
        let config = IntegrationConfig::from([("token".to_owned(), Secret::new("t0ken"))]);
        let address = format!("tcp://{}", self.address);
        LogIntegrations {
            revision: 1,
            instance_id: InstanceId(3),
            instance_name: "orders".into(),
            tags: vec![],
            server_name: "mouse-01".into(),
            hostname: "127.64.0.1".into(),
            integrations: vec![LogIntegration {
                id: IntegrationId(1),
                version: 1,
                system: system.into(),
                config,
            }],
            outbound: Outbound {
                allow_private_addresses: true,
                endpoints: [(system.to_owned(), address)].into(),
                ..Outbound::default()
            },
        }
    }

    async fn until(&self, expected: &[&str]) {
        wait_for("what was logged", || *self.words.lock().unwrap() == expected).await;
    }
}

/// As the broker does.
fn log(server: &Path, word: &str) {
    let path = server.join("logs/server.log");
    let mut log = OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(log, "2026-11-19T11:59:00.000Z INFO {word} (kafka.Test)").unwrap();
}

/// Ends what a failed check left running.
struct CleanUp(PathBuf);

impl Drop for CleanUp {
    fn drop(&mut self) {
        for server in cloud_local::running(&self.0).unwrap_or_default() {
            server.agent.iter().for_each(ProcessId::kill_for_good);
        }
        let _ = cloud_local::remove_groups(&self.0);
    }
}

/// Enrolment, certificates, a control plane that dies and moves, an upgrade in
/// place, the agent's death, and an orderly end.
async fn a_life() {
    let place = host::testing::tempdir();
    let _clean_up = CleanUp(place.path().join("data"));
    let program = std::env::current_exe().unwrap();
    let control_plane = ControlPlane::start().await;
    let cloud = open(place.path(), &program, &control_plane, None).await;
    let dir = place.path().join("data/servers/11");
    ensure(&cloud, Some("token-1")).await;

    control_plane.state().desired = Some(document(1, None));
    let report = control_plane.report(|report| !report.requests.is_empty()).await;
    assert_eq!((report.revision, report.phase), (1, Phase::Preparing));
    let certificate = sign(&control_plane.authority, &report.requests[0].csr);
    control_plane.state().desired = Some(document(2, Some(certificate)));
    let report = control_plane.report(|report| report.revision == 2).await;
    assert_eq!(report.requests, []);
    assert_eq!(report.detail, "waiting for the broker's configuration");
    assert!(dir.join("tls/internal.pem").exists());
    println!("an agent enrolled and got its certificate ... ok");

    let agent = ProcessId::load(&dir.join("agent.pid")).unwrap();
    let control_plane = control_plane.move_away().await;
    control_plane.state().reports.clear();
    let cloud = open(place.path(), &program, &control_plane, None).await;
    assert_eq!(cloud.resume().await.unwrap(), []);
    let report = control_plane.report(|_| true).await;
    assert_eq!(report.revision, 2);
    assert!(agent.is_alive());
    println!("a control plane that moved was found ... ok");

    let receiver = Receiver::start().await;
    log(&dir, "earlier");
    control_plane.state().integrations = Some(receiver.integrations());
    let spool = dir.join("logs-spool");
    let kept = || fs::read_dir(&spool).is_ok_and(|mut files| files.next().is_some());
    wait_for("logs are kept", kept).await;
    log(&dir, "one");
    receiver.until(&["one"]).await;
    println!("an agent sent its server's logs ... ok");

    // A program with other bytes is another release.
    let newer = place.path().join("newer");
    fs::copy(&program, &newer).unwrap();
    let mut bytes = fs::read(&newer).unwrap();
    bytes.push(0);
    fs::write(&newer, bytes).unwrap();
    // It also gives instances uids, where that is possible.
    let uids = host::testing::has_uids().then_some(1_900_000_000..=1_999_999_999);
    let cloud = open(place.path(), &newer, &control_plane, uids.clone()).await;
    let is_separate = |agent: &ProcessId| {
        let uid = agent.uid().unwrap();
        uids.as_ref().is_none_or(|uids| uids.contains(&uid) && host::owner(&dir).unwrap() == uid)
    };
    let current = fs::canonicalize(place.path().join("data/bin/current")).unwrap();
    assert_ne!(agent.command_line()[0], current.to_string_lossy());
    ensure(&cloud, None).await;
    wait_for("the upgrade", || {
        agent.command_line().first().is_some_and(|program| *program == current.to_string_lossy())
    })
    .await;
    control_plane.state().desired = Some(document(3, None));
    control_plane.report(|report| report.revision == 3).await;
    assert!(agent.is_alive() && is_separate(&agent));
    log(&dir, "two");
    receiver.until(&["one", "two"]).await;
    println!("an agent became the new release under its pid ... ok");

    let mut events = cloud.events();
    agent.kill();
    log(&dir, "three");
    assert_eq!(events.recv().await.unwrap().server_id, ServerId(11));
    control_plane.state().reports.clear();
    ensure(&cloud, None).await;
    let report = control_plane.report(|report| report.revision == 3).await;
    let next = ProcessId::load(&dir.join("agent.pid")).unwrap();
    assert_eq!(report.agent_pid, Some(next.pid));
    assert_ne!(next.pid, agent.pid);
    assert!(is_separate(&next));
    receiver.until(&["one", "two", "three"]).await;
    let report = control_plane.report(|report| report.integrations.is_some()).await;
    assert_eq!(report.integrations.unwrap().failures, []);
    println!("a dead agent was started anew and knew what it had known ... ok");

    // As after `castellan server re-enrol`.
    control_plane.state().refuses = true;
    ensure_incarnation(&cloud, 2, Some("token-2")).await;
    wait_for("the new identity", || control_plane.state().enrolments.len() == 2).await;
    {
        let mut state = control_plane.state();
        state.refuses = false;
        state.desired = Some(Desired { incarnation: 2, ..document(4, None) });
    }
    let report = control_plane.report(|report| report.revision == 4).await;
    assert_eq!((report.incarnation, report.agent_pid), (2, Some(next.pid)));
    assert!(next.is_alive());
    println!("an agent got a new identity under its pid ... ok");

    let stopped = cloud_local::stop_all(&place.path().join("data"), |_| {}).await.unwrap();
    assert_eq!(stopped.agents, 1);
    control_plane.report(|report| report.phase == Phase::Stopped).await;
    let enrolments = control_plane.state().enrolments.len();
    assert_eq!(enrolments, 2);
    let said = fs::read_to_string(dir.join("agent.log")).unwrap();
    assert_eq!(said, "", "the agent panicked");
    println!("an agent ended in an orderly way and said so ... ok");
}
