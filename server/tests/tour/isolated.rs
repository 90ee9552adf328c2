//! Code that runs as a tenant's broker finds no way out: not to the master key or the store,
//! not to another tenant's disk or processes, and not to more than its plan.
//!
//! The probe (`probe.py`) has the uid, groups, capabilities and control group of a broker
//! that runs, which is compared, and tries everything that it knows.

use crate::thorough;
use faults::Fault;
use host::{Exit, Group, ProcessId, Spawn, testing};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use test_support::installation::{Installation, Processes};

const PROBE: &str = include_str!("probe.py");
/// What is compared between a broker and what pretends to be one.
const STATUS: [&str; 10] = [
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
];
/// All that a broker's environment may hold.
const VARIABLES: [&str; 11] = [
    "PATH",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "RUST_LOG",
    "CASTELLAN_TEST_CLOCK",
    "CASTELLAN_SERVER",
    "CASTELLAN_BROKER",
    "CASTELLAN_SUCCESSOR",
];
const GIBIBYTE: u64 = 1 << 30;

/// A user with a directory, who runs programs there.
struct Tenant {
    uid: u32,
    place: TempDir,
}

impl Tenant {
    fn new(uid: u32) -> Self {
        let place = testing::tempdir();
        let home = place.path().join("home");
        host::create_private_dir(&home).unwrap();
        fs::write(home.join("data"), "a tenant's").unwrap();
        fs::write(home.join("probe.py"), PROBE).unwrap();
        // Whoever starts it is root, but for those who can gain nothing.
        let setuid = place.path().join("id");
        fs::copy("/usr/bin/id", &setuid).unwrap();
        fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
        for path in [home.join("probe.py"), home.join("data"), home] {
            chown(path, Some(uid), Some(uid)).unwrap();
        }
        Self { uid, place }
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    fn start(&self, arguments: &[&str]) -> (ProcessId, impl Future<Output = Exit> + use<>) {
        let spawn = Spawn {
            program: "/usr/bin/python3".into(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            environment: vec![],
            directory: self.home(),
            output: self.home().join("said"),
        };
        spawn.start_as(self.uid).unwrap()
    }

    /// What the probe found, from within a group if one is given.
    async fn probe(&self, mut wanted: Value, group: Option<&Group>) -> Value {
        for path in wanted["read"].as_array().unwrap() {
            assert!(Path::new(path.as_str().unwrap()).exists(), "{path} is not there");
        }
        let go = self.home().join("go");
        let _ = fs::remove_file(&go);
        wanted["go"] = json!(go);
        wanted["uid"] = json!(self.uid);
        wanted["setuid"] = json!(self.place.path().join("id"));
        let file = self.home().join("wanted.json");
        fs::write(&file, wanted.to_string()).unwrap();
        let (probe, ended) = self.start(&["probe.py", "wanted.json"]);
        if let Some(group) = group {
            group.add(&probe).unwrap();
        }
        fs::write(&go, "").unwrap();
        let exit = ended.await;
        let said = fs::read_to_string(self.home().join("said")).unwrap();
        fs::remove_file(self.home().join("said")).unwrap();
        assert_eq!(exit.0, "exit status: 0", "{said}");
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// For a cluster that runs, whatever its Kafka.
pub async fn finds_no_way_out(castellan: &Installation) {
    if !testing::has_uids() {
        return;
    }
    let servers = castellan.processes();
    let uid = servers[0].broker.uid().unwrap();
    for Processes { agent, broker } in &servers {
        assert_eq!((agent.uid(), broker.uid()), (Some(uid), Some(uid)), "servers of an instance");
    }
    assert_ne!(uid, 0);
    files_are_its_own(castellan, uid);
    inherited_nothing(castellan, &servers);

    let (broker, stranger) = (Tenant::new(uid), Tenant::new(uid + 1));
    let (victim, ended) = stranger.start(&["-c", "import time; time.sleep(1000)"]);
    let of_root = [root_files(castellan), vec![stranger.home().join("data")]].concat();
    let directories = [root_dirs(castellan), vec![stranger.home()]].concat();
    let group = group_of(castellan, 0);
    let own = castellan.server_dir(0).join("start.json");
    let said = broker
        .probe(
            json!({
                "read": of_root, "list": directories,
                "change": shared_files(castellan), "put": shared_dirs(castellan),
                "pids": [castellan.control_plane().pid, victim.pid, std::process::id()],
                "groups": group_dirs(castellan), "own": [own],
            }),
            group.as_ref(),
        )
        .await;
    assert_eq!(said["worked"], json!([]), "as a broker");
    assert_eq!(said["own"], json!([own]), "the probe reads what a broker reads");
    is_like(&said, &servers[0].broker, group.is_some());

    // Another tenant, against the real processes and disks of this one.
    let pids = servers.iter().flat_map(|server| [server.agent.pid, server.broker.pid]);
    let said = stranger
        .probe(
            json!({
                "read": tenant_files(castellan), "list": tenant_dirs(castellan), "change": [],
                "put": [], "pids": pids.collect::<Vec<_>>(), "groups": [], "own": [],
            }),
            None,
        )
        .await;
    assert_eq!(said["worked"], json!([]), "as another tenant");
    assert!(victim.is_alive());
    victim.kill();
    ended.await;
    for Processes { agent, broker } in &servers {
        assert!(agent.is_alive() && broker.is_alive());
    }
}

/// One process of a server that eats all of its memory is killed, and nobody else is.
pub async fn eats_its_own_memory_alone(castellan: &Installation, id: i64) {
    if !testing::has_groups() {
        return;
    }
    let before = castellan.processes();
    let uid = before[0].broker.uid().unwrap();
    let group = group_of(castellan, 0).expect("there are groups");
    if uid != 0 {
        let tenant = Tenant::new(uid);
        let eat = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n\
                   held = []\nwhile True: held.append(b'x' * (64 << 20))";
        let (eater, ended) = tenant.start(&["-c", eat]);
        group.add(&eater).unwrap();
        fs::write(tenant.home().join("go"), "").unwrap();
        assert_eq!(ended.await, Exit("signal: 9 (SIGKILL)".into()));
    }
    for Processes { agent, broker } in &before {
        assert!(agent.is_alive() && broker.is_alive(), "somebody else was killed");
    }
    if thorough() {
        // The broker itself: its agent stays and starts it again.
        let fault = Fault::FillMemory { process: before[0].broker.clone(), bytes: 4 * GIBIBYTE };
        // The guest dies with its JVM, before it can say that it came in.
        let _ = fault.inject().await;
        castellan.until_broker_is_not(0, &before[0].broker).await;
        castellan.until_running(id).await;
        let after = castellan.processes();
        assert_eq!(after[0].agent, before[0].agent, "the agent outlives its broker");
        assert_eq!(after[1..], before[1..], "the neighbours are as they were");
        assert_eq!(group_of(castellan, 0), Some(group));
    }
}

fn is_like(probe: &Value, broker: &ProcessId, in_group: bool) {
    let file = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", broker.pid)).unwrap();
    let lines = |status: &str| -> Vec<String> {
        let is_compared = |line: &&str| STATUS.iter().any(|name| line.starts_with(name));
        status.lines().filter(is_compared).map(str::to_owned).collect()
    };
    let (probed, status) = (lines(probe["status"].as_str().unwrap()), lines(&file("status")));
    assert_eq!(probed, status, "the probe is what the broker is");
    assert!(status.contains(&"CapBnd:\t0000000000000000".to_owned()), "{status:?}");
    assert!(status.contains(&"NoNewPrivs:\t1".to_owned()), "{status:?}");
    if in_group {
        assert_eq!(probe["groups"].as_str().unwrap(), file("cgroup"));
    }
}

/// Everything of a server is its tenant's, but for the cloud's own records.
fn files_are_its_own(castellan: &Installation, uid: u32) {
    for top in tenant_dirs(castellan) {
        let found = fs::metadata(&top).unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (uid, uid, 0o700));
        for path in files_under(&top) {
            let is_record = path.ends_with("server.json") || path.ends_with("castellan-disk.json");
            // Written by the control plane at a start, and replaced by the agent.
            if is_record || path.ends_with("agent.pid") || path.ends_with("disk") {
                continue;
            }
            // What Kafka deletes meanwhile is as good.
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            assert_eq!(found.uid(), uid, "{}", path.display());
        }
    }
}

/// No open file of the control plane's, and none of its variables.
fn inherited_nothing(castellan: &Installation, servers: &[Processes]) {
    for (server, Processes { agent, broker }) in servers.iter().enumerate() {
        let (own, disk) = (castellan.server_dir(server), castellan.disk(server));
        for process in [agent, broker] {
            let open = fs::read_dir(format!("/proc/{}/fd", process.pid)).unwrap().flatten();
            let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
            for path in open.filter(|path| path.starts_with(castellan.data())) {
                let starts = castellan.data().join("starts");
                let is_its_own = [&own, &disk, &starts].iter().any(|it| path.starts_with(it));
                assert!(is_its_own, "{}", path.display());
            }
            let text = fs::read(format!("/proc/{}/environ", process.pid)).unwrap();
            let text = String::from_utf8_lossy(&text).into_owned();
            for variable in text.split('\0').filter_map(|pair| pair.split('=').next()) {
                assert!(variable.is_empty() || VARIABLES.contains(&variable), "{variable}");
            }
        }
    }
}

fn root_files(castellan: &Installation) -> Vec<PathBuf> {
    let names = [
        "master.key",
        "castellan.db",
        "castellan.db-wal",
        "castellan.db-shm",
        "metrics.db",
        "fleet-ca.pem",
        "endpoints.json",
        "lock",
        "setup.lock",
        "host-id",
    ];
    names.map(|name| castellan.data().join(name)).into()
}

fn root_dirs(castellan: &Installation) -> Vec<PathBuf> {
    let names = [
        "", "servers", "disks", "bin", "starts", "fences", "planes", "logs", "uids", "groups",
        "networks",
    ];
    names.map(|name| castellan.data().join(name)).into()
}

/// What brokers read and root alone writes.
fn shared_dirs(_: &Installation) -> Vec<PathBuf> {
    let cache = kafka::artifacts::default_cache_root();
    let inner = ["kafka", "startup"].map(|name| cache.join(name));
    let kafka: Vec<PathBuf> =
        entries(&cache.join("kafka")).into_iter().filter(|path| path.is_dir()).collect();
    let libs = kafka.iter().map(|path| path.join("libs"));
    [cache.clone()].into_iter().chain(inner).chain(kafka.clone()).chain(libs).collect()
}

fn shared_files(castellan: &Installation) -> Vec<PathBuf> {
    let cache = kafka::artifacts::default_cache_root();
    let program = castellan.data().join("bin/current").canonicalize().unwrap();
    let jars = shared_dirs(castellan).into_iter().flat_map(|path| entries(&path));
    let files = jars.chain(entries(&cache.join("startup"))).filter(|path| path.is_file());
    [program].into_iter().chain(files).collect()
}

fn tenant_dirs(castellan: &Installation) -> Vec<PathBuf> {
    let servers = 0..castellan.processes().len();
    servers.flat_map(|server| [castellan.server_dir(server), castellan.disk(server)]).collect()
}

fn tenant_files(castellan: &Installation) -> Vec<PathBuf> {
    let of = |server: usize| {
        let names = [
            "start.json",
            "desired.json",
            "server.properties",
            "server.json",
            "agent.log",
            "tls/internal.pem",
            "logs/server.log",
            "run/broker.pid",
        ];
        let mut files: Vec<PathBuf> =
            names.map(|name| castellan.server_dir(server).join(name)).into();
        let names = ["castellan-disk.json", "data/meta.properties"];
        files.extend(names.map(|name| castellan.disk(server).join(name)));
        files
    };
    (0..castellan.processes().len()).flat_map(of).collect()
}

/// The group that a server is on record with.
fn group_of(castellan: &Installation, server: usize) -> Option<Group> {
    let id = castellan.server_dir(server).file_name()?.to_owned();
    let text = fs::read(castellan.data().join("groups").join(id)).ok()?;
    let group: Group = serde_json::from_slice(&text).unwrap();
    group.is_there().then_some(group)
}

/// Those of all servers, and those above them.
fn group_dirs(castellan: &Installation) -> Vec<PathBuf> {
    let records = entries(&castellan.data().join("groups"));
    let mut found = Vec::new();
    for record in records {
        let parts: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
        for part in parts.as_array().unwrap() {
            let path = PathBuf::from(part["path"].as_str().unwrap());
            found.extend(path.parent().map(Path::to_owned));
            found.push(path);
        }
    }
    found.sort();
    found.dedup();
    found
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(directory) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_under(&path));
        }
        found.push(path);
    }
    found
}
