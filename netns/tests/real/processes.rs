//! Programs inside: what they are, what they see, and that their network stays with them.

use crate::fixture::{Host, PORT, own, reaches, sh};
use host::{ProcessId, Spawn};
use netns::Error;
use std::fs;
use std::net::SocketAddrV4;
use std::path::Path;
use std::time::Duration;

const UID: u32 = 1_999_999_000;

fn shell(directory: &Path, script: &str) -> Spawn {
    Spawn {
        program: "/bin/bash".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![],
        directory: "/".into(),
        output: directory.join("said"),
    }
}

#[tokio::test]
async fn a_program_inside_has_that_network_and_no_privileges() {
    let Some(mut host) = Host::new("program") else { return };
    let network = host.network(&[5]);
    host.make(std::slice::from_ref(&network));
    let place = host::testing::tempdir();
    rustix::fs::chown(place.path(), Some(rustix::fs::Uid::from_raw(UID)), None).unwrap();
    let script = "id -u; id -G; cut -d: -f1 /proc/net/dev; \
                  grep -E 'CapBnd|CapEff|NoNewPrivs' /proc/self/status; \
                  ip link set lo down 2>/dev/null || echo may not";
    let inside = host.inside(&network, 5);
    let ours = fs::read_link("/proc/self/ns/net").unwrap();
    let (_, ended) = shell(place.path(), script).start_within(&inside, Some(UID)).unwrap();
    assert_eq!(ended.await.0, "exit status: 0");
    let said = fs::read_to_string(place.path().join("said")).unwrap();
    for expected in [
        format!("{UID}\n{UID}\n").as_str(),
        "eth0",
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "NoNewPrivs:\t1",
        "may not",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(fs::read_link("/proc/self/ns/net").unwrap(), ours);
    host.end();
}

#[tokio::test]
async fn a_network_in_which_something_runs_is_not_removed() {
    let Some(mut host) = Host::new("in use") else { return };
    let network = host.network(&[5, 6]);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 6);
    let place = host::testing::tempdir();
    let inside = host.inside(&network, 5);
    let (process, ended) =
        shell(place.path(), "exec sleep 1000").start_within(&inside, None).unwrap();
    let refused = host.networks.remove(network.slot).unwrap_err();
    let Error::InUse { pids, .. } = &refused else { panic!("{refused}") };
    assert_eq!(pids.as_str(), process.pid.to_string());
    assert!(reaches(None, Host::alias(&network, 6)));
    // One that is described no more is cut off, and waited for.
    let mut fewer = network.clone();
    fewer.members.remove(&own(5));
    let refused = host.networks.make(&fewer, &host.control).unwrap_err();
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    assert_eq!(sh(Some(&inside), "ip -o -4 route"), "");
    assert!(reaches(None, Host::alias(&network, 6)));
    process.kill();
    ended.await;
    host.networks.make(&fewer, &host.control).unwrap();
    assert!(!inside.exists());
    host.networks.remove(network.slot).unwrap();
    host.end();
}

/// Who takes away the name of a namespace takes it from nobody who lives there.
#[tokio::test]
async fn a_program_keeps_its_network_if_that_loses_its_name() {
    let Some(mut host) = Host::new("nameless") else { return };
    let network = host.network(&[5, 6]);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 6);
    let place = host::testing::tempdir();
    let inside = host.inside(&network, 5);
    let (process, ended) =
        shell(place.path(), "exec sleep 1000").start_within(&inside, None).unwrap();
    let there = || fs::read_link(format!("/proc/{}/ns/net", process.pid)).unwrap();
    let before = there();
    sh(None, &format!("ip netns del {}", inside.file_name().unwrap().to_str().unwrap()));
    assert!(!inside.exists());
    let own_pid = i32::try_from(std::process::id()).unwrap();
    host.networks.adopt(&network, own(5), own_pid).unwrap();
    assert!(!inside.exists(), "the host is nobody's member");
    host.networks.adopt(&network, own(5), process.pid).unwrap();
    assert!(inside.exists());
    assert_eq!(host.make(std::slice::from_ref(&network)), Vec::<String>::new());
    assert!(reaches(Some(&inside), SocketAddrV4::new(own(6), PORT)));
    assert_eq!(there(), before);
    process.kill();
    ended.await;
    host.end();
}

/// Others on this host have what everybody has, and not the servers behind it.
#[tokio::test]
async fn other_users_of_the_host_do_not_reach_members() {
    let Some(mut host) = Host::new("users") else { return };
    let network = host.network(&[5]);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let alias = Host::alias(&network, 5);
    assert!(reaches(None, alias));
    let place = host::testing::tempdir();
    rustix::fs::chown(place.path(), Some(rustix::fs::Uid::from_raw(UID)), None).unwrap();
    let script = format!("exec 3<>/dev/tcp/{}/{}", alias.ip(), alias.port());
    let spawn = shell(place.path(), &script);
    let (process, ended) = spawn.start_as(UID).unwrap();
    let exit = tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    assert_eq!(exit.0, "exit status: 1");
    assert!(ProcessId::from_pid(process.pid).is_none());
    let (_, ended) = spawn.start().unwrap();
    assert_eq!(ended.await.0, "exit status: 0");
    host.end();
}
