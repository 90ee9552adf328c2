//! Restarts with a shell script that is warmed up like a JVM, or fails to be.
//!
//! Every script that acts as the broker takes a lock on the disk and fails if another holds
//! it: whatever goes wrong, two never own one disk.

use crate::board::{Silence, Status};
use crate::goal::Goal;
use crate::launcher::Launch;
use crate::leave::Answer;
use crate::pace::Pace;
use crate::place::Place;
use crate::start_slots::StartSlots;
use crate::successor::{SUCCESSOR_VARIABLE, Successor};
use crate::supervisor_testing::{GOOD, Server, Work, quick};
use crate::testing::{desired, wait_for};
use host::{ProcessId, Slots};
use std::fs;
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wire::agent::{Desired, Phase, Run};

const LOCKED: &str = "exec 9>disk/lock; flock -n 9 || { echo 'two owners' >> events; exit 9; }\n";
/// A test may look at it while it starts.
const HELD: &str = "if [ -f hold ]; then while [ ! -f go ]; do sleep 0.01; done; fi\n";
const SAY: &str = "say() { echo \"$$ $1\" > run/.warm; mv run/.warm run/warm; }\n";
const REHEARSED: &str = "say starting; echo rehearsed $1 >> events; say ready\n";
const ORDERED: &str = "read -r word directory && [ \"$word\" = start ] || exit 0\n";
const BECOMES: &str = "say taken; cd \"$directory\"; . ./broker.sh\n";

fn server(warm: &str) -> Server {
    let server = Server::new(&format!("{LOCKED}{HELD}{GOOD}"));
    server.warm.may.store(true, Ordering::Relaxed);
    server.write("warm.sh", &format!("{SAY}{warm}"));
    server
}

fn good() -> String {
    format!("{REHEARSED}{ORDERED}{BECOMES}")
}

fn restart(work: &Work) {
    work.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
}

async fn restarted(work: &Work) -> Status {
    work.status(|it| it.phase == Phase::Running && it.launch == 1).await
}

/// The process that waits for its order.
async fn ready(server: &Server) -> ProcessId {
    let said = || server.read("run/warm");
    let said = wait_for(said, |said| said.ends_with(" ready\n")).await;
    ProcessId::from_pid(said.split(' ').next().unwrap().parse().unwrap()).unwrap()
}

async fn gone(process: &ProcessId) {
    wait_for(|| process.is_alive(), |alive| !alive).await;
}

#[tokio::test]
async fn a_broker_is_stopped_once_its_successor_is_ready() {
    let server = server(&good());
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    work.leave.send_replace(Answer::No("it is not its turn".into()));
    restart(&work);
    let successor = ready(&server).await;
    let words = "waiting for leave to stop: it is not its turn";
    work.status(|status| status.detail == words).await;
    let recorded = || ProcessId::load(&server.place.broker_pid());
    assert_ne!(recorded().as_ref(), Some(&successor), "it is no broker yet");
    work.leave.send_replace(Answer::Go);
    let after = restarted(&work).await;
    assert_eq!(after.broker_pid, Some(successor.pid));
    assert_eq!(recorded().as_ref(), Some(&successor));
    assert_eq!(after.restarts, 0);
    assert_eq!(server.read("events"), "started\nrehearsed 0\nstopped\nstarted\n");

    // It is as good a broker as any other for the next agent.
    work.task.abort();
    let _ = work.task.await;
    let second = server.supervise(quick());
    second.goal.send_replace(Goal::from_desired(&Desired { launch: 1, ..desired() }, &[]));
    assert_eq!(restarted(&second).await.broker_pid, Some(successor.pid));
    second.end().await;
    assert_eq!(server.read("events"), "started\nrehearsed 0\nstopped\nstarted\nstopped\n");
}

#[tokio::test]
async fn what_it_prints_is_the_brokers_from_its_order_on() {
    let server = server(&good().replace("say taken", "echo of the new; say taken"));
    server.write("logs/broker.out", "of the old\n");
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    restart(&work);
    restarted(&work).await;
    assert_eq!(server.read("logs/broker.out"), "of the new\n");
    assert_eq!(server.read("logs/broker.out.1"), "of the old\n");
    work.end().await;
}

/// It goes the old way, once, with a reason, and the broker has not failed.
async fn goes_cold(server: &Server, pace: Pace, words: &str) {
    let work = server.supervise(pace);
    let before = work.phase(Phase::Running).await;
    server.write("hold", "");
    restart(&work);
    let starting = work.phase(Phase::Starting).await;
    assert!(starting.detail.contains(words), "{words:?} is not in {starting:?}");
    server.write("go", "");
    let after = restarted(&work).await;
    assert_ne!(after.broker_pid, before.broker_pid);
    assert_eq!(after.restarts, 0, "{after:?}");
    work.end().await;
    let events = server.read("events").replace("rehearsed 0\n", "");
    assert_eq!(events, "started\nstopped\nstarted\nstopped\n");
}

