//! Instances with uids of their own: what their processes can't reach, and what they can
//! put into their directories without harm to anybody else.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use cloud::{Cloud as _, DiskSpec, Outcome, Owner, ServerSpec};
use cloud_local::LocalCloud;
use host::{ProcessId, Spawn, testing};
use model::{InstanceId, Secret, ServerId};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use support::{BY, Local, UIDS, disk, disk_id, options, separate_options, server, wait_for};

/// A server of another instance, beside those of the first.
const OTHER: Owner = Owner { instance_id: InstanceId(4), ..BY };

fn other_server(id: i64) -> ServerSpec {
    ServerSpec { instance_id: OTHER.instance_id, ..server(id) }
}

async fn make_other(local: &Local, id: i64) {
    let disk = DiskSpec { instance_id: OTHER.instance_id, ..disk(id) };
    assert_eq!(local.cloud.ensure_disk(&OTHER, &disk).await, Outcome::Ready(()));
    let spec = other_server(id);
    assert!(matches!(local.cloud.ensure_server(&OTHER, &spec).await, Outcome::Ready(_)));
    local.wait_for_start(id, 1).await;
}

/// A process as an instance's own code could start one.
fn run_as(
    uid: u32,
    directory: &Path,
    script: &str,
) -> (ProcessId, impl Future<Output = host::Exit> + use<>) {
    let spawn = Spawn {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![],
        directory: directory.into(),
        output: directory.join("said"),
    };
    spawn.start_as(uid).unwrap()
}

fn owner_and_mode(path: &Path) -> (u32, u32) {
    let found = fs::symlink_metadata(path).unwrap();
    (found.uid(), found.permissions().mode() & 0o7777)
}

#[tokio::test]
async fn each_instance_has_a_uid_and_its_files_are_closed_to_others() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    local.make(12).await;
    make_other(&local, 13).await;
    let uid = |id: i64| local.agent(id).unwrap().uid().unwrap();
    assert!(UIDS.contains(&uid(11)));
    assert_eq!(uid(11), uid(12), "servers of one instance");
    assert_ne!(uid(11), uid(13), "servers of two");
    for id in [11, 13] {
        for path in [local.server_dir(id), local.disk_dir(disk_id(id))] {
            assert_eq!(owner_and_mode(&path), (uid(id), 0o700), "{}", path.display());
        }
        let start = local.server_dir(id).join("start.json");
        assert_eq!(owner_and_mode(&start), (uid(id), 0o600));
        assert_eq!(local.start(id).uid, Some(uid(id)));
    }
    for room in ["networks", "fences", "planes", "logs", "uids", "groups"] {
        assert_eq!(owner_and_mode(&local.data().join(room)), (0, 0o700), "{room}");
    }
    for passage in ["", "servers", "disks", "bin", "starts"] {
        assert_eq!(owner_and_mode(&local.data().join(passage)), (0, 0o711), "{passage}");
    }

    // What a tenant's code sees of the rest.
    let there = local.data().display().to_string();
    let script = format!(
        "ls {there}; ls {there}/servers; ls {there}/servers/13; cat {there}/servers/13/start.json; \
         ls {there}/disks/{}; cat {there}/uids/4; kill -9 {}; echo x > {there}/servers/14; \
         cat {there}/servers/12/start.json >/dev/null && echo own",
        disk_id(13),
        local.agent(13).unwrap().pid
    );
    let home = local.server_dir(11);
    run_as(uid(11), &home, &script).1.await;
    let said = fs::read_to_string(home.join("said")).unwrap();
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 9, "{said}");
    assert_eq!(
        lines.iter().filter(|line| line.contains("denied") || line.contains("permitted")).count(),
        8,
        "{said}"
    );
    assert_eq!(lines[8], "own");
    assert!(local.agent(13).is_some());
}

#[tokio::test]
async fn a_uid_goes_with_the_last_of_its_instance() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    let record = local.data().join("uids/3");
    let before = fs::read_to_string(&record).unwrap();
    assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    assert_eq!(local.cloud.retire(&BY).await, Outcome::Ready(()));
    assert_eq!(fs::read_to_string(&record).unwrap(), before, "its disk is there");
    assert_eq!(local.cloud.remove_disk(&BY, disk_id(11)).await, Outcome::Ready(()));
    assert_eq!(local.cloud.retire(&BY).await, Outcome::Ready(()));
    assert!(!record.exists());
    local.make(11).await;
    assert_ne!(fs::read_to_string(&record).unwrap(), before, "the next instance has another");
}

