//! Supervision of a shell script that behaves like a broker, or badly.

use super::*;
use crate::board::Silence;
use crate::leave::Answer;
use crate::supervisor_testing::{GOOD, Server, always, quick};
use crate::testing::{desired, marker, wait_for};
use host::{ProcessId, Slots};
use model::InstanceId;
use std::fs;
use std::sync::atomic::Ordering;
use wire::agent::{DISK_MARKER, Desired, DiskMarker};

const BAD: &str = "echo 'ERROR the listener is taken' >> logs/server.log; exit 3\n";

#[tokio::test]
async fn a_broker_is_formatted_once_started_and_stopped_as_desired() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let status = work.phase(Phase::Running).await;
    assert_eq!(status.config_hash.as_deref(), Some("hash-1"));
    assert_eq!(status.broker_pid, ProcessId::load(&server.place.broker_pid()).map(|id| id.pid));
    assert_eq!(server.read("format.args"), "1@host:9090:directory-A");
    assert_eq!(server.read("server.properties"), "node.id=1\n");

    work.goal.send_replace(Goal::Stopped);
    let status = work.phase(Phase::Stopped).await;
    assert_eq!((status.broker_pid, status.config_hash), (None, None));
    assert_eq!(server.read("events"), "started\nstopped\n");

    work.goal.send_replace(Goal::from_desired(&desired(), &[]));
    work.phase(Phase::Running).await;
    assert_eq!(server.read("format.args"), "", "a formatted disk may be formatted again");
    work.end().await;
    assert_eq!(server.read("events"), "started\nstopped\nstarted\nstopped\n");
}

#[tokio::test]
async fn a_broker_that_does_not_stay_up_is_tried_again_and_its_log_is_shown() {
    let server = Server::new(BAD);
    let work = server.supervise(quick());
    let status = work.status(|status| status.phase == Phase::Failed && status.restarts >= 3).await;
    assert_eq!(status.log_tail, ["ERROR the listener is taken"]);
    assert!(status.detail.starts_with("the broker ended: exit status: 3; next"), "{status:?}");
    assert_eq!(status.broker_pid, None);
    // Mended, it runs.
    server.write("broker.sh", GOOD);
    let status = work.phase(Phase::Running).await;
    assert!(status.restarts >= 3 && status.log_tail.is_empty(), "{status:?}");
    work.end().await;
}

#[tokio::test]
async fn one_that_fails_over_its_logs_was_not_looking_for_a_quorum() {
    let check = async |said: &str, lonely: bool| {
        let server = Server::new(&format!("echo '{said}' >> logs/server.log; exit 3\n"));
        let never = Duration::from_hours(1);
        // As if every start took long.
        let pace =
            Pace { searching: Duration::ZERO, pauses: always(never), quorum: never, ..quick() };
        let work = server.supervise(pace);
        let status = work.phase(Phase::Failed).await;
        let is_lonely = status.detail.contains("it found too few other controllers");
        assert_eq!(is_lonely, lonely, "{said}: {status:?}");
        work.end().await;
    };
    check("INFO still looking for a leader", true).await;
    check("INFO Recovering 1 logs from /d since no clean shutdown file was found", false).await;
}

#[tokio::test]
async fn a_new_desire_ends_the_pause_after_a_failure() {
    let server = Server::new(BAD);
    let pause = Duration::from_hours(1);
    let work = server.supervise(Pace { pauses: always(pause), ..quick() });
    work.phase(Phase::Failed).await;
    server.write("broker.sh", GOOD);
    let mut next = desired();
    next.broker.as_mut().unwrap().config_hash = "hash-2".into();
    work.goal.send_replace(Goal::from_desired(&next, &[]));
    assert_eq!(work.phase(Phase::Running).await.config_hash.as_deref(), Some("hash-2"));
    work.end().await;
}

#[tokio::test]
async fn one_that_ran_well_comes_back_soon_and_is_counted_anew() {
    const PAUSES: &[Duration] = &[Duration::ZERO, Duration::from_hours(1)];
    let server = Server::new(GOOD);
    let pace = Pace { pauses: PAUSES, well_after: Duration::ZERO, ..quick() };
    let work = server.supervise(pace);
    for _ in 0..3 {
        let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
        ProcessId::from_pid(pid).unwrap().kill();
        work.status(|status| status.broker_pid.is_some_and(|new| new != pid)).await;
    }
    work.status(|status| status.phase == Phase::Running && status.restarts == 0).await;
    work.end().await;
}

