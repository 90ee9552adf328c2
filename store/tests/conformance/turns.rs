//! Who may write, who may work on what, and when.

use crate::fixture::*;
use model::*;
use std::collections::BTreeSet;
use store::*;
use tokio::task::JoinSet;

pub async fn a_transaction_that_is_dropped_never_was(f: Fixture) {
    let account = f.account().await;
    let mut changes = f.store.changes();
    let mut work = f.store.begin().await.unwrap();
    let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account.account.id);
    vpcs::insert(&mut work, &vpc).await.unwrap();
    work.announce(Change::Instance(InstanceId(1)));
    drop(work);
    assert_eq!(vpcs::list(&mut f.store.reader(), account.account.id).await.unwrap(), []);
    assert!(changes.try_recv().is_err(), "what never was is not told");
}

pub async fn a_transaction_with_a_failed_statement_is_not_carried_out(f: Fixture) {
    let account = f.account().await;
    let mut changes = f.store.changes();
    let mut work = f.store.begin().await.unwrap();
    let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account.account.id);
    vpcs::insert(&mut work, &vpc).await.unwrap();
    work.announce(Change::Instance(InstanceId(1)));
    let refused = accounts::insert(&mut work, &account).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert!(matches!(work.next("vpcs").await, Err(Error::Failed)));
    assert!(matches!(work.commit().await, Err(Error::Failed)));
    assert_eq!(vpcs::list(&mut f.store.reader(), account.account.id).await.unwrap(), []);
    assert!(changes.try_recv().is_err(), "what never was is not told");
}

pub async fn take(store: &Store, id: InstanceId, owner: &str, at: Timestamp) -> Option<Lease> {
    let mut work = store.begin().await.unwrap();
    let lease = leases::take(&mut work, id, owner, at, LIFE).await.unwrap();
    work.commit().await.unwrap();
    lease
}

pub async fn guard(f: &Fixture, lease: &Lease) -> Result<()> {
    let mut work = f.store.begin().await.unwrap();
    let guarded = leases::guard(&mut work, lease, f.now(), LIFE).await;
    work.commit().await.unwrap();
    guarded
}

pub async fn a_lease_has_one_holder_and_an_old_one_writes_nothing(f: Fixture) {
    let account = f.account().await;
    let id = f.instance(account.account.id, 9000).await.0.id;
    let take = async |owner: &str| take(&f.store, id, owner, f.now()).await;
    let holds =
        async |lease: &Lease| leases::holds(&mut f.store.reader(), lease, f.now()).await.unwrap();
    let first = take("a").await.unwrap();
    assert!(!first.taken_over, "nobody had it before");
    assert_eq!(take("b").await, None);
    f.pass(30).await;
    guard(&f, &first).await.unwrap();

    // Guarding made it last longer; after that it is free. PostgreSQL's own clock goes
    // on as well, so these calls have 25 seconds.
    f.pass(35).await;
    assert_eq!(take("b").await, None);
    assert!(holds(&first).await);
    f.pass(26).await;
    assert!(!holds(&first).await);
    assert!(matches!(guard(&f, &first).await, Err(Error::LeaseLost(_))));
    let second = take("b").await.unwrap();
    assert!(second.epoch > first.epoch && second.taken_over);
    assert!(matches!(guard(&f, &first).await, Err(Error::LeaseLost(_))));

    // Given back, it is free at once, and the epoch goes on.
    let mut work = f.store.begin().await.unwrap();
    leases::release(&mut work, &second).await.unwrap();
    work.commit().await.unwrap();
    let third = take("a").await.unwrap();
    assert!(third.epoch > second.epoch && !third.taken_over);

    // The same owner, as after a crash, takes it over from itself.
    let fourth = take("a").await.unwrap();
    assert!(fourth.epoch > third.epoch && fourth.taken_over);
}

pub async fn of_two_stores_one_gets_the_lease(f: Fixture) {
    let account = f.account().await;
    let id = f.instance(account.account.id, 9000).await.0.id;
    let stores = [f.store.clone(), f.another().await];
    for _ in 0..5 {
        let mut takers = JoinSet::new();
        for number in 0..10 {
            let (store, at) = (stores[number % 2].clone(), f.now());
            takers.spawn(async move { take(&store, id, &format!("worker {number}"), at).await });
        }
        let won: Vec<Lease> = takers.join_all().await.into_iter().flatten().collect();
        assert_eq!(won.len(), 1, "{won:?}");
        f.pass(LIFE.as_secs()).await;
    }
}

