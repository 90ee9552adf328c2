//! A shell script that waits for its order in place of a JVM.

use super::keep::{PoolHost, Wanted, end_leftovers};
use super::stock::{GRACE, Spare, Stock, taken_mark};
use super::take;
use crate::launcher::Launch;
use crate::place::Place;
use crate::successor::{Home, Successor};
use crate::testing::wait_for;
use async_trait::async_trait;
use host::{Handover, ProcessId};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(20);
/// Says that it is ready, and becomes a broker that says so and waits for its end.
const WARM: &str = r#"
echo "$$ ready" > state.new; mv state.new state
read -r word directory && [ "$word" = start ] || exit 0
cd "$directory"; echo "$$ taken" > run/warm.new; mv run/warm.new run/warm
echo a broker
exec sleep 1000
"#;

/// A host whose instances share our uid, or have the one that was reserved.
#[derive(Default)]
struct PretendHost {
    given: AtomicBool,
    refuses: AtomicBool,
}

#[async_trait]
impl PoolHost for PretendHost {
    async fn wanted(&self) -> Result<Wanted, String> {
        Err("nothing is wanted here".into())
    }

    fn reserve_uid(&self) -> Result<Option<u32>, String> {
        Ok(None)
    }

    fn drop_reservation(&self) -> Result<(), String> {
        Ok(())
    }

    fn is_reserved(&self, _: u32) -> bool {
        !self.given.load(Ordering::Relaxed)
    }

    fn enter_group(&self, agent: i32, _: &ProcessId) -> Result<(), String> {
        assert_eq!(agent, ProcessId::own().pid);
        if self.refuses.load(Ordering::Relaxed) { Err("no group".into()) } else { Ok(()) }
    }
}

struct Host {
    _root: TempDir,
    pool: PathBuf,
    place: Place,
    stock: Stock,
    answers: PretendHost,
    handover: Handover,
}

impl Host {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let (pool, server) = (root.path().join("pool"), root.path().join("servers/11"));
        fs::create_dir_all(&server).unwrap();
        fs::create_dir(&pool).unwrap();
        let pool = pool.canonicalize().unwrap();
        let handover = Handover::open(&pool).unwrap();
        let place = Place::open(&server).unwrap();
        Self { _root: root, pool, place, stock: Stock::new(), answers: <_>::default(), handover }
    }

    async fn warm_up(&self, number: u32, uid: Option<u32>) -> ProcessId {
        let directory = self.pool.join("0").join(number.to_string());
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("warm.sh"), WARM).unwrap();
        let home = Home {
            state: directory.join("state"),
            output: directory.join("output"),
            rehearsal: directory.join("rehearsal"),
            directory,
        };
        let mut successor =
            Successor::start(home.clone(), launch("cold"), launch("warm.sh"), None).unwrap();
        successor.ready(PATIENCE).await.unwrap();
        let process = successor.process().unwrap().clone();
        self.stock.add(Spare {
            successor,
            launch: launch("cold"),
            home,
            uid,
            unwanted_since: None,
        });
        process
    }

    /// What an agent gets that asks for such a broker.
    async fn ask(&self, launch: &Launch) -> Option<Successor> {
        let answer = async {
            let asker = self.handover.asker().await.unwrap();
            self.stock.answer(&self.answers, asker).await.unwrap();
        };
        tokio::join!(take(&self.place, launch), answer).0
    }

    fn home(&self, number: u32) -> PathBuf {
        self.pool.join("0").join(number.to_string())
    }
}

fn launch(script: &str) -> Launch {
    Launch { program: "/bin/sh".into(), arguments: vec![script.into()] }
}

async fn gone(process: &ProcessId) {
    wait_for(|| process.is_alive(), |alive| !alive).await;
}

#[tokio::test]
async fn one_is_given_to_an_agent_that_asks_for_just_that_command() {
    let host = Host::new();
    let process = host.warm_up(1, None).await;
    assert!(host.ask(&launch("another")).await.is_none());
    let successor = host.ask(&launch("cold")).await.unwrap();
    assert_eq!(successor.process(), Some(&process));
    assert!(host.stock.processes().is_empty() && !host.stock.may_fill());
    assert!(host.ask(&launch("cold")).await.is_none(), "it was given twice");

    // On record and not ordered, it is no broker for the agent that comes next.
    let state = || fs::read_to_string(host.place.warm_state()).unwrap();
    assert_eq!(state(), format!("{} ready\n", process.pid));
    crate::successor::keep_output(&host.place).unwrap();
    process.save(&host.place.broker_pid()).unwrap();
    let (broker, ended) = successor.order(&host.place, PATIENCE).await.unwrap();
    assert_eq!((&broker, state()), (&process, format!("{} taken\n", process.pid)));
    let printed = || fs::read_to_string(host.place.broker_output()).unwrap();
    wait_for(printed, |printed| printed == "a broker\n").await;

    // A control plane that starts anew leaves it alone, and what is its.
    end_leftovers(&host.pool);
    crate::successor::end_leftovers(&host.place);
    assert!(broker.is_alive() && host.home(1).exists());
    broker.kill();
    ended.await;
    wait_for(|| host.home(1).exists() || taken_mark(&host.home(1)).exists(), |left| !left).await;
}