#[tokio::test]
async fn the_next_agent_adopts_the_broker_that_runs() {
    let server = Server::new(GOOD);
    let first = server.supervise(quick());
    let before = first.phase(Phase::Running).await;
    first.task.abort();
    let _ = first.task.await;

    // With another configuration desired, it is still not touched.
    let second = server.supervise(quick());
    let mut next = desired();
    next.broker.as_mut().unwrap().config_hash = "hash-2".into();
    second.goal.send_replace(Goal::from_desired(&next, &[]));
    let adopted = second.phase(Phase::Running).await;
    assert_eq!(adopted.broker_pid, before.broker_pid);
    assert_eq!(adopted.config_hash.as_deref(), Some("hash-1"));
    assert_eq!(server.read("events"), "started\n");
    second.task.abort();
    let _ = second.task.await;

    // Also one that the agent had no time to put on record.
    fs::remove_file(server.place.broker_pid()).unwrap();
    let third = server.supervise(quick());
    assert_eq!(third.phase(Phase::Running).await.broker_pid, before.broker_pid);
    third.end().await;
    assert_eq!(server.read("events"), "started\nstopped\n");
}

#[tokio::test]
async fn a_higher_launch_starts_the_broker_anew_with_leave() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    assert_eq!(before.launch, 0);
    work.leave.send_replace(Answer::No("it is not its turn".into()));
    let mut next = Desired { launch: 1, ..desired() };
    next.broker.as_mut().unwrap().config_hash = "hash-2".into();
    work.goal.send_replace(Goal::from_desired(&next, &[]));
    let words = "waiting for leave to stop: it is not its turn";
    let waiting = work.status(|status| status.detail == words).await;
    assert_eq!((waiting.broker_pid, waiting.launch), (before.broker_pid, 0));
    assert_eq!(waiting.waits_for_leave.as_deref(), Some("it is not its turn"));
    assert!(!waiting.wait_is_passing);
    work.leave.send_replace(Answer::NotYet("it is looked at anew".into()));
    let waiting = work.status(|status| status.wait_is_passing).await;
    assert_eq!(waiting.waits_for_leave.as_deref(), Some("it is looked at anew"));

    work.leave.send_replace(Answer::Go);
    let after = work.status(|it| it.phase == Phase::Running && it.launch == 1).await;
    assert_ne!(after.broker_pid, before.broker_pid);
    assert_eq!(after.config_hash.as_deref(), Some("hash-2"));
    assert_eq!(server.read("events"), "started\nstopped\nstarted\n");

    // The next agent knows what it runs for.
    work.task.abort();
    let _ = work.task.await;
    let second = server.supervise(quick());
    second.goal.send_replace(Goal::from_desired(&next, &[]));
    assert_eq!(second.phase(Phase::Running).await.launch, 1);
    // A launch that was taken back is no reason to stop.
    second.goal.send_replace(Goal::from_desired(&Desired { launch: 0, ..next }, &[]));
    second.end().await;
    assert_eq!(server.read("events"), "started\nstopped\nstarted\nstopped\n");
}

#[tokio::test]
async fn a_lost_disk_keeps_the_broker_from_starting_until_it_is_back() {
    let server = Server::new(GOOD);
    let marker = server.read("disk/castellan-disk.json");
    fs::remove_file(server.place.disk().join(DISK_MARKER)).unwrap();
    let work = server.supervise(quick());
    let status = work.phase(Phase::Failed).await;
    let words = "the disk is lost: its marker is missing";
    assert_eq!(status.disk_fault.as_deref(), Some(words));
    assert_eq!(server.read("events"), "");
    // Every further look finds the same, and nobody is told anew.
    let mut board = work.board.subscribe();
    board.mark_unchanged();
    assert!(timeout(quick().disk * 20, board.changed()).await.is_err());
    server.write("disk/castellan-disk.json", &marker);
    assert_eq!(work.phase(Phase::Running).await.disk_fault, None);
    work.end().await;
}

