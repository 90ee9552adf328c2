//! Which groups are taken where, and what they do where this machine has them.

use super::*;
use procfs::FromRead as _;
use procfs::process::MountInfos;

const FIRST: &str = "\
    30 20 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
    31 20 0:2 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
    32 20 0:3 /docker/a /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
    33 20 0:4 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
const SECOND: &str = "30 20 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

fn check(mounts: &str, own: &str, files: &[(&str, &str)], expected: &[(&str, &str)]) {
    let mounts = MountInfos::from_read(mounts.as_bytes()).unwrap();
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
        Some(found.1.to_owned())
    };
    let found = places(&mounts.0, own, &read);
    let found: Vec<(&str, String)> =
        found.iter().map(|it| (it.controller.name(), it.directory.display().to_string())).collect();
    let found: Vec<(&str, &str)> =
        found.iter().map(|(name, path)| (*name, path.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn each_controller_is_taken_where_it_is() {
    let own = "4:memory:/system.slice\n3:cpu,cpuacct:/\n2:pids:/docker/a/b\n0::/\n";
    let expected = [
        ("memory", "/sys/fs/cgroup/memory/system.slice"),
        ("cpu", "/sys/fs/cgroup/cpu,cpuacct/"),
        ("pids", "/sys/fs/cgroup/pids/b"),
    ];
    check(FIRST, own, &[], &expected);
    check(FIRST, "", &[], &[]);
    check("", own, &[], &[]);
}

#[test]
fn the_second_version_is_used_where_no_process_is_in_the_way() {
    let offered = ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    let at = |path: &'static str| ["memory", "cpu", "pids"].map(|name| (name, path));
    check(SECOND, "0::/\n", &[offered], &at("/sys/fs/cgroup"));
    check(SECOND, "0::/user.slice/a.scope\n", &[offered], &at("/sys/fs/cgroup"));
    let unit = "0::/system.slice/castellan.service/plane\n";
    check(SECOND, unit, &[offered], &at("/sys/fs/cgroup/system.slice/castellan.service"));
    check(
        SECOND,
        "0::/\n",
        &[("/sys/fs/cgroup/cgroup.controllers", "memory\n")],
        &at("/sys/fs/cgroup")[..1],
    );
    let limit = ("/sys/fs/cgroup/system.slice/memory.max", "1000000\n");
    check(SECOND, "0::/system.slice/a.service\n", &[offered, limit], &[]);
    let none = ("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    check(SECOND, "0::/system.slice/a.service\n", &[offered, none], &at("/sys/fs/cgroup"));
}

#[test]
fn a_group_gets_the_parts_it_lacks_and_keeps_those_that_are_there() {
    let place = tempfile::tempdir().unwrap();
    let at = |controller, name: &str| Place {
        controller,
        unified: false,
        directory: place.path().join(name),
    };
    let memory = Groups(vec![at(Controller::Memory, "memory")]).group("a", None);
    let moved = Groups(vec![at(Controller::Memory, "elsewhere"), at(Controller::Pids, "pids")]);
    let paths = |known: &Group| -> Vec<PathBuf> {
        let group = moved.group("a", Some(known.clone()));
        group.0.into_iter().map(|part| part.path).collect()
    };
    let expected = |names: [&str; 2]| names.map(|name| place.path().join(name));
    assert_eq!(paths(&memory), expected(["elsewhere/a", "pids/a"]), "it is gone");
    fs::create_dir_all(place.path().join("memory/a")).unwrap();
    assert_eq!(paths(&memory), expected(["memory/a", "pids/a"]));
    let none = Groups(vec![]).group("a", None);
    assert!(!none.is_there());
    assert_eq!(paths(&none), expected(["elsewhere/a", "pids/a"]));
}

fn sleeper(script: &str, directory: &Path) -> (ProcessId, impl Future<Output = crate::Exit>) {
    let spawn = crate::Spawn {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![],
        directory: directory.into(),
        output: directory.join("output"),
    };
    spawn.start().unwrap()
}

/// One that eats more than its group may have is killed, and its neighbour is not.
#[tokio::test]
async fn a_group_without_memory_loses_a_process_of_its_own() {
    if !crate::testing::has_groups() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let groups = Groups::find();
    let name = |word: &str| format!("castellan-test-{}-{word}", std::process::id());
    let limits = Limits { memory: 64 << 20, cores: 1, most_cores: 4, pids: 50 };
    let (greedy, modest) =
        (groups.group(&name("greedy"), None), groups.group(&name("modest"), None));
    assert!(!greedy.is_there());
    for group in [&greedy, &modest] {
        group.make(&limits).unwrap();
        group.make(&Limits { memory: 128 << 20, ..limits }).unwrap();
        group.make(&limits).unwrap();
    }
    assert!(greedy.is_there());

    // A shell's variable is memory. It begins once it is where it belongs.
    let eat = "until [ -e go ]; do sleep 0.01; done; \
               x=0123456789abcdef; while :; do x=$x$x; done";
    let (eater, ended) = sleeper(eat, place.path());
    greedy.add(&eater).unwrap();
    let (neighbour, neighbour_ended) = sleeper("exec sleep 1000", place.path());
    modest.add(&neighbour).unwrap();
    assert_eq!(modest.processes(), std::slice::from_ref(&neighbour));
    fs::write(place.path().join("go"), "").unwrap();
    assert_eq!(ended.await, crate::Exit("signal: 9 (SIGKILL)".into()));
    assert!(neighbour.is_alive());
    neighbour.kill();
    neighbour_ended.await;
    greedy.add(&eater).unwrap();
    for group in [greedy, modest] {
        group.remove().unwrap();
        group.remove().unwrap();
        assert!(!group.is_there());
    }
}
