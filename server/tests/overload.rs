//! Too little of everything: every core is burnt twice over, and by every broker once more,
//! since brokers may have more of a core than other processes. The disks of all brokers are
//! slow, and now and then a JVM stands still for a second. The sessions that brokers have
//! with the active controller are short, and still no broker may be counted as gone that is
//! there. Acknowledged writes are there at the end.
//!
//! The sign is the active controller's own word, in its log, that it fences a broker. That
//! the sign works is shown at the end by a broker that stands still for longer.
//!
//! With `CASTELLAN_TEST_ALL` for 20 minutes, and 5 more with the oldest release.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use checker::{Access, Load, LoadSpec, judge, read_back};
use faults::{Fault, FaultError, Injected};
use host::{ProcessId, Spawn};
use kafka::versions::Release;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use test_support::installation::Installation;
use tokio::time::{MissedTickBehavior, interval};

/// What a controller writes when the session of a broker has ended without a word.
const FENCED: &str = "because its session has timed out";
/// What a controller writes when it becomes the active one.
const ELECTED: &str = "Completed transition to Leader(";
/// Little enough for a controller to wait for its disk at every write.
const DISK_BYTES_PER_SECOND: u64 = 256 * 1024;
const PAUSE: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_broker_is_fenced_that_is_there() {
    let [oldest, .., newest] = kafka::versions::all() else { panic!("there are several") };
    if std::env::var_os("CASTELLAN_TEST_ALL").is_none() {
        return overload(newest, Duration::from_mins(2)).await;
    }
    overload(newest, Duration::from_mins(20)).await;
    overload(oldest, Duration::from_mins(5)).await;
}

async fn overload(release: &Release, lasts: Duration) {
    let castellan = Installation::start().await;
    let instance = create(&castellan, release).await;
    let spec = load_of(&instance);
    let load = Load::start(&spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();

    let brokers: Vec<ProcessId> = castellan.processes().into_iter().map(|it| it.broker).collect();
    let before = Seen::read(&castellan);
    {
        let _burners = Burners::start(castellan.data().parent().unwrap());
        let Some(_slow) = slow_disks(&castellan, &brokers).await else { return };
        let mut burning = Vec::new();
        for broker in &brokers {
            burning.push(Fault::Burn(broker.clone()).inject().await.unwrap());
        }
        pause_now_and_then(&brokers, lasts).await;
        load.goes_on(50, PATIENCE).await.unwrap();
    }
    let after = Seen::read(&castellan);
    eprintln!(
        "Kafka {}: {lasts:?} of overload, {} falsely fenced, {} changes of the quorum's leader",
        release.version,
        after.fenced.len() - before.fenced.len(),
        after.elections - before.elections,
    );
    assert_eq!(after.fenced, before.fenced, "brokers were fenced that were there");

    // One that really is silent is fenced, and the log says so.
    let mut pause = Fault::Pause(brokers[0].clone()).inject().await.unwrap();
    let fenced = async || {
        let now = Seen::read(&castellan).fenced;
        if now.len() > after.fenced.len() { Ok(()) } else { Err(now) }
    };
    castellan.until("a silent broker is fenced", fenced).await;
    pause.undo().await.unwrap();

    load.goes_on(50, PATIENCE).await.unwrap();
    let history = load.stop().await.unwrap();
    let logs = read_back(&spec.access(), &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_true_to_its_word(), "{report}");
    eprintln!("{report}");
    castellan.purge().await;
}

async fn create(castellan: &Installation, release: &Release) -> Value {
    let body = json!({
        "name": "overloaded", "plan": "mouse-3", "region": "local::this-machine",
        "kafka_version": release.version.to_string(),
    });
    let (status, created) = castellan.post("/api/instances", &body).await;
    assert_eq!(status, 200, "{created}");
    castellan.until_running(created["id"].as_i64().unwrap()).await
}

fn load_of(instance: &Value) -> LoadSpec {
    let Access { brokers, auth } = Access::of_instance(instance).unwrap();
    LoadSpec {
        brokers,
        auth,
        topic: "overloaded".into(),
        rate_per_second: 100,
        ..LoadSpec::default()
    }
}

/// What controllers have written, of all servers.
struct Seen {
    /// Lines that tell of a broker whose session ended.
    fenced: Vec<String>,
    elections: usize,
}

impl Seen {
    fn read(castellan: &Installation) -> Self {
        let (mut fenced, mut elections) = (Vec::new(), 0);
        for server in castellan.server_dirs() {
            let files = fs::read_dir(server.join("logs")).unwrap().map(|file| file.unwrap().path());
            for file in files {
                // One that is rolled over at this moment is there under its next name.
                let text = fs::read_to_string(file).unwrap_or_default();
                let lines = text.lines().filter(|line| line.contains(FENCED));
                fenced.extend(lines.map(str::to_owned));
                elections += text.lines().filter(|line| line.contains(ELECTED)).count();
            }
        }
        fenced.sort();
        Self { fenced, elections }
    }
}

/// Processes that want every core all the time, two for each.
struct Burners(Vec<ProcessId>);

impl Burners {
    fn start(directory: &Path) -> Self {
        let cores = std::thread::available_parallelism().unwrap().get();
        let spawn = Spawn {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "while :; do :; done".into()],
            environment: vec![],
            directory: directory.into(),
            output: directory.join("burners"),
        };
        let burner = |_| {
            let (process, ended) = spawn.start().unwrap();
            tokio::spawn(ended);
            process
        };
        Self((0..2 * cores).map(burner).collect())
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        for process in &self.0 {
            process.kill();
        }
    }
}

/// None where disks can't be made slow, and that may be.
async fn slow_disks(castellan: &Installation, brokers: &[ProcessId]) -> Option<Vec<Injected>> {
    let mut all = Vec::new();
    for (server, process) in brokers.iter().enumerate() {
        let (process, directory) = (process.clone(), castellan.disk(server));
        let bytes_per_second = DISK_BYTES_PER_SECOND;
        match (Fault::SlowDisk { process, directory, bytes_per_second }).inject().await {
            Ok(injected) => all.push(injected),
            Err(FaultError::Unavailable { reason, .. }) => {
                host::testing::skip("groups", &reason);
                return None;
            }
            Err(error) => panic!("{error}"),
        }
    }
    Some(all)
}

/// One broker after the other, the active controller among them.
async fn pause_now_and_then(brokers: &[ProcessId], lasts: Duration) {
    let began = Instant::now();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for broker in brokers.iter().cycle() {
        ticks.tick().await;
        if began.elapsed() > lasts {
            return;
        }
        let mut pause = Fault::Pause(broker.clone()).inject().await.unwrap();
        tokio::time::sleep(PAUSE).await;
        pause.undo().await.unwrap();
    }
}