#[tokio::test]
async fn a_broker_that_ends_on_a_full_disk_is_back_once_there_is_room() {
    let server = Server::new(GOOD);
    let never = Duration::from_hours(1);
    let work = server.supervise(Pace { pauses: always(never), ..quick() });
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    server.room.store(u64::MAX, Ordering::Relaxed);
    server.write("logs/server.log", "t ERROR halt\njava.io.IOException: No space left on device\n");
    ProcessId::from_pid(pid).unwrap().kill();
    let status = work.status(|status| status.disk_fault.is_some()).await;
    assert!(
        status.detail.contains("exit status") || status.detail.contains("signal"),
        "{status:?}"
    );
    assert!(status.detail.contains("no space was left on its disk"), "{status:?}");
    // Nothing is started in vain, and what its log said stays in view.
    let status = work.status(|status| status.detail.starts_with("the disk is full: ")).await;
    assert_eq!((status.phase, status.broker_pid, status.restarts), (Phase::Failed, None, 1));
    assert!(status.log_tail.iter().any(|line| line.contains("No space left")), "{status:?}");
    let looks = || server.looks.load(Ordering::Relaxed);
    let before = looks();
    wait_for(looks, |looks| *looks > before + 5).await;

    server.room.store(0, Ordering::Relaxed);
    assert_eq!(work.phase(Phase::Running).await.disk_fault, None);
    work.end().await;
    assert_eq!(server.read("events"), "started\nstarted\nstopped\n");
}

#[tokio::test]
async fn a_broker_that_could_not_start_again_is_not_stopped_to_be_restarted() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    server.room.store(u64::MAX, Ordering::Relaxed);
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    let waiting = work.status(|status| status.waits_for_leave.is_some()).await;
    let why = waiting.waits_for_leave.unwrap();
    assert!(why.starts_with("it could not be started again, the disk is full: "), "{why}");
    assert_eq!((waiting.phase, waiting.broker_pid), (Phase::Running, before.broker_pid));
    assert_eq!(work.asked.load(Ordering::Relaxed), 0);

    server.room.store(0, Ordering::Relaxed);
    work.status(|status| status.phase == Phase::Running && status.launch == 1).await;
    // For good it stops all the same.
    server.room.store(u64::MAX, Ordering::Relaxed);
    work.goal.send_replace(Goal::Stopped);
    work.phase(Phase::Stopped).await;
    work.end().await;
}

#[tokio::test]
async fn nor_is_one_whose_disk_or_whose_java_is_gone() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    let marker = server.read("disk/castellan-disk.json");
    fs::remove_file(server.place.disk().join(DISK_MARKER)).unwrap();
    *server.warm.missing.lock().unwrap() = Some("this Kafka needs Java 17".into());
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    for why in ["the disk is lost: its marker is missing", "this Kafka needs Java 17"] {
        let words = format!("it could not be started again, {why}");
        let refused = |it: &Status| it.waits_for_leave.as_ref() == Some(&words);
        let waiting = work.status(refused).await;
        assert_eq!((waiting.phase, waiting.broker_pid), (Phase::Running, before.broker_pid));
        server.write("disk/castellan-disk.json", &marker);
    }
    assert_eq!(work.asked.load(Ordering::Relaxed), 0);
    *server.warm.missing.lock().unwrap() = None;
    work.status(|status| status.phase == Phase::Running && status.launch == 1).await;
    work.end().await;
    assert_eq!(server.read("events"), "started\nstopped\nstarted\nstopped\n");
}

/// A start that needs it would keep the broker away for as long.
#[tokio::test]
async fn a_restart_waits_for_what_is_fetched_for_it() {
    let server = Server::new(GOOD);
    let work = server.supervise(Pace { turn: Duration::ZERO, ..quick() });
    let before = work.phase(Phase::Running).await;
    server.warm.fetching.store(true, Ordering::Relaxed);
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    let waiting = work.status(|status| status.waits_for_leave.is_some()).await;
    let why = "what its start needs is not there yet: looking for the script";
    assert_eq!(waiting.waits_for_leave.as_deref(), Some(why));
    assert_eq!((waiting.phase, waiting.broker_pid), (Phase::Running, before.broker_pid));
    assert_eq!(work.asked.load(Ordering::Relaxed), 0);
    server.warm.fetching.store(false, Ordering::Relaxed);
    work.status(|status| status.phase == Phase::Running && status.launch == 1).await;
    work.end().await;
}

