//! What the local cloud does with processes and directories.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use cloud::{Cloud as _, Disruption, Outcome, Remedy, ServerSpec};
use cloud_local::LocalCloud;
use host::{ProcessId, Spawn};
use model::{InstanceId, Secret, ServerId};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use support::{BY, Local, disk, disk_id, ensure, options, server, wait_for};

#[tokio::test]
async fn the_start_file_is_private_and_follows_the_token_and_the_control_plane() {
    let local = Local::new().await;
    local.make(11).await;
    let mode = fs::metadata(local.server_dir(11).join("start.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let start = local.start(11);
    assert_eq!((start.server_id, start.incarnation), (ServerId(11), 1));
    assert_eq!(start.token.unwrap().expose(), "once");
    let agent = local.agent(11).unwrap();
    let token = || local.start(11).token.unwrap().expose().to_owned();
    ensure(&local.cloud, &ServerSpec { token: None, ..server(11) }).await;
    assert_eq!(token(), "once");
    ensure(&local.cloud, &ServerSpec { token: Some(Secret::new("twice")), ..server(11) }).await;
    assert_eq!(token(), "twice");

    let mut moved = options(local.place.path(), "");
    moved.control_plane = "https://127.0.0.1:7555".into();
    let again = LocalCloud::open(moved).await.unwrap();
    assert_eq!(again.resume().await.unwrap(), []);
    assert_eq!(local.start(11).control_plane, "https://127.0.0.1:7555");
    assert_eq!(token(), "twice");
    assert_eq!(local.agent(11).unwrap(), agent, "the agent was started anew");
    let link = fs::canonicalize(local.server_dir(11).join("disk")).unwrap();
    assert_eq!(link, fs::canonicalize(local.disk_dir(disk_id(11))).unwrap());
}

#[tokio::test]
async fn a_new_release_reaches_a_running_agent_under_the_same_pid() {
    let local = Local::new().await;
    local.make(11).await;
    let agent = local.agent(11).unwrap();
    let newer = LocalCloud::open(options(local.place.path(), "# newer\n")).await.unwrap();
    let mut events = newer.events();
    for _ in 0..3 {
        ensure(&newer, &server(11)).await;
    }
    let starts = local.wait_for_start(11, 2).await;
    assert_eq!(local.agent(11).unwrap(), agent);
    let copies: Vec<&str> = starts.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_ne!(copies[0], copies[1], "{starts}");
    assert!(events.try_recv().is_err(), "an upgrade is no disruption");
}

#[tokio::test]
async fn what_died_while_we_were_away_is_listed_and_the_living_are_watched() {
    let local = Local::new().await;
    local.make(11).await;
    local.make(12).await;
    let dead = local.agent(11).unwrap();
    dead.kill();
    wait_for(|| dead.is_alive(), |alive| !alive).await;
    let again = LocalCloud::open(options(local.place.path(), "")).await.unwrap();
    let mut events = again.events();
    let expected = |id| Disruption { instance_id: InstanceId(3), server_id: ServerId(id) };
    assert_eq!(again.resume().await.unwrap(), [expected(11)]);
    local.agent(12).unwrap().kill();
    assert_eq!(events.recv().await, Ok(expected(12)));
}

#[tokio::test]
async fn old_releases_are_removed_once_no_agent_runs_them() {
    let local = Local::new().await;
    local.make(11).await;
    let open = async |extra: &str| {
        LocalCloud::open(options(local.place.path(), extra)).await.unwrap();
        let entries = fs::read_dir(local.data().join("bin")).unwrap();
        let mut texts: Vec<String> = entries
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name() != "current")
            .map(|entry| fs::read_to_string(entry.path()).unwrap())
            .map(|text| text.lines().last().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    };
    let running = "while :; do read line <&3; done";
    assert_eq!(open("# two\n").await, ["# two", running]);
    assert_eq!(open("# three\n").await, ["# three", running], "an agent runs the first");
    local.agent(11).unwrap().kill();
    wait_for(|| local.agent(11), Option::is_none).await;
    assert_eq!(open("# four\n").await, ["# four"]);
}

fn sleeper(local: &Local, id: i64, environment: Vec<(String, String)>) -> ProcessId {
    let spawn = Spawn {
        program: "/bin/sleep".into(),
        arguments: vec!["1000".into()],
        environment,
        directory: local.place.path().into(),
        output: local.server_dir(id).join("output"),
    };
    let (process, ended) = spawn.start().unwrap();
    tokio::spawn(ended);
    process
}

#[tokio::test]
async fn a_removal_ends_the_broker_on_record_and_the_unrecorded_but_no_stranger() {
    let local = Local::new().await;
    local.make(11).await;
    let run = local.server_dir(11).join("run");
    let broker = sleeper(&local, 11, vec![]);
    broker.save(&run.join("broker.pid")).unwrap();
    let place = fs::canonicalize(local.server_dir(11)).unwrap();
    let mark = (cloud_local::SERVER_VARIABLE.to_owned(), place.to_string_lossy().into_owned());
    let unrecorded = sleeper(&local, 11, vec![mark]);
    // A pid on record that has been reused belongs to a stranger.
    let stranger = sleeper(&local, 11, vec![]);
    let reused = ProcessId { start_time: stranger.start_time - 1, ..stranger.clone() };
    reused.save(&run.join("other.pid")).unwrap();

    let agent = local.agent(11).unwrap();
    assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    assert!(!agent.is_alive() && !broker.is_alive() && !unrecorded.is_alive());
    assert!(stranger.is_alive(), "a stranger was killed");
    assert!(!local.server_dir(11).exists());
    assert!(local.disk_dir(disk_id(11)).exists());
    stranger.kill();
}

#[tokio::test]
async fn logs_outlive_their_server_and_go_with_its_disk() {
    let local = Local::new().await;
    local.make(11).await;
    let aside = local.data().join("logs").join(disk_id(11).to_string());
    let (logs, kept) = (local.server_dir(11).join("logs"), aside.join("logs"));
    let read = |directory: &std::path::Path| fs::read_to_string(directory.join("server.log"));
    fs::create_dir(&logs).unwrap();
    fs::write(logs.join("server.log"), "one").unwrap();
    let removed = async || {
        assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
        assert!(!local.server_dir(11).exists());
    };
    for _ in 0..2 {
        removed().await;
        assert_eq!(read(&kept).unwrap(), "one");
        assert!(aside.join("agent.log").exists() && !aside.join("start.json").exists());
        local.make(11).await;
        assert_eq!(read(&logs).unwrap(), "one");
        assert!(!aside.exists());
    }
    removed().await;
    assert_eq!(local.cloud.remove_disk(&BY, disk_id(11)).await, Outcome::Ready(()));
    assert!(!aside.exists());
}

#[tokio::test]
async fn a_directory_without_our_marker_is_neither_used_nor_removed() {
    let local = Local::new().await;
    let path = local.disk_dir(disk_id(11));
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "data").unwrap();
    let refused = local.cloud.ensure_disk(&BY, &disk(11)).await;
    assert!(matches!(refused, Outcome::Failed { remedy: Remedy::GiveUp, .. }), "{refused:?}");
    let kept = local.cloud.remove_disk(&BY, disk_id(11)).await;
    assert!(matches!(kept, Outcome::Failed { remedy: Remedy::GiveUp, .. }), "{kept:?}");
    assert_eq!(fs::read_to_string(path.join("precious")).unwrap(), "data");
}

#[tokio::test]
async fn stopping_all_asks_agents_first_and_then_brokers_without_one() {
    let local = Local::new().await;
    local.make(11).await;
    local.make(12).await;
    let orphan = sleeper(&local, 12, vec![]);
    orphan.save(&local.server_dir(12).join("run/broker.pid")).unwrap();
    // A crash left this one off the record, and its server half removed.
    let mark = fs::canonicalize(local.data()).unwrap().join("servers/13");
    let mark = (cloud_local::SERVER_VARIABLE.to_owned(), mark.to_string_lossy().into_owned());
    let unrecorded = sleeper(&local, 12, vec![mark]);
    let running = cloud_local::running(&local.data()).unwrap();
    assert_eq!(running.len(), 3);
    assert_eq!(running[0].brokers, []);
    assert_eq!(running[1].brokers, std::slice::from_ref(&orphan));
    assert_eq!(running[2].brokers, std::slice::from_ref(&unrecorded));
    let mut heard = 0;
    let stopped = cloud_local::stop_all(&local.data(), |_| heard += 1).await.unwrap();
    assert_eq!((stopped.agents, stopped.orphaned_brokers), (2, 2));
    assert_eq!(heard, 4);
    assert_eq!(cloud_local::running(&local.data()).unwrap(), []);
    assert!(!orphan.is_alive() && !unrecorded.is_alive());
    for id in [11, 12] {
        let log = fs::read_to_string(local.server_dir(id).join("agent.log")).unwrap();
        assert_eq!(log, "stopped\n");
    }
}

#[tokio::test]
async fn killing_all_ends_agents_and_brokers_without_an_orderly_stop() {
    let local = Local::new().await;
    local.make(11).await;
    let broker = sleeper(&local, 11, vec![]);
    broker.save(&local.server_dir(11).join("run/broker.pid")).unwrap();
    assert_eq!(cloud_local::kill_all(&local.data()).await.unwrap(), 1);
    assert_eq!(cloud_local::running(&local.data()).unwrap(), []);
    assert!(!broker.is_alive());
    let log = fs::read_to_string(local.server_dir(11).join("agent.log")).unwrap();
    assert_eq!(log, "", "the agent was not asked to stop");
}
