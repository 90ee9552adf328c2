//! Disks that are nearly full, and what producers had before.

use crate::fixture::{Fixture, now};
use model::{DiskGuard, DiskLevel, SlowedQuota};
use store::disk_guards;

pub async fn a_guard_is_known_by_its_server_and_goes_with_it(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, _) = f.instance(account, 9000).await;
    let mut guard = DiskGuard {
        instance_id: instance.id,
        server_id: server.id,
        level: DiskLevel::High,
        since: now(),
    };
    let mut work = f.store.begin().await.unwrap();
    for level in [DiskLevel::High, DiskLevel::Slowed] {
        guard.level = level;
        disk_guards::set(&mut work, &guard).await.unwrap();
        assert_eq!(disk_guards::find(&mut work, server.id).await.unwrap(), Some(guard.clone()));
    }
    assert_eq!(disk_guards::list(&mut work, instance.id).await.unwrap(), [guard]);
    disk_guards::remove(&mut work, server.id).await.unwrap();
    assert_eq!(disk_guards::list(&mut work, instance.id).await.unwrap(), []);
}

pub async fn what_producers_had_is_kept_until_they_are_let_go(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    assert_eq!(disk_guards::slowed(&mut work, instance.id).await.unwrap(), None);
    let quota = |producer_byte_rate: Option<f64>| SlowedQuota {
        user: "<default>".into(),
        client_id: producer_byte_rate.map(|_| "app".into()),
        producer_byte_rate,
        is_set: producer_byte_rate.is_some(),
    };
    for quotas in [vec![], vec![quota(None), quota(Some(1e9))]] {
        disk_guards::set_slowed(&mut work, instance.id, &quotas).await.unwrap();
        assert_eq!(disk_guards::slowed(&mut work, instance.id).await.unwrap(), Some(quotas));
    }
    disk_guards::remove_slowed(&mut work, instance.id).await.unwrap();
    assert_eq!(disk_guards::slowed(&mut work, instance.id).await.unwrap(), None);
}
