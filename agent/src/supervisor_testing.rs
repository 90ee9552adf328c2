//! A server for tests of its supervision, with a shell script in place of its broker.

use crate::board::{Board, Status};
use crate::disk::Needed;
use crate::goal::Goal;
use crate::launcher::{Launch, Launcher};
use crate::leave::{Answer, Leave};
use crate::pace::Pace;
use crate::place::Place;
use crate::start_slots::StartSlots;
use crate::successor::Successor;
use crate::supervisor::Supervisor;
use crate::testing::{desired, marker, wait_for};
use crate::warmth::Warmth;
use async_trait::async_trait;
use host::{ProcessId, Slots};
use model::SystemClock;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use wire::agent::{DISK_MARKER, Desired, DesiredBroker, Format, Phase};

/// Formats when told to, says that it started, and waits for SIGTERM.
pub const GOOD: &str = r"
if [ -f format.args ]; then
  mkdir -p disk/data
  printf 'cluster.id=cluster-A\nnode.id=1\ndirectory.id=directory-A\n' > disk/data/meta.properties
  echo noted > disk/FORMATTED
fi
rm -f run/wait; mkfifo run/wait; exec 3<>run/wait
trap 'echo stopped >> events; exit 0' TERM
echo started >> events
echo $$ > run/started
while :; do read line <&3; done
";

struct Script {
    room: Arc<AtomicU64>,
    looks: Arc<AtomicU32>,
    warm: Arc<Warm>,
}

/// How the next JVM is warmed up: not at all unless a test says so.
#[derive(Default)]
pub struct Warm {
    pub may: AtomicBool,
    pub standby: AtomicBool,
    /// How often that was asked for: again whenever something has happened.
    pub standby_asked: AtomicU32,
    /// Why there is no memory for two.
    pub no_memory: Mutex<Option<String>>,
    /// A part of the command line; what was warmed up with another is out of date.
    pub version: AtomicU32,
    /// Why no start can be prepared.
    pub missing: Mutex<Option<String>>,
    /// What a start needs is being fetched, for as long as this is so.
    pub fetching: AtomicBool,
    /// What the host's pool has.
    pub pool: Mutex<Option<Successor>>,
    /// How often it was asked.
    pub pool_asked: AtomicU32,
}

#[async_trait]
impl Launcher for Script {
    async fn prepare(
        &self,
        _: &DesiredBroker,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Launch, String> {
        progress("looking for the script".into());
        while self.warm.fetching.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(1)).await;
        }
        if let Some(why) = self.warm.missing.lock().unwrap().clone() {
            return Err(why);
        }
        let version = self.warm.version.load(Ordering::Relaxed).to_string();
        Ok(Launch { program: "/bin/sh".into(), arguments: vec!["broker.sh".into(), version] })
    }

    fn may_warm(&self) -> Result<bool, String> {
        Ok(self.warm.may.load(Ordering::Relaxed))
    }

    fn keeps_standby(&self) -> bool {
        self.warm.standby_asked.fetch_add(1, Ordering::Relaxed);
        self.warm.standby.load(Ordering::Relaxed)
    }

    fn check_memory(&self) -> Result<(), String> {
        self.warm.no_memory.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn rehearse(&self, _: &DesiredBroker, launch: &Launch) -> Result<Launch, String> {
        let arguments = vec!["warm.sh".into(), launch.arguments[1].clone()];
        Ok(Launch { arguments, ..launch.clone() })
    }

    async fn take_from_pool(&self, _: &Launch) -> Option<Successor> {
        self.warm.pool_asked.fetch_add(1, Ordering::Relaxed);
        self.warm.pool.lock().unwrap().take()
    }

    fn room_to_start(&self) -> Needed {
        self.looks.fetch_add(1, Ordering::Relaxed);
        Needed { to_start: self.room.load(Ordering::Relaxed), kept: 0 }
    }

    fn format_arguments(&self, _: &Desired, format: &Format) -> String {
        format.initial_controllers.join("\n")
    }
}

pub struct Server {
    pub place: Place,
    pub directory: TempDir,
    /// What a start needs on the disk: more than there is, and it is full.
    pub room: Arc<AtomicU64>,
    /// How often that was asked for.
    pub looks: Arc<AtomicU32>,
    pub warm: Arc<Warm>,
}

/// Says what it was last told to say, and counts.
struct Says {
    answer: watch::Receiver<Answer>,
    asked: Arc<AtomicU32>,
}

#[async_trait]
impl Leave for Says {
    async fn ask(&self) -> Answer {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.answer.borrow().clone()
    }
}

/// A supervisor at work. Aborting it is the death of its agent.
pub struct Work {
    pub board: Board,
    pub goal: watch::Sender<Goal>,
    pub shutdown: watch::Sender<bool>,
    /// What the control plane says of a stop.
    pub leave: watch::Sender<Answer>,
    pub asked: Arc<AtomicU32>,
    pub task: JoinHandle<()>,
}

impl Server {
    pub fn new(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        fs::create_dir(place.disk()).unwrap();
        let marker = serde_json::to_string(&marker()).unwrap();
        fs::write(place.disk().join(DISK_MARKER), marker).unwrap();
        let (room, looks, warm) = (Arc::default(), Arc::default(), Arc::default());
        let server = Self { place, directory, room, looks, warm };
        server.write("broker.sh", script);
        server
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.path().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
    }

    pub fn supervise(&self, pace: Pace) -> Work {
        let slots = StartSlots::within(Slots::new(self.directory.path().join("starts"), 1));
        self.supervise_in_slots(pace, slots, &desired(), 0)
    }

    pub fn supervise_in_slots(
        &self,
        pace: Pace,
        slots: StartSlots,
        desired: &Desired,
        restarts: u32,
    ) -> Work {
        let board = Board::default();
        let (goal, goal_seen) = watch::channel(Goal::from_desired(desired, &[]));
        let (shutdown, shutdown_seen) = watch::channel(false);
        let (leave, answer) = watch::channel(Answer::Go);
        let asked = Arc::<AtomicU32>::default();
        let supervisor = Supervisor {
            place: self.place.clone(),
            launcher: Arc::new(Script {
                room: self.room.clone(),
                looks: self.looks.clone(),
                warm: self.warm.clone(),
            }),
            leave: Arc::new(Says { answer, asked: asked.clone() }),
            clock: Arc::new(SystemClock),
            pace,
            start_slots: slots,
            start_slot: None,
            board: board.clone(),
            goal: goal_seen,
            shutdown: shutdown_seen,
            restarts,
            returns: false,
            successor: None,
            warmth: Warmth::default(),
            cold_next: false,
        };
        Work { board, goal, shutdown, leave, asked, task: tokio::spawn(supervisor.run()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(broker) = ProcessId::load(&self.place.broker_pid()) {
            broker.kill();
        }
    }
}

impl Work {
    pub async fn status(&self, done: impl Fn(&Status) -> bool) -> Status {
        wait_for(|| self.board.view().status, done).await
    }

    pub async fn phase(&self, phase: Phase) -> Status {
        self.status(|status| status.phase == phase).await
    }

    pub async fn end(self) {
        self.shutdown.send_replace(true);
        self.task.await.unwrap();
    }
}

/// The same pause after each failure.
pub fn always(pause: Duration) -> &'static [Duration] {
    Box::leak(Box::new([pause]))
}

pub fn quick() -> Pace {
    Pace {
        pauses: always(Duration::from_millis(5)),
        glance: Duration::from_millis(2),
        claim: Duration::from_millis(5),
        disk: Duration::from_millis(5),
        ..Pace::BROKER
    }
}