/// Everything that a tenant could write into its own directory to have root hurt somebody.
#[tokio::test]
async fn what_a_tenant_plants_in_its_directory_hurts_nobody() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    make_other(&local, 13).await;
    let (own, other) = (local.agent(11).unwrap(), local.agent(13).unwrap());
    let uid = own.uid().unwrap();
    let home = local.server_dir(11);
    let secret = local.place.path().join("secret");
    fs::write(&secret, "root's").unwrap();

    // Another's process in the records of its own; another's disk; files of root's in the
    // way of what root writes; a pipe that nobody writes to.
    let plant = format!(
        "set -e; cat > run/broker.pid <<E\n{}\nE\n rm -f agent.pid; cp run/broker.pid agent.pid; \
         rm -f server.json; echo '{}' > server.json; \
         ln -sfn ../../disks/{} disk; ln -s {secret} .start.json.{}-0.new; rm start.json; \
         ln -s {secret} start.json; mkfifo lock; rm -f agent.log; ln -s {secret} agent.log; echo done",
        serde_json::to_string(&other).unwrap(),
        format_args!(
            "{{\"server_id\":11,\"instance_id\":4,\"incarnation\":9,\"disk_id\":\"{}\"}}",
            disk_id(13)
        ),
        disk_id(13),
        std::process::id(),
        secret = secret.display(),
    );
    run_as(uid, &home, &plant).1.await;
    assert_eq!(fs::read_to_string(home.join("said")).unwrap(), "done\n");

    // The next control plane looks at everything there is, and starts the server anew.
    own.kill();
    wait_for(|| own.is_alive(), |alive| !alive).await;
    let again = LocalCloud::open(separate_options(local.place.path(), "")).await.unwrap();
    again.resume().await.unwrap();
    let running = cloud_local::running(&local.data()).unwrap();
    assert_eq!(running.len(), 1, "{running:?}");
    assert_eq!(running[0].server_id, ServerId(13));
    let spec = ServerSpec { token: Some(Secret::new("twice")), ..server(11) };
    assert!(matches!(again.ensure_server(&BY, &spec).await, Outcome::Ready(_)));
    assert_eq!(local.start(11).token.unwrap().expose(), "twice");
    assert_eq!(owner_and_mode(&home.join("start.json")), (uid, 0o600));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "root's");
    assert_eq!(owner_and_mode(&secret).0, 0);

    // Both go, and neither takes the other along.
    run_as(uid, &home, &format!("rm -f run/broker.pid; echo '{}' > run/broker.pid; rm -r disk; ln -s ../../disks/{} disk", serde_json::to_string(&other).unwrap(), disk_id(13))).1.await;
    assert_eq!(again.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    assert!(!home.exists() && other.is_alive(), "another's process was killed");
    assert_eq!(again.remove_server(&OTHER, ServerId(13)).await, Outcome::Ready(()));
    assert_eq!(again.remove_disk(&OTHER, disk_id(13)).await, Outcome::Ready(()));
    assert!(local.disk_dir(disk_id(11)).exists());
}

/// Directories in place of what root writes, below an agent that runs and has no record.
#[tokio::test]
async fn directories_in_place_of_records_are_the_trouble_of_one_server() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    make_other(&local, 13).await;
    let (own, other) = (local.agent(11).unwrap(), local.agent(13).unwrap());
    let (uid, home) = (own.uid().unwrap(), local.server_dir(11));
    own.kill();
    wait_for(|| own.is_alive(), |alive| !alive).await;
    let plant = format!(
        "trap '' HUP; exec 9<>lock; flock -n 9; rm -f agent.pid start.json agent.log; \
         for name in agent.pid start.json agent.log; do mkdir -p $name/full; done; \
         n=0; while [ $n -lt 200 ]; do \
         mkdir .start.json.{0}-$n.new .agent.pid.{0}-$n.new; n=$((n + 1)); done; \
         echo done; exec sleep 1000",
        std::process::id()
    );
    let (agent, ended) = run_as(uid, &home, &plant);
    tokio::spawn(ended);
    let said = || fs::read_to_string(home.join("said")).unwrap_or_default();
    wait_for(said, |said| said.contains("done")).await;
    fs::write(home.join("lock"), serde_json::to_vec(&agent).unwrap()).unwrap();

    let again = LocalCloud::open(separate_options(local.place.path(), "")).await.unwrap();
    again.resume().await.unwrap();
    let running = cloud_local::running(&local.data()).unwrap();
    let agents: Vec<_> = running.into_iter().map(|server| server.agent).collect();
    assert_eq!(agents, [Some(agent.clone()), Some(other.clone())]);
    assert_eq!(local.agent(11), Some(agent.clone()), "it is on record again");

    agent.kill();
    wait_for(|| agent.is_alive(), |alive| !alive).await;
    let spec = ServerSpec { token: Some(Secret::new("twice")), ..server(11) };
    assert!(matches!(again.ensure_server(&BY, &spec).await, Outcome::Ready(_)));
    assert_eq!(local.start(11).token.unwrap().expose(), "twice");
    // What can't be mended is told, and the others are looked after all the same.
    fs::write(local.data().join("uids/3"), "broken").unwrap();
    again.resume().await.unwrap();
    assert!(other.is_alive());
}