#[tokio::test]
async fn one_that_fails_or_hangs_in_its_rehearsal_is_done_without() {
    let failing = server("say 'failed no port is free'; exit 1\n");
    goes_cold(&failing, quick(), "in a cold JVM: no port is free").await;

    let dying = server("echo 'no heap could be had'; exit 3\n");
    let words = "it ended: exit status: 3, after it said: no heap could be had";
    goes_cold(&dying, quick(), words).await;

    let hanging = server("say starting; while :; do sleep 0.01; done\n");
    let pace = Pace { rehearsal: Duration::from_millis(50), ..quick() };
    goes_cold(&hanging, pace, "it makes no progress").await;
    let mark = hanging.place.dir().to_string_lossy();
    // At its low priority it may take a moment to die.
    wait_for(|| host::with_environment(SUCCESSOR_VARIABLE, &mark), Vec::is_empty).await;
}

#[tokio::test]
async fn without_memory_for_two_nothing_is_warmed_up() {
    let server = server(&good());
    *server.warm.no_memory.lock().unwrap() = Some("100 MiB of memory are left".into());
    goes_cold(&server, quick(), "in a cold JVM: 100 MiB of memory are left").await;
    assert!(!server.read("events").contains("rehearsed"));
}

#[tokio::test]
async fn one_that_does_not_take_its_order_is_done_without() {
    let deaf = server(&format!("{REHEARSED}while :; do sleep 0.01; done\n"));
    // A twelfth of it is for the order.
    let pace = Pace { rehearsal: Duration::from_secs(2), ..quick() };
    goes_cold(&deaf, pace, "it did not take its order").await;

    let mortal = server(&format!("{REHEARSED}{ORDERED}exit 5\n"));
    goes_cold(&mortal, quick(), "it ended: exit status: 5").await;
}

#[tokio::test]
async fn one_that_dies_while_it_waits_is_followed_by_one_more() {
    let server = server(&good());
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    work.leave.send_replace(Answer::No("it is not its turn".into()));
    restart(&work);
    let first = ready(&server).await;
    work.status(|status| status.waits_for_leave.is_some()).await;
    first.kill();
    let said = || server.read("run/warm");
    let other = format!("{} ready\n", first.pid);
    wait_for(said, |said| said.ends_with(" ready\n") && *said != other).await;
    let second = ready(&server).await;
    work.status(|status| status.waits_for_leave.is_some()).await;
    second.kill();
    // Two tries are enough, and the broker was not touched for them.
    let words = "in a cold JVM: each one that was warmed up died while it waited";
    work.status(|status| status.detail.contains(words)).await;
    assert_eq!(server.read("events"), "started\nrehearsed 0\nrehearsed 0\n");
    work.leave.send_replace(Answer::Go);
    assert_eq!(restarted(&work).await.restarts, 0);
    work.end().await;
}

#[tokio::test]
async fn one_for_another_command_is_replaced() {
    let server = server(&good());
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    work.leave.send_replace(Answer::No("it is not its turn".into()));
    restart(&work);
    let first = ready(&server).await;
    work.status(|status| status.waits_for_leave.is_some()).await;

    // The same command with other settings needs no other JVM.
    let mut next = Desired { launch: 1, ..desired() };
    next.broker.as_mut().unwrap().config_hash = "hash-2".into();
    work.goal.send_replace(Goal::from_desired(&next, &[]));
    let asked = || work.asked.load(Ordering::Relaxed);
    let before = asked();
    wait_for(asked, |asked| *asked > before + 3).await;
    assert!(first.is_alive());

    server.warm.version.store(1, Ordering::Relaxed);
    next.broker.as_mut().unwrap().config_hash = "hash-3".into();
    work.goal.send_replace(Goal::from_desired(&next, &[]));
    wait_for(|| server.read("events"), |events| events.ends_with("rehearsed 1\n")).await;
    gone(&first).await;
    let second = ready(&server).await;
    work.leave.send_replace(Answer::Go);
    let after = restarted(&work).await;
    assert_eq!(after.broker_pid, Some(second.pid));
    assert_eq!(after.config_hash.as_deref(), Some("hash-3"));
    work.end().await;
    let events = "started\nrehearsed 0\nrehearsed 1\nstopped\nstarted\nstopped\n";
    assert_eq!(server.read("events"), events);
}

