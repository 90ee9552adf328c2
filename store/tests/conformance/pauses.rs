//! The operator's hold on the engine.

use crate::fixture::*;
use model::*;
use store::*;

/// An installation row, without which nothing holds a pause of all.
pub async fn install(f: &Fixture) {
    let installation = Installation {
        id: f.entropy.uuid(),
        host_id: HostId(f.entropy.uuid()),
        store_epoch: 1,
        fleet_ca: "PEM".into(),
        fleet_ca_key: Secret::new("fleet key"),
        created_at: now(),
    };
    let mut work = f.store.begin().await.unwrap();
    installation::insert(&mut work, &installation).await.unwrap();
    work.commit().await.unwrap();
}

async fn is_paused(work: &mut Work, id: InstanceId) -> bool {
    instances::look(work, id).await.unwrap().unwrap().paused
}

pub async fn a_pause_is_of_one_or_of_all(f: Fixture) {
    install(&f).await;
    let account = f.account().await.account.id;
    let (one, ..) = f.instance(account, 9000).await;
    let (two, ..) = f.instance(account, 9010).await;
    let mut work = f.store.begin().await.unwrap();
    assert!(pauses::set(&mut work, one.id, true, now()).await.unwrap());
    assert!(!pauses::set(&mut work, InstanceId(777), true, now()).await.unwrap());
    assert!(is_paused(&mut work, one.id).await);
    assert!(!is_paused(&mut work, two.id).await);
    assert!(!pauses::is_all_paused(&mut work).await.unwrap());

    pauses::set_all(&mut work, true, now()).await.unwrap();
    assert!(is_paused(&mut work, two.id).await);
    assert!(pauses::is_all_paused(&mut work).await.unwrap());
    pauses::set_all(&mut work, false, now()).await.unwrap();
    assert!(!is_paused(&mut work, two.id).await);
    assert!(is_paused(&mut work, one.id).await, "its own pause stays");
    let paused: Vec<(InstanceId, bool)> =
        pauses::list(&mut work).await.unwrap().iter().map(|it| (it.id, it.paused)).collect();
    assert_eq!(paused, [(one.id, true), (two.id, false)]);
}

pub async fn a_pause_and_a_resume_wake(f: Fixture) {
    install(&f).await;
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let id = instance.id;
    let due = async || instances::due(&mut f.store.reader(), now()).await.unwrap();
    for (one, paused) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut work = f.store.begin().await.unwrap();
        let wakes = instances::wakes(&mut work, id).await.unwrap();
        instances::rest(&mut work, id, wakes, now() + LIFE).await.unwrap();
        work.commit().await.unwrap();
        assert_eq!(due().await, []);
        let mut work = f.store.begin().await.unwrap();
        if one {
            pauses::set(&mut work, id, paused, now()).await.unwrap();
        } else {
            pauses::set_all(&mut work, paused, now()).await.unwrap();
        }
        work.commit().await.unwrap();
        assert_eq!(due().await, [id], "{one} {paused}");
    }
}