#[tokio::test]
async fn without_leave_a_broker_runs_on_and_says_what_it_waits_for() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    work.leave.send_replace(Answer::No("the ticket has expired".into()));
    work.goal.send_replace(Goal::Stopped);
    let words = "waiting for leave to stop: the ticket has expired";
    let waiting = work.status(|status| status.detail == words).await;
    assert_eq!((waiting.phase, waiting.broker_pid), (Phase::Running, before.broker_pid));
    assert_eq!(waiting.config_hash, before.config_hash);
    let asked = || work.asked.load(Ordering::Relaxed);
    wait_for(asked, |asked| *asked > 5).await;
    assert_eq!(server.read("events"), "started\n");

    // Wanted again before it could stop, it runs as it did.
    work.goal.send_replace(Goal::from_desired(&desired(), &[]));
    work.status(|status| status.detail == "running").await;
    assert_eq!(work.board.view().status.broker_pid, before.broker_pid);

    work.goal.send_replace(Goal::Stopped);
    work.status(|status| status.detail == words).await;
    work.leave.send_replace(Answer::Go);
    work.phase(Phase::Stopped).await;
    assert_eq!(server.read("events"), "started\nstopped\n");
    work.end().await;
}

#[tokio::test]
async fn a_broker_that_ends_while_it_waits_for_leave_is_stopped() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    work.leave.send_replace(Answer::No("no ticket is open".into()));
    work.goal.send_replace(Goal::Stopped);
    work.status(|status| status.detail.starts_with("waiting for leave")).await;
    ProcessId::from_pid(pid).unwrap().kill();
    let stopped = work.phase(Phase::Stopped).await;
    assert_eq!((stopped.detail.as_str(), stopped.broker_pid), ("stopped as desired", None));
    assert_eq!(server.read("events"), "started\n", "it is not started again");
    work.end().await;
}

#[tokio::test]
async fn a_broker_that_dies_while_its_restart_waits_for_leave_has_failed() {
    let server = Server::new(GOOD);
    let never = Duration::from_hours(1);
    let work = server.supervise(Pace { pauses: always(never), ..quick() });
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    work.leave.send_replace(Answer::No("no ticket is open".into()));
    let next = Desired { launch: 1, ..desired() };
    work.goal.send_replace(Goal::from_desired(&next, &[]));
    work.status(|status| status.waits_for_leave.is_some()).await;
    server.write("logs/server.log", "t ERROR halt\n");
    ProcessId::from_pid(pid).unwrap().kill();
    let failed = work.phase(Phase::Failed).await;
    assert_eq!((failed.restarts, failed.broker_pid), (1, None));
    assert!(failed.detail.starts_with("the broker ended: signal: 9"), "{failed:?}");
    assert_eq!(failed.log_tail, ["t ERROR halt"]);
    // What is desired then may be the remedy.
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 2, ..next }, &[]));
    work.status(|status| status.phase == Phase::Running && status.launch == 2).await;
    work.end().await;
}

#[tokio::test]
async fn a_broker_that_can_t_be_put_on_record_is_ended() {
    let server = Server::new(GOOD);
    let record = server.place.broker_pid();
    fs::create_dir_all(record.join("in the way")).unwrap();
    let never = Duration::from_hours(1);
    let work = server.supervise(Pace { pauses: always(never), ..quick() });
    let failed = work.phase(Phase::Failed).await;
    assert!(failed.detail.starts_with("it can't be started: "), "{failed:?}");
    let mark = server.place.dir().to_string_lossy();
    assert_eq!(host::with_environment("CASTELLAN_BROKER", &mark), []);

    fs::remove_dir_all(record).unwrap();
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    work.phase(Phase::Running).await;
    work.end().await;
}

#[tokio::test]
async fn an_agent_that_ends_takes_its_broker_along_without_leave() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    work.leave.send_replace(Answer::No("no ticket is open".into()));
    work.goal.send_replace(Goal::Stopped);
    work.status(|status| status.detail.starts_with("waiting for leave")).await;
    work.end().await;
    assert_eq!(server.read("events"), "started\nstopped\n");
}