#[tokio::test]
async fn a_stop_and_the_end_of_the_agent_end_it() {
    for ends_agent in [false, true] {
        let server = server(&good());
        let work = server.supervise(quick());
        work.phase(Phase::Running).await;
        work.leave.send_replace(Answer::No("it is not its turn".into()));
        restart(&work);
        let successor = ready(&server).await;
        work.status(|status| status.waits_for_leave.is_some()).await;
        if !ends_agent {
            work.goal.send_replace(Goal::Stopped);
            gone(&successor).await;
            work.leave.send_replace(Answer::Go);
            work.phase(Phase::Stopped).await;
        }
        work.end().await;
        gone(&successor).await;
        assert_eq!(server.read("events"), "started\nrehearsed 0\nstopped\n");
    }
}

/// Its clients wait for nothing but its restart.
#[tokio::test]
async fn a_broker_that_does_not_answer_is_not_kept_waiting() {
    let server = server(&good());
    let work = server.supervise(quick());
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    let since = "2026-01-01T00:00:00Z".parse().unwrap();
    work.board.set_silence(Some(Silence { pid, since }));
    restart(&work);
    restarted(&work).await;
    work.end().await;
    assert_eq!(server.read("events"), "started\nstopped\nstarted\nstopped\n");
}

fn command(script: &str) -> Launch {
    Launch { program: "/bin/sh".into(), arguments: vec![script.into(), "0".into()] }
}

fn start(place: &Place) -> Successor {
    let (broker, warm) = (command("broker.sh"), command("warm.sh"));
    Successor::start(place.warm_home(), broker, warm, None).unwrap()
}

/// The agent dies after the old broker has ended, before or after the new one is on record:
/// in either case before its order.
#[tokio::test]
async fn an_agent_that_dies_before_the_order_leaves_a_cold_start() {
    for is_on_record in [false, true] {
        let server = server(&good());
        let place = &server.place;
        let mut successor = start(place);
        successor.ready(Duration::from_secs(20)).await.unwrap();
        let process = successor.process().unwrap().clone();
        if is_on_record {
            process.save(&place.broker_pid()).unwrap();
        }
        // The pipe is still open, as if the agent's death were seen late.
        let work = server.supervise(quick());
        let status = work.phase(Phase::Running).await;
        assert_eq!(status.restarts, 0);
        assert_ne!(status.broker_pid, Some(process.pid));
        assert!(!process.is_alive());
        work.end().await;
        assert_eq!(server.read("events"), "rehearsed 0\nstarted\nstopped\n");
    }
}

/// The agent dies after the order: the broker is on record and goes on.
#[tokio::test]
async fn an_agent_that_dies_after_the_order_leaves_a_broker() {
    let server = server(&good());
    let place = &server.place;
    fs::write(place.format_arguments(), "").unwrap();
    let mut successor = start(place);
    successor.ready(Duration::from_secs(20)).await.unwrap();
    successor.process().unwrap().save(&place.broker_pid()).unwrap();
    let (process, _ended) = successor.order(place, Duration::from_secs(20)).await.unwrap();
    let work = server.supervise(quick());
    assert_eq!(work.phase(Phase::Running).await.broker_pid, Some(process.pid));
    work.end().await;
    assert_eq!(server.read("events"), "rehearsed 0\nstarted\nstopped\n");
}

/// Its pid may be what another server's broker had, before a reboot or long ago.
#[tokio::test]
async fn a_jvm_of_another_server_is_not_taken_for_the_broker_by_its_pid() {
    let server = server(&good());
    let elsewhere = tempfile::tempdir().unwrap();
    let mark = elsewhere.path().to_string_lossy().into_owned();
    let spawn = host::Spawn {
        program: "/bin/sleep".into(),
        arguments: vec!["1000".into()],
        environment: vec![(SUCCESSOR_VARIABLE.into(), mark)],
        directory: elsewhere.path().into(),
        output: elsewhere.path().join("output"),
    };
    let (other, ended) = spawn.start().unwrap();
    server.write("run/warm", &format!("{} taken\n", other.pid));
    let work = server.supervise(quick());
    let starting = work.status(|status| status.broker_pid.is_some()).await;
    assert_ne!(starting.broker_pid, Some(other.pid));
    work.phase(Phase::Running).await;
    work.end().await;
    assert!(other.is_alive());
    other.kill();
    ended.await;
}

