//! Changes of how many servers an instance has.

use crate::fixture::*;
use model::*;
use std::collections::BTreeMap;
use store::*;

async fn begun(f: &Fixture, from: u32, to: u32) -> Resize {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let mut joining = new_server(ServerId(77), instance.id, 9100);
    (joining.number, joining.node_id, joining.membership) = (2, 2, Membership::Joining);
    servers::insert(&mut work, &joining).await.unwrap();
    let action = NewAction {
        instance_id: instance.id,
        kind: ActionKind::Resize,
        servers: &[],
        asked_by: "ada@example.test",
        source: "api".into(),
        generation: instance.generation,
    };
    let action_id = actions::insert(&mut work, &action, f.now()).await.unwrap();
    let resize = Resize::new(instance.id, action_id, from, to);
    resizes::begin(&mut work, &resize).await.unwrap();
    work.commit().await.unwrap();
    resize
}

fn progress(f: &Fixture) -> MoveProgress {
    MoveProgress {
        bytes_done: 7,
        bytes_left: 9,
        began_at: f.now(),
        observed_at: f.now(),
        moved_at: None,
        partitions_left: 2,
        bytes_per_second: Some(3),
        ready_at: None,
        fading: [0.5, 0.0, 1.0],
    }
}

async fn memberships(f: &Fixture, id: InstanceId) -> Vec<Membership> {
    let rows = servers::list_bare(&mut f.store.reader(), id).await.unwrap();
    rows.iter().map(|server| server.membership).collect()
}

pub async fn a_resize_is_read_as_written_until_it_ends(f: Fixture) {
    let resize = begun(&f, 1, 3).await;
    let id = resize.instance_id;
    let find = async || resizes::find(&mut f.store.reader(), id).await.unwrap();
    assert_eq!(find().await, Some(resize.clone()));
    let mut work = f.store.begin().await.unwrap();
    assert!(resizes::begin(&mut work, &resize).await.is_err(), "one an instance");
    drop(work);

    let progress = progress(&f);
    let mended = BTreeMap::from([("t".to_owned(), Some(2))]);
    let memory = ResizeMemory { mended, ..ResizeMemory::default() };
    let mut work = f.store.begin().await.unwrap();
    resizes::set_progress(&mut work, id, &progress).await.unwrap();
    resizes::set_memory(&mut work, id, &memory).await.unwrap();
    // The cluster may be stopped in the middle, which another action is about.
    actions::end(&mut work, id, i64::MAX, f.now()).await.unwrap();
    assert_eq!(actions::open(&mut work, id).await.unwrap().len(), 1);
    work.commit().await.unwrap();
    assert_eq!(find().await, Some(Resize { progress: Some(progress), memory, ..resize }));

    let mut work = f.store.begin().await.unwrap();
    assert!(!resizes::end(&mut work, id, true).await.unwrap(), "it is not undone");
    assert!(resizes::end(&mut work, id, false).await.unwrap());
    actions::end(&mut work, id, i64::MAX, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(find().await, None);
    let moved = actions::moved(&mut f.store.reader(), resize.action_id).await.unwrap();
    assert_eq!(moved, Some(progress));
    assert_eq!(memberships(&f, id).await, [Membership::Member, Membership::Member]);
    assert_eq!(actions::open(&mut f.store.reader(), id).await.unwrap(), []);
}

pub async fn a_resize_is_undone_once_and_not_while_servers_go(f: Fixture) {
    let id = begun(&f, 1, 2).await.instance_id;
    let mut work = f.store.begin().await.unwrap();
    resizes::set_progress(&mut work, id, &progress(&f)).await.unwrap();
    assert!(resizes::undo(&mut work, id).await.unwrap());
    assert!(!resizes::undo(&mut work, id).await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(memberships(&f, id).await, [Membership::Member, Membership::Leaving]);

    let mut work = f.store.begin().await.unwrap();
    assert!(!resizes::set_removing(&mut work, id, false).await.unwrap());
    assert!(resizes::set_removing(&mut work, id, true).await.unwrap());
    work.commit().await.unwrap();
    let found = resizes::find(&mut f.store.reader(), id).await.unwrap().unwrap();
    assert!(found.removing && found.undo);
    assert_eq!(found.progress, None, "it goes the other way from here on");
}

pub async fn a_node_id_is_given_once(f: Fixture) {
    let id = begun(&f, 1, 2).await.instance_id;
    let mut work = f.store.begin().await.unwrap();
    assert_eq!(instances::take_node_ids(&mut work, id, 2).await.unwrap(), [3, 4]);
    servers::remove(&mut work, ServerId(77)).await.unwrap();
    assert_eq!(instances::take_node_ids(&mut work, id, 1).await.unwrap(), [5]);
    assert!(instances::take_node_ids(&mut work, InstanceId(404), 1).await.unwrap().is_empty());
}