/// Deeper than a path can name; `host` has the test for any depth.
#[tokio::test]
async fn a_directory_of_any_depth_goes_and_keeps_no_control_plane_from_starting() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    let disk = local.disk_dir(disk_id(11));
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, &disk, flags, Mode::empty()).unwrap();
    for _ in 0..3_000 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    // As a control plane left it that died there.
    let half = local.data().join("disks/.removed-half");
    fs::rename(&disk, &half).unwrap();
    LocalCloud::open(separate_options(local.place.path(), "")).await.unwrap();
    assert!(!half.exists());
}

/// Without the server's mark, in a session of its own.
#[tokio::test]
async fn a_process_without_a_mark_ends_with_the_last_server_of_its_uid() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    for id in [11, 12] {
        local.make(id).await;
    }
    make_other(&local, 13).await;
    let uid = |id: i64| local.agent(id).unwrap().uid().unwrap();
    let stray = |id: i64| {
        let (stray, ended) = run_as(uid(id), &local.server_dir(id), "exec sleep 1000");
        tokio::spawn(ended);
        stray
    };
    let (own, other) = (stray(11), stray(13));
    assert_eq!(local.cloud.remove_server(&BY, ServerId(12)).await, Outcome::Ready(()));
    assert!(own.is_alive(), "another server of its uid is there");
    assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    assert!(!own.is_alive() && other.is_alive());
    cloud_local::stop_all(&local.data(), |_| {}).await.unwrap();
    assert!(!other.is_alive());
    let spec = other_server(13);
    assert!(matches!(local.cloud.ensure_server(&OTHER, &spec).await, Outcome::Ready(_)));
    let other = stray(13);
    assert_eq!(cloud_local::kill_all(&local.data()).await.unwrap(), 1);
    assert!(!other.is_alive());
}

#[tokio::test]
async fn a_process_without_a_mark_ends_with_its_group() {
    if !testing::has_groups() {
        return;
    }
    let local = Local::new().await;
    for id in [11, 12] {
        local.make(id).await;
        let record = fs::read_to_string(local.data().join(format!("groups/{id}"))).unwrap();
        let group: host::Group = serde_json::from_str(&record).unwrap();
        let (stray, ended) = unmarked(local.place.path());
        tokio::spawn(ended);
        group.add(&stray).unwrap();
        if id == 11 {
            assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
        } else {
            cloud_local::holdings::remove_server(&local.data(), ServerId(12)).await.unwrap();
        }
        assert!(!stray.is_alive() && !group.is_there());
    }
}

/// A process of root's own.
fn unmarked(place: &Path) -> (ProcessId, impl Future<Output = host::Exit> + use<>) {
    let spawn = Spawn {
        program: "/bin/sleep".into(),
        arguments: vec!["1000".into()],
        environment: vec![],
        directory: place.into(),
        output: place.join("output"),
    };
    spawn.start().unwrap()
}

#[tokio::test]
async fn a_marker_that_a_tenant_wrote_is_none() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::separate().await;
    local.make(11).await;
    let path = local.disk_dir(disk_id(11));
    let uid = local.agent(11).unwrap().uid().unwrap();
    let forge = "cp castellan-disk.json x; sed -i 's/: 3/: 4/' x; mv -f x castellan-disk.json";
    run_as(uid, &path, forge).1.await;
    let text = fs::read_to_string(path.join("castellan-disk.json")).unwrap();
    assert!(text.contains("\"instance_id\": 4"), "{text}");
    assert_eq!(cloud_local::holdings::holdings(&local.data()).unwrap().disks, []);
    let refused = local.cloud.ensure_disk(&BY, &disk(11)).await;
    assert!(matches!(refused, Outcome::Failed { .. }), "{refused:?}");
}

