//! What disks and servers are let have, and what is asked for.

use crate::fixture::*;
use model::*;
use store::servers::Grant;
use store::*;

pub async fn a_disk_grows_until_the_cloud_has_made_it_so(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let disk = disks::list(&mut work, instance.id).await.unwrap().remove(0);
    disks::advance(&mut work, disk.id, disk.state, DiskState::Formatted).await.unwrap();
    let action = NewAction {
        instance_id: instance.id,
        kind: ActionKind::ResizeDisk,
        servers: &[],
        asked_by: "ada@example.test",
        source: "api".into(),
        generation: instance.generation,
    };
    let action = actions::insert(&mut work, &action, f.now()).await.unwrap();
    disks::grow(&mut work, instance.id, 100).await.unwrap();
    disks::grow(&mut work, instance.id, 50).await.unwrap();
    work.commit().await.unwrap();
    let read = async || disks::list(&mut f.store.reader(), instance.id).await.unwrap().remove(0);
    let state = async || {
        let found = actions::find(&mut f.store.reader(), instance.id, action).await.unwrap();
        found.unwrap().state()
    };
    let found = read().await;
    assert_eq!((found.size_gb, found.made_gb, found.is_to_grow()), (100, 25, true));
    // What servers have reached says nothing of disks.
    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, instance.generation, f.now()).await.unwrap();
    actions::end_disks(&mut work, instance.id, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(state().await, ActionState::Running);
    let mut work = f.store.begin().await.unwrap();
    disks::set_made_gb(&mut work, disk.id, 100).await.unwrap();
    // A step that comes late takes nothing back.
    disks::set_made_gb(&mut work, disk.id, 50).await.unwrap();
    actions::end_disks(&mut work, instance.id, f.now()).await.unwrap();
    work.commit().await.unwrap();
    let found = read().await;
    assert_eq!((found.made_gb, found.is_to_grow()), (100, false));
    assert_eq!(state().await, ActionState::Done);
}

pub async fn what_a_server_is_let_have_is_kept(f: Fixture) {
    let account = f.account().await.account.id;
    let (_, server, _) = f.instance(account, 9000).await;
    let read = async || servers::grant(&mut f.store.reader(), server.id).await.unwrap();
    assert_eq!(read().await, None);
    let grant = Grant { cores: 2, memory_mb: 4096 };
    let mut work = f.store.begin().await.unwrap();
    servers::set_grant(&mut work, server.id, grant).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(read().await, Some(grant));
}