pub async fn a_number_of_a_sequence_is_given_once(f: Fixture) {
    let stores = [f.store.clone(), f.another().await];
    let mut takers = JoinSet::new();
    for number in 0..50 {
        let store = stores[number % 2].clone();
        takers.spawn(async move {
            let mut work = store.begin().await.unwrap();
            let taken = work.next("things").await.unwrap();
            work.commit().await.unwrap();
            taken
        });
    }
    let taken: BTreeSet<i64> = takers.join_all().await.into_iter().collect();
    assert_eq!(taken, (1..=50).collect());
}

/// Rules that no unique index keeps, such as that subnets don't overlap.
pub async fn what_is_read_before_a_write_stays_true_until_it(f: Fixture) {
    let account = f.account().await.account.id;
    let stores = [f.store.clone(), f.another().await];
    let mut writers = JoinSet::new();
    for number in 0..10 {
        let store = stores[number % 2].clone();
        writers.spawn(async move {
            let mut work = store.begin().await.unwrap();
            if vpcs::list(&mut work, account).await.unwrap().is_empty() {
                let id = VpcId(work.next("vpcs").await.unwrap());
                vpcs::insert(&mut work, &vpc(id, account)).await.unwrap();
            }
            work.commit().await.unwrap();
        });
    }
    writers.join_all().await;
    assert_eq!(vpcs::list(&mut f.store.reader(), account).await.unwrap().len(), 1);
}

pub async fn a_host_works_on_its_own_instances(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    let (own, other) = (server.host_id, HostId(f.entropy.uuid()));
    let mut reader = f.store.reader();
    assert_eq!(instances::due_on(&mut reader, own, now()).await.unwrap(), [instance.id]);
    assert_eq!(
        instances::next_due_on(&mut reader, own, Timestamp::MAX).await.unwrap(),
        Some(now())
    );
    assert_eq!(instances::due_on(&mut reader, other, now()).await.unwrap(), []);
    assert_eq!(instances::next_due_on(&mut reader, other, Timestamp::MAX).await.unwrap(), None);

    let mut work = f.store.begin().await.unwrap();
    instances::wake_all(&mut work, other, now()).await.unwrap();
    assert_eq!(instances::wakes(&mut work, instance.id).await.unwrap(), 0);
    instances::wake_all(&mut work, own, now()).await.unwrap();
    assert_eq!(instances::wakes(&mut work, instance.id).await.unwrap(), 1);

    // With its last server gone, whoever comes first finishes the tear-down.
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    assert_eq!(instances::due_on(&mut work, other, now()).await.unwrap(), [instance.id]);
}

pub async fn a_wake_up_while_looking_is_not_lost(f: Fixture) {
    let account = f.account().await;
    let (instance, ..) = f.instance(account.account.id, 9000).await;
    let id = instance.id;
    let later = now() + LIFE;
    let mut reader = f.store.reader();
    assert_eq!(instances::due(&mut reader, now()).await.unwrap(), [id]);

    let seen = instances::wakes(&mut reader, id).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    instances::wake(&mut work, id, now()).await.unwrap();
    assert!(!instances::rest(&mut work, id, seen, later).await.unwrap());
    let seen = instances::wakes(&mut work, id).await.unwrap();
    assert!(instances::rest(&mut work, id, seen, later).await.unwrap());
    // By somebody whose clock is ahead.
    instances::wake(&mut work, id, later + LIFE).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(instances::due(&mut reader, now()).await.unwrap(), []);
    let host = new_server(ServerId(1), id, 9000).host_id;
    assert_eq!(
        instances::next_due_on(&mut reader, host, Timestamp::MAX).await.unwrap(),
        Some(later)
    );
}

pub async fn a_snapshot_is_of_one_moment_and_holds_nobody_up(f: Fixture) {
    let account = f.account().await.account.id;
    let mut snapshot = f.store.snapshot().await.unwrap();
    let at_first = vpcs::list(&mut snapshot, account).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account);
    vpcs::insert(&mut work, &vpc).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(vpcs::list(&mut snapshot, account).await.unwrap(), at_first);
    assert_eq!(
        vpcs::list(&mut f.store.reader(), account).await.unwrap(),
        std::slice::from_ref(&vpc)
    );
    drop(snapshot);
    // More than there are connections: each goes back when it is dropped.
    for _ in 0..10 {
        let mut later = f.store.snapshot().await.unwrap();
        assert_eq!(vpcs::list(&mut later, account).await.unwrap(), std::slice::from_ref(&vpc));
    }
}