/// The JVM that waits is as good as before once Java is back.
#[tokio::test]
async fn a_jvm_that_waits_is_kept_while_no_start_can_be_prepared() {
    let server = server(&good());
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    work.goal.send_replace(Goal::from_desired(&Desired { rehearse: true, ..desired() }, &[]));
    let warm = ready(&server).await;
    *server.warm.missing.lock().unwrap() = Some("this Kafka needs Java 17".into());
    work.leave.send_replace(Answer::No("it is not its turn".into()));
    restart(&work);
    let words = "waiting for leave to stop: it could not be started again, \
                 this Kafka needs Java 17";
    let waiting = work.status(|status| status.detail == words).await;
    assert_eq!(waiting.broker_pid, before.broker_pid);
    *server.warm.missing.lock().unwrap() = None;
    work.leave.send_replace(Answer::Go);
    assert_eq!(restarted(&work).await.broker_pid, Some(warm.pid));
    work.end().await;
}

/// The agent that ordered it may have died before the kernel let it raise the priority.
#[tokio::test]
async fn a_broker_that_is_adopted_runs_at_the_usual_priority() {
    let server = Server::new(GOOD);
    let work = server.supervise(quick());
    let pid = work.phase(Phase::Running).await.broker_pid.unwrap();
    work.task.abort();
    let _ = work.task.await;
    let process = ProcessId::from_pid(pid).unwrap();
    let file = format!("/proc/{pid}/autogroup");
    let lower = || process.lower_priority().map_err(|error| error.kind());
    if fs::exists(&file).unwrap() {
        wait_for(lower, |lowered| *lowered != Err(ErrorKind::WouldBlock)).await.unwrap();
    } else {
        // A kernel without it: then there is nothing to raise.
        assert!(lower().is_err());
    }
    let second = server.supervise(quick());
    second.phase(Phase::Running).await;
    let read = || fs::read_to_string(&file).unwrap_or_else(|_| "nice 0\n".into());
    wait_for(read, |text| text.ends_with("nice 0\n")).await;
    second.end().await;
}

/// Without its agent it sees the end of its input.
#[tokio::test]
async fn one_without_an_agent_ends_by_itself() {
    let server = server(&good());
    let spawn = host::Spawn {
        program: "/bin/sh".into(),
        arguments: vec!["warm.sh".into(), "0".into()],
        environment: vec![],
        directory: server.place.dir().into(),
        output: server.place.successor_output(),
    };
    let (process, input, ended) = spawn.start_listening(None).unwrap();
    assert_eq!(ready(&server).await, process);
    drop(input);
    assert_eq!(ended.await.0, "exit status: 0");
    assert_eq!(server.read("events"), "rehearsed 0\n");
}

/// The broker is the next to be restarted: it runs on, and its JVM is ready when its turn
/// comes.
#[tokio::test]
async fn the_next_in_a_roll_has_its_jvm_ready_before_its_turn() {
    let server = server(&good());
    let work = server.supervise(quick());
    let before = work.phase(Phase::Running).await;
    let tell = |rehearse: bool, launch: i64| {
        let desired = Desired { rehearse, launch, ..desired() };
        work.goal.send_replace(Goal::from_desired(&desired, &[]));
    };
    tell(true, 0);
    let first = ready(&server).await;
    assert_eq!(work.board.view().status.broker_pid, before.broker_pid);

    // The restart was taken back: what waits costs memory.
    tell(false, 0);
    gone(&first).await;
    tell(true, 0);
    let said = || server.read("run/warm");
    wait_for(said, |said| !said.starts_with(&format!("{} ", first.pid))).await;
    let second = ready(&server).await;
    tell(false, 1);
    assert_eq!(restarted(&work).await.broker_pid, Some(second.pid));
    work.end().await;
    assert_eq!(
        server.read("events"),
        "started\nrehearsed 0\nrehearsed 0\nstopped\nstarted\nstopped\n"
    );
}

/// A rehearsal that fails is not begun over and over while the turn has not come.
#[tokio::test]
async fn a_rehearsal_that_fails_before_the_turn_is_left_at_that() {
    let server = server("echo tried >> events; say 'failed no port is free'; exit 1\n");
    let work = server.supervise(quick());
    work.phase(Phase::Running).await;
    work.goal.send_replace(Goal::from_desired(&Desired { rehearse: true, ..desired() }, &[]));
    wait_for(|| server.read("events"), |events| events.contains("tried")).await;
    // At its turn it is tried once more, unless the first try is just coming to its end.
    restart(&work);
    restarted(&work).await;
    work.end().await;
    let tries = server.read("events").matches("tried").count();
    assert!(tries <= 2, "{tries} tries");
    let others = server.read("events").replace("tried\n", "");
    assert_eq!(others, "started\nstopped\nstarted\nstopped\n");
}