/// SIGTERM waits with everything else while a process stands still.
#[tokio::test]
async fn a_broker_that_stands_still_is_killed_after_a_while() {
    let once = "if [ ! -f once ]; then echo > once; kill -STOP $$; fi\nwhile";
    let server = Server::new(&GOOD.replace("while", once));
    let work =
        server.supervise(Pace { unresponsive_shutdown: Duration::from_millis(50), ..quick() });
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    let process = ProcessId::from_pid(pid).unwrap();
    wait_for(|| process.is_stopped(), |stands_still| *stands_still).await;
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    let after = work.status(|it| it.phase == Phase::Running && it.launch == 1).await;
    assert_ne!(after.broker_pid, Some(pid));
    assert_eq!(server.read("events"), "started\nstarted\n", "it had no say in it");
    work.end().await;
}

/// Hears SIGTERM and does not end by it, as a Java process does whose threads hang.
fn deaf() -> String {
    GOOD.replace("exit 0", "sleep 0")
}

#[tokio::test]
async fn a_broker_that_did_not_answer_and_says_nothing_is_killed() {
    let server = Server::new(&deaf());
    let work =
        server.supervise(Pace { unresponsive_shutdown: Duration::from_millis(50), ..quick() });
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    let since = "2026-01-01T00:00:00Z".parse().unwrap();
    let fall_silent = |pid| work.board.set_silence(Some(Silence { pid, since }));
    fall_silent(pid);
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    let again = work.status(|it| it.phase == Phase::Running && it.launch == 1).await;
    let view = work.board.view();
    assert_eq!(view.silent_since(), None, "what was measured of another: {view:?}");
    assert_ne!(again.broker_pid, Some(pid));
    fall_silent(again.broker_pid.unwrap());
    work.end().await;
}

/// Starts only when it is told to.
fn slow() -> String {
    format!("while [ ! -f go ]; do sleep 0.01; done\n{GOOD}")
}

/// A server of another cluster on the same host.
fn of_another_cluster(script: &str) -> (Server, Desired) {
    let server = Server::new(script);
    let instance_id = InstanceId(4);
    let marker = serde_json::to_string(&DiskMarker { instance_id, ..marker() }).unwrap();
    fs::write(server.place.disk().join(DISK_MARKER), marker).unwrap();
    (server, Desired { instance_id, ..desired() })
}

#[tokio::test]
async fn clusters_start_one_after_another_and_their_servers_together() {
    let host = tempfile::tempdir().unwrap();
    let slots = StartSlots::within(Slots::new(host.path().join("starts"), 1));
    let (one, two) = (Server::new(&slow()), Server::new(&slow()));
    let (other, wanted) = of_another_cluster(GOOD);
    let first = one.supervise_in_slots(quick(), slots.clone(), &desired(), 0);
    first.phase(Phase::Starting).await;
    let second = two.supervise_in_slots(quick(), slots.clone(), &desired(), 0);
    second.phase(Phase::Starting).await;
    let last = other.supervise_in_slots(quick(), slots, &wanted, 0);
    let waits =
        |status: &Status| status.detail == "waiting while other clusters of this host start";
    last.status(waits).await;

    one.write("go", "");
    first.phase(Phase::Running).await;
    assert_eq!(last.board.view().status.phase, Phase::Preparing, "half of the cluster has started");
    two.write("go", "");
    last.phase(Phase::Running).await;
    for work in [first, second, last] {
        work.end().await;
    }
}

#[tokio::test]
async fn a_start_that_takes_long_or_follows_a_failure_takes_no_slot() {
    let host = tempfile::tempdir().unwrap();
    let slots = StartSlots::within(Slots::new(host.path().join("starts"), 1));
    let one = Server::new(&slow());
    let (other, wanted) = of_another_cluster(GOOD);
    let first = one.supervise_in_slots(quick(), slots.clone(), &desired(), 0);
    first.phase(Phase::Starting).await;
    let again = other.supervise_in_slots(quick(), slots.clone(), &wanted, 1);
    again.phase(Phase::Running).await;
    again.end().await;
    one.write("go", "");
    first.phase(Phase::Running).await;

    let long = Server::new(&slow());
    let short_slot = Pace { start_slot: Duration::from_millis(20), ..quick() };
    let second = long.supervise_in_slots(short_slot, slots.clone(), &desired(), 0);
    second.phase(Phase::Starting).await;
    let last = other.supervise_in_slots(quick(), slots, &wanted, 0);
    last.phase(Phase::Running).await;
    assert_eq!(second.board.view().status.phase, Phase::Starting);
    long.write("go", "");
    second.phase(Phase::Running).await;
    for work in [first, second, last] {
        work.end().await;
    }
}
