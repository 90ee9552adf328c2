//! What is found on the host without a control plane, and taken away by name.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use cloud::{Cloud as _, NetworkSpec, Outcome};
use cloud_local::LocalError;
use cloud_local::holdings::{
    Holdings, bytes_under, holdings, remove_disk, remove_network, remove_server,
};
use model::{ServerId, VpcId};
use std::fs;
use support::{BY, Local, disk, disk_id};

#[tokio::test]
async fn everything_is_found_with_its_instance_and_its_processes() {
    let local = Local::new().await;
    assert_eq!(holdings(&local.data()).unwrap(), Holdings::default());
    local.make(11).await;
    let network = NetworkSpec { vpc_id: VpcId(3), subnet: "10.0.0.0/24".into() };
    assert_eq!(local.cloud.ensure_network(&BY, &network).await, Outcome::Ready(()));
    let data = vec![1; 200_000];
    fs::write(local.disk_dir(disk_id(11)).join("log"), &data).unwrap();

    let found = holdings(&local.data()).unwrap();
    assert_eq!(found.networks, [VpcId(3)]);
    let [server] = &found.servers[..] else { panic!("{found:?}") };
    assert_eq!((server.id, server.instance_id), (ServerId(11), Some(disk(11).instance_id)));
    assert_eq!(server.running.as_ref().unwrap().agent, local.agent(11));
    let [disk] = &found.disks[..] else { panic!("{found:?}") };
    assert_eq!((disk.id, disk.server_id), (disk_id(11), ServerId(11)));
    assert!(bytes_under(&disk.path) >= 200_000, "{}", bytes_under(&disk.path));
}

#[tokio::test]
async fn a_server_whose_directory_is_gone_is_found_by_its_processes() {
    let local = Local::new().await;
    local.make(11).await;
    let agent = local.agent(11).unwrap();
    fs::remove_dir_all(local.server_dir(11)).unwrap();
    let found = holdings(&local.data()).unwrap();
    let [server] = &found.servers[..] else { panic!("{found:?}") };
    assert_eq!((server.id, server.instance_id), (ServerId(11), None));
    remove_server(&local.data(), ServerId(11)).await.unwrap();
    assert!(!agent.is_alive());
    assert_eq!(holdings(&local.data()).unwrap().servers, []);
}

#[tokio::test]
async fn one_thing_is_removed_and_nothing_else() {
    let local = Local::new().await;
    local.make(11).await;
    local.make(12).await;
    let (gone, other) = (local.agent(11).unwrap(), local.agent(12).unwrap());
    let refused = remove_disk(&local.data(), disk_id(11)).unwrap_err();
    assert!(matches!(refused, LocalError::InUse { .. }), "{refused}");

    remove_server(&local.data(), ServerId(11)).await.unwrap();
    assert!(!gone.is_alive() && other.is_alive());
    assert!(!local.server_dir(11).exists());
    assert!(local.disk_dir(disk_id(11)).exists(), "a server goes without its disk");
    remove_disk(&local.data(), disk_id(11)).unwrap();
    remove_network(&local.data(), VpcId(3)).unwrap();
    let found = holdings(&local.data()).unwrap();
    assert_eq!(found.disks.iter().map(|disk| disk.id).collect::<Vec<_>>(), [disk_id(12)]);
    assert_eq!(found.servers.len(), 1);
    assert_eq!(local.agent(12), Some(other));
}