/// A start with such a JVM in the host's pool. The agent is there first, since one that starts
/// ends what an earlier one warmed up.
async fn start_from_pool(server: &Server) -> (Work, ProcessId) {
    let slots = StartSlots::within(Slots::new(server.directory.path().join("starts"), 1));
    let stopped = Desired { run: Run::Stopped, ..desired() };
    let work = server.supervise_in_slots(quick(), slots, &stopped, 0);
    work.phase(Phase::Stopped).await;
    let mut warm = start(&server.place);
    warm.ready(Duration::from_secs(20)).await.unwrap();
    let process = warm.process().unwrap().clone();
    *server.warm.pool.lock().unwrap() = Some(warm);
    work.goal.send_replace(Goal::from_desired(&desired(), &[]));
    (work, process)
}

#[tokio::test]
async fn a_first_start_takes_a_jvm_of_the_pool() {
    let server = server(&good());
    let (work, warm) = start_from_pool(&server).await;
    assert_eq!(work.phase(Phase::Running).await.broker_pid, Some(warm.pid));
    work.end().await;
    assert_eq!(server.read("events"), "rehearsed 0\nstarted\nstopped\n");
}

/// Whatever is wrong with it, the pool is not asked for another.
#[tokio::test]
async fn after_a_start_that_failed_in_a_jvm_of_the_pool_the_next_one_is_cold() {
    let server = server(&format!("{REHEARSED}{ORDERED}say taken; exit 3\n"));
    let (work, warm) = start_from_pool(&server).await;
    let running = work.phase(Phase::Running).await;
    assert_ne!(running.broker_pid, Some(warm.pid));
    assert_eq!(server.warm.pool_asked.load(Ordering::Relaxed), 1);
    work.end().await;
    assert_eq!(server.read("events"), "rehearsed 0\nstarted\nstopped\n");
}

/// What a JVM of the pool said before a power cut is no word of a broker with its pid.
#[tokio::test]
async fn a_cold_broker_is_not_taken_for_a_jvm_that_waits() {
    let server = server(&good());
    let work = server.supervise(quick());
    let running = work.phase(Phase::Running).await;
    work.task.abort();
    let _ = work.task.await;
    let pid = running.broker_pid.unwrap();
    server.write("run/warm", &format!("{pid} ready\n"));
    let second = server.supervise(quick());
    assert_eq!(second.phase(Phase::Running).await.broker_pid, Some(pid));
    second.end().await;
    assert_eq!(server.read("events"), "started\nstopped\n");
}

/// On a machine that is too busy for a rehearsal, nobody waits for it for long.
#[tokio::test]
async fn a_restart_does_not_wait_for_a_rehearsal_without_end() {
    let endless = "i=0; while :; do i=$((i+1)); say \"step$i\"; sleep 0.05; done\n";
    let server = server(endless);
    let pace = Pace { turn: Duration::from_millis(300), ..quick() };
    goes_cold(&server, pace, "in a cold JVM: its rehearsal takes more than 0 s").await;
}

/// Beside a broker that has run well waits the JVM that follows it if it dies.
#[tokio::test]
async fn a_broker_that_dies_is_followed_by_the_jvm_on_standby() {
    let rehearsing = "say starting; while [ ! -f warmed ]; do sleep 0.01; done; say ready\n";
    let server = server(&format!("{rehearsing}{ORDERED}{BECOMES}"));
    server.warm.standby.store(true, Ordering::Relaxed);
    let soon = Duration::from_millis(20);
    let work = server.supervise(Pace { well_after: soon, standby: soon, ..quick() });
    let before = work.phase(Phase::Running).await.broker_pid.unwrap();
    // Its agent looks around once it has seen that the JVM is ready.
    let asked = || server.warm.standby_asked.load(Ordering::Relaxed);
    let on_standby = async || {
        let said = || server.read("run/warm");
        wait_for(said, |said| said.ends_with(" starting\n")).await;
        let looks = asked();
        server.write("warmed", "");
        let process = ready(&server).await;
        wait_for(asked, |now| *now > looks).await;
        fs::remove_file(server.directory.path().join("warmed")).unwrap();
        process
    };
    let first = on_standby().await;

    // Another takes the place of one that dies.
    first.kill();
    let second = on_standby().await;
    assert_eq!(work.board.view().status.broker_pid, Some(before));

    ProcessId::from_pid(before).unwrap().kill();
    work.status(|it| it.phase == Phase::Running && it.broker_pid == Some(second.pid)).await;
    work.end().await;
    assert!(!server.read("events").contains("two owners"));
}