/// An installation of an earlier release: everything is root's, and its brokers run.
#[tokio::test]
async fn what_runs_as_root_goes_on_and_gets_its_uid_at_the_next_start() {
    if !testing::has_uids() {
        return;
    }
    let local = Local::new().await;
    fs::set_permissions(local.place.path(), fs::Permissions::from_mode(0o711)).unwrap();
    local.make(11).await;
    let before = local.agent(11).unwrap();
    assert_eq!(before.uid(), Some(0));
    let (broker, ended) = unmarked(local.place.path());
    tokio::spawn(ended);
    broker.save(&local.server_dir(11).join("run/broker.pid")).unwrap();
    fs::write(local.disk_dir(disk_id(11)).join("data"), "kept").unwrap();

    let next = LocalCloud::open(separate_options(local.place.path(), "")).await.unwrap();
    assert_eq!(next.resume().await.unwrap(), []);
    assert!(before.is_alive() && broker.is_alive(), "an upgrade restarts nothing");
    let uid = local.start(11).uid.unwrap();
    assert_eq!(owner_and_mode(&local.server_dir(11)).0, 0);

    // Its agent dies: the next one has to reach a broker that runs as root.
    let ensure = async || {
        assert!(matches!(next.ensure_server(&BY, &server(11)).await, Outcome::Ready(_)));
        local.agent(11).unwrap()
    };
    before.kill();
    wait_for(|| before.is_alive(), |alive| !alive).await;
    let second = ensure().await;
    assert_eq!((second.uid(), broker.is_alive()), (Some(0), true));
    // And when nothing of it runs, it is the instance's.
    for process in [&second, &broker] {
        process.kill();
        wait_for(|| process.is_alive(), |alive| !alive).await;
    }
    let third = ensure().await;
    assert_eq!(third.uid(), Some(uid));
    let disk = local.disk_dir(disk_id(11));
    for path in [&local.server_dir(11), &disk, &disk.join("data")] {
        assert_eq!(owner_and_mode(path).0, uid, "{}", path.display());
    }
    assert_eq!(owner_and_mode(&disk.join("castellan-disk.json")).0, 0);
    assert_eq!(next.ensure_disk(&BY, &disk_spec()).await, Outcome::Ready(()));

    // Switched off again, a server keeps the uid that it has.
    third.kill();
    wait_for(|| third.is_alive(), |alive| !alive).await;
    let off = LocalCloud::open(options(local.place.path(), "")).await.unwrap();
    assert!(matches!(off.ensure_server(&BY, &server(11)).await, Outcome::Ready(_)));
    assert_eq!(local.agent(11).unwrap().uid(), Some(uid));
    assert_eq!(owner_and_mode(&local.server_dir(11).join("start.json")), (uid, 0o600));
}

fn disk_spec() -> DiskSpec {
    disk(11)
}

#[tokio::test]
async fn a_server_is_held_to_its_plan_and_its_group_goes_with_it() {
    if !testing::has_groups() {
        return;
    }
    let local = Local::new().await;
    local.make(11).await;
    let agent = local.agent(11).unwrap();
    let groups = || fs::read_to_string(format!("/proc/{}/cgroup", agent.pid)).unwrap();
    let is_in = |text: &str| text.lines().filter(|line| line.ends_with("-11")).count() >= 1;
    assert!(is_in(&groups()), "{}", groups());
    assert_eq!(local.cloud.unlimited(), None);
    let record = fs::read_to_string(local.data().join("groups/11")).unwrap();
    let group: host::Group = serde_json::from_str(&record).unwrap();
    assert!(group.is_there());

    // Out of it, as one whose control plane died at the wrong moment, and back.
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let path = own.lines().find_map(|line| line.split_once(":memory:")).map(|(_, path)| path);
    if let Some(path) = path {
        let procs = format!("/sys/fs/cgroup/memory{path}/cgroup.procs");
        fs::write(procs, agent.pid.to_string()).unwrap();
        let again = LocalCloud::open(options(local.place.path(), "")).await.unwrap();
        again.resume().await.unwrap();
        assert!(groups().lines().any(|line| line.contains(":memory:") && line.ends_with("-11")));
    }
    assert_eq!(local.cloud.remove_server(&BY, ServerId(11)).await, Outcome::Ready(()));
    assert!(!group.is_there() && !local.data().join("groups/11").exists());
}

#[tokio::test]
async fn a_server_that_was_made_without_limits_gets_them() {
    if !testing::has_groups() {
        return;
    }
    let local = Local::new().await;
    let record = local.data().join("groups/11");
    fs::write(&record, "[]").unwrap();
    local.make(11).await;
    let parts = || -> Vec<serde_json::Value> {
        serde_json::from_slice(&fs::read(&record).unwrap()).unwrap()
    };
    let all = parts();
    assert_eq!(all.len(), 3, "{all:?}");
    let cgroup = format!("/proc/{}/cgroup", local.agent(11).unwrap().pid);
    let inside = || fs::read_to_string(&cgroup).unwrap().matches("-11\n").count();
    let first = inside();
    assert!(first >= 1);
    // One where memory alone could be limited.
    fs::write(&record, serde_json::to_vec(&all[..1]).unwrap()).unwrap();
    support::ensure(&local.cloud, &server(11)).await;
    assert_eq!((parts(), inside()), (all, first));
}