#[tokio::test]
async fn one_that_its_agent_did_not_order_ends() {
    let host = Host::new();
    let process = host.warm_up(1, None).await;
    let successor = host.ask(&launch("cold")).await.unwrap();
    let (process_of_agent, input, _ended) = successor.release().unwrap();
    assert_eq!(process_of_agent, process);
    // The agent died with it on record; the end of its input is not seen yet.
    process.save(&host.place.broker_pid()).unwrap();
    crate::successor::end_leftovers(&host.place);
    assert!(!process.is_alive());
    drop(input);

    // Nor does one stay whose agent died before that.
    let process = host.warm_up(2, None).await;
    let (_, input, _ended) = host.ask(&launch("cold")).await.unwrap().release().unwrap();
    drop(input);
    gone(&process).await;
}

#[tokio::test]
async fn nothing_is_given_that_died_or_has_no_limits() {
    let host = Host::new();
    host.warm_up(1, None).await.kill_for_good();
    assert!(host.ask(&launch("cold")).await.is_none());

    let process = host.warm_up(2, None).await;
    host.answers.refuses.store(true, Ordering::Relaxed);
    assert!(host.ask(&launch("cold")).await.is_none());
    gone(&process).await;
    wait_for(|| host.home(2).exists(), |left| !left).await;
}

/// A user may put anything into the directory of a JVM that runs as them.
#[tokio::test]
async fn a_link_in_the_place_of_its_output_is_not_followed() {
    let host = Host::new();
    let directory = host.home(1);
    fs::create_dir_all(&directory).unwrap();
    fs::write(host.pool.join("secret"), "the key").unwrap();
    let script = "rm output; ln -s ../../secret output; exit 1";
    let home = Home {
        state: directory.join("state"),
        output: directory.join("output"),
        rehearsal: directory.join("rehearsal"),
        directory,
    };
    let warm = Launch { arguments: vec!["-c".into(), script.into()], ..launch("") };
    let mut successor = Successor::start(home, launch("cold"), warm, None).unwrap();
    let why = successor.ready(PATIENCE).await.unwrap_err();
    assert_eq!(why, "it ended: exit status: 1");
}

#[tokio::test]
async fn another_uid_gets_nothing_and_what_is_too_much_ends() {
    let host = Host::new();
    let own = ProcessId::own().uid().unwrap();
    let theirs = host.warm_up(1, Some(own + 1)).await;
    assert!(host.ask(&launch("cold")).await.is_none());
    let (second, third) = (host.warm_up(2, None).await, host.warm_up(3, None).await);
    let (now, wanted) = (Instant::now(), launch("cold"));
    let tidy = |most, now| host.stock.tidy(&host.answers, Some(&wanted), most, now);
    assert_eq!(tidy(3, now), 3);
    assert_eq!(tidy(2, now), 2);
    // A create may have lowered their number, and its servers ask right now.
    assert!(third.is_alive());
    // One whose uid an instance has got waits for that instance, and counts no more.
    host.answers.given.store(true, Ordering::Relaxed);
    assert_eq!(tidy(2, now), 2);
    assert_eq!(tidy(2, now + GRACE), 2);
    gone(&theirs).await;
    assert!(second.is_alive() && third.is_alive());
    wait_for(|| host.home(1).exists(), |left| !left).await;
    // What is out of date goes a while later.
    assert_eq!(host.stock.tidy(&host.answers, Some(&launch("newer")), 3, now), 0);
    assert!(second.is_alive() && third.is_alive());
}

#[tokio::test]
async fn what_hangs_is_ended_by_the_next_control_plane() {
    let host = Host::new();
    let process = host.warm_up(1, None).await;
    end_leftovers(&host.pool);
    assert!(!process.is_alive() && !host.home(1).exists());
    end_leftovers(Path::new("/nowhere"));
}
