//! What only a database does that several control planes share.

use crate::fixture::*;
use crate::turns::take;
use model::*;
use std::time::Duration;
use store::*;
use test_support::postgres;

/// The next change within some seconds.
async fn hear(changes: &mut tokio::sync::broadcast::Receiver<Change>) -> Option<Change> {
    tokio::time::timeout(Duration::from_secs(5), changes.recv()).await.ok()?.ok()
}

async fn tell(store: &Store, change: Change) {
    let mut work = store.begin().await.unwrap();
    work.announce(change);
    work.commit().await.unwrap();
}

#[tokio::test]
async fn a_change_reaches_the_other_stores_and_each_once() {
    let f = Fixture::postgres().await;
    let other = f.another().await;
    let (mut here, mut there) = (f.store.changes(), other.changes());
    let changes = [
        Change::Instance(InstanceId(7)),
        Change::Desired(ServerId(8)),
        Change::Integrations(InstanceId(7)),
    ];

    let mut dropped = f.store.begin().await.unwrap();
    dropped.announce(Change::Instance(InstanceId(666)));
    drop(dropped);
    for change in changes {
        tell(&f.store, change).await;
    }
    tell(&other, Change::Desired(ServerId(9))).await;
    for expected in changes.into_iter().chain([Change::Desired(ServerId(9))]) {
        assert_eq!(hear(&mut here).await, Some(expected));
    }
    let mut heard = Vec::new();
    while heard.len() < changes.len() + 1 {
        heard.push(hear(&mut there).await.unwrap());
    }
    for expected in changes {
        assert!(heard.contains(&expected), "{heard:?}");
    }
    assert!(here.try_recv().is_err() && there.try_recv().is_err(), "each is heard once");
}

#[tokio::test]
async fn a_store_comes_back_after_its_connections_were_cut() {
    let f = Fixture::postgres().await;
    let other = f.another().await;
    let mut changes = other.changes();
    let mut work = f.store.begin().await.unwrap();
    f.raw(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .await;
    let cut = work.next("things").await;
    assert!(matches!(cut, Err(Error::Away(_))), "{cut:?}");
    drop(work);
    f.store.ping().await.unwrap();

    // The listener connects again; until then changes are not heard.
    let change = Change::Instance(InstanceId(7));
    let listens = async {
        loop {
            tell(&f.store, change).await;
            let heard = tokio::time::timeout(Duration::from_millis(100), changes.recv()).await;
            if let Ok(Ok(heard)) = heard {
                return heard;
            }
        }
    };
    let heard = tokio::time::timeout(Duration::from_secs(20), listens).await;
    assert_eq!(heard.expect("changes are heard again"), change);
}

#[tokio::test]
async fn a_writer_that_stops_in_the_middle_holds_nobody_up() {
    let f = Fixture::postgres().await;
    let other = f.another().await;
    let mut stopped = f.store.begin().await.unwrap();
    assert_eq!(stopped.next("things").await.unwrap(), 1);
    // It does nothing from here on, as after a SIGSTOP.
    let mut work = other.begin().await.unwrap();
    assert_eq!(work.next("things").await.unwrap(), 1);
    work.commit().await.unwrap();
    let late = stopped.commit().await;
    assert!(matches!(late, Err(Error::Away(_))), "{late:?}");
}

#[tokio::test]
async fn leases_are_counted_by_the_clock_of_postgresql() {
    let f = Fixture::postgres().await;
    let account = f.account().await;
    let id = f.instance(account.account.id, 9000).await.0.id;
    let year = SignedDuration::from_hours(24 * 365);
    let lease = take(&f.store, id, "slow", now() - year).await.unwrap();
    assert_eq!(take(&f.store, id, "fast", now() + year).await, None);
    let mut reader = f.store.reader();
    assert!(leases::holds(&mut reader, &lease, now() + year).await.unwrap());
}

#[tokio::test]
async fn metrics_are_due_by_the_clock_of_postgresql() {
    let f = Fixture::postgres().await;
    let account = f.account().await;
    let id = f.instance(account.account.id, 9000).await.0.id;
    let year = SignedDuration::from_hours(24 * 365);
    let (slow, fast) = (now() - year, now() + year);
    let system = IntegrationSystem::Datadog;
    let config = |key| system.config([("api_key", key)]).unwrap();
    let new = NewIntegration { kind: IntegrationKind::Metrics, system, config: config("one") };
    let mut work = f.store.begin().await.unwrap();
    let integration = integrations::insert(&mut work, id, &new, fast).await.unwrap().unwrap();
    work.commit().await.unwrap();
    let limits = DueLimits { total: 10, per_account: 10, per_instance: 10 };
    let due = async |given| {
        let found = integration_turns::due(&mut f.store.reader(), given, limits).await.unwrap();
        found.into_iter().map(|it| (it.id, it.late)).collect::<Vec<_>>()
    };
    let is_just_due = |found: &[(IntegrationId, SignedDuration)]| match found {
        [(id, late)] => *id == integration && !late.is_negative() && late.as_mins() < 10,
        _ => false,
    };
    let created = due(slow).await;
    assert!(is_just_due(&created), "made by a clock that is fast: {created:?}");
    for given in [fast, slow] {
        let mut work = f.store.begin().await.unwrap();
        let config = config("two");
        assert!(
            integrations::set_config(&mut work, id, integration, &config, given).await.unwrap()
        );
        work.commit().await.unwrap();
        let changed = due(slow).await;
        assert!(is_just_due(&changed), "changed at {given}: {changed:?}");
    }
}

#[tokio::test]
async fn several_control_planes_may_start_at_once() {
    let at = Location::Postgres(postgres::database().await);
    assert!(!Store::is_set_up(&at).await.unwrap());
    let open = || Store::open(&at, master_key(1));
    let (a, b, c) = tokio::join!(open(), open(), open());
    for store in [a, b, c] {
        store.unwrap().ping().await.unwrap();
    }
    assert!(!Store::is_set_up(&at).await.unwrap());
}

#[tokio::test]
async fn a_database_that_cant_be_used_is_refused_with_the_reason() {
    let check = async |url: &str, expected: &str| {
        let at = Location::Postgres(Secret::new(url));
        let error = Store::open(&at, master_key(1)).await.unwrap_err();
        let mut said = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            said = format!("{said}: {error}");
            cause = error.source();
        }
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("wrong") && !said.contains("secret"), "{said}");
    };
    check(&postgres::url("wrong", "postgres"), "does not let user castellan in").await;
    check(&postgres::url("secret", "absent"), "has no database absent; make it with").await;
    check("postgres://me:secret@127.0.0.1:1/x", "PostgreSQL at 127.0.0.1:1 can't be reached").await;
    check("mysql://me:secret@127.0.0.1/x", "the database URL can't be read").await;
    check("secret", "the database URL can't be read").await;
}
