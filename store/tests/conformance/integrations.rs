//! Where logs and metrics are sent.

use crate::fixture::*;
use model::*;
use store::*;

/// So long that nothing is it by chance.
const KEY: &str = "the-key-of-a-log-service";

fn config(system: IntegrationSystem, written: &[(&str, &str)]) -> IntegrationConfig {
    system.config(written.iter().copied()).unwrap()
}

fn loggly(token: &str) -> NewIntegration {
    let system = IntegrationSystem::Loggly;
    NewIntegration {
        kind: IntegrationKind::Logs,
        system,
        config: config(system, &[("token", token)]),
    }
}

fn newrelic(key: &str) -> NewIntegration {
    let system = IntegrationSystem::Newrelic;
    let kind = IntegrationKind::Metrics;
    NewIntegration { kind, system, config: config(system, &[("license_key", key)]) }
}

async fn add(f: &Fixture, instance: InstanceId, new: &NewIntegration) -> IntegrationId {
    let mut work = f.store.begin().await.unwrap();
    let id = integrations::insert(&mut work, instance, new, now()).await.unwrap().unwrap();
    work.commit().await.unwrap();
    id
}

async fn list(f: &Fixture, instance: InstanceId, kind: IntegrationKind) -> Vec<Integration> {
    integrations::list(&mut f.store.reader(), instance, kind).await.unwrap()
}

async fn revision(f: &Fixture, server: ServerId) -> i64 {
    let found = servers::find_agent(&mut f.store.reader(), server).await.unwrap();
    found.unwrap().integrations_revision
}

pub async fn both_kinds_are_counted_together_and_no_id_is_given_again(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    assert_eq!(add(&f, instance.id, &loggly(KEY)).await, IntegrationId(1));
    assert_eq!(add(&f, instance.id, &newrelic("k")).await, IntegrationId(2));
    assert_eq!(add(&f, other.id, &loggly("t")).await, IntegrationId(1));
    let mut work = f.store.begin().await.unwrap();
    assert!(integrations::delete(&mut work, instance.id, IntegrationId(2)).await.unwrap());
    assert!(!integrations::delete(&mut work, instance.id, IntegrationId(2)).await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(add(&f, instance.id, &newrelic("k2")).await, IntegrationId(3), "never given again");

    let logs = list(&f, instance.id, IntegrationKind::Logs).await;
    let expected = Integration {
        id: IntegrationId(1),
        kind: IntegrationKind::Logs,
        system: IntegrationSystem::Loggly,
        config: loggly(KEY).config,
        error: String::new(),
        created_at: now(),
    };
    assert_eq!(logs, std::slice::from_ref(&expected));
    let metrics = list(&f, instance.id, IntegrationKind::Metrics).await;
    assert_eq!(metrics.iter().map(|it| it.id.0).collect::<Vec<_>>(), [3]);
    let mut reader = f.store.reader();
    let find = integrations::find(&mut reader, instance.id, IntegrationKind::Logs, expected.id);
    assert_eq!(find.await.unwrap(), Some(expected.clone()));
    let wrong_kind =
        integrations::find(&mut reader, instance.id, IntegrationKind::Metrics, expected.id);
    assert_eq!(wrong_kind.await.unwrap(), None);
    let stored = f.everything().await;
    assert!(!stored.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()), "it is sealed");
}

pub async fn settings_belong_to_their_row(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let id = add(&f, instance.id, &loggly("t")).await;
    add(&f, instance.id, &loggly("readable")).await;
    add(&f, other.id, &loggly("another's")).await;
    let of_other =
        format!("SELECT config_sealed FROM integrations WHERE instance_id = {}", other.id);
    let place = format!("instance_id = {} AND id = {id}", instance.id);
    f.raw(&format!("UPDATE integrations SET config_sealed = ({of_other}) WHERE {place}")).await;
    let found = list(&f, instance.id, IntegrationKind::Logs).await;
    let readable: Vec<bool> = found.iter().map(Integration::is_readable).collect();
    assert_eq!(readable, [false, true], "the others are read");

    let mut work = f.store.begin().await.unwrap();
    let better = loggly("put-right").config;
    assert!(integrations::set_config(&mut work, instance.id, id, &better, now()).await.unwrap());
    let missing =
        integrations::set_config(&mut work, instance.id, IntegrationId(9), &better, now());
    assert!(!missing.await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(list(&f, instance.id, IntegrationKind::Logs).await[0].config, better);
}

/// A newer control plane beside this one may write such rows, or may have run before it.
pub async fn one_of_a_system_of_a_later_release_hides_no_other(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let later = add(&f, instance.id, &loggly("t")).await;
    let known = add(&f, instance.id, &loggly("t")).await;
    let place = format!("instance_id = {} AND id = {later}", instance.id);
    f.raw(&format!("UPDATE integrations SET system = 'of-a-later-release' WHERE {place}")).await;
    let logs = list(&f, instance.id, IntegrationKind::Logs).await;
    assert_eq!(logs.iter().map(|it| it.id).collect::<Vec<_>>(), [known]);
    let mut reader = f.store.reader();
    let find = integrations::find(&mut reader, instance.id, IntegrationKind::Logs, later);
    assert_eq!(find.await.unwrap(), None);
    // It keeps its place and its id.
    assert_eq!(integrations::count(&mut reader).await.unwrap(), 2);
    assert_eq!(add(&f, instance.id, &loggly("t")).await, IntegrationId(3));
}

pub async fn an_instance_has_so_many_of_them(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let mut work = f.store.begin().await.unwrap();
    for number in 0..MOST_INTEGRATIONS {
        let new = if number % 2 == 0 { loggly("t") } else { newrelic("k") };
        let id = integrations::insert(&mut work, instance.id, &new, now()).await.unwrap();
        assert_eq!(id.map(|id| id.0), i64::try_from(number + 1).ok());
    }
    let beyond = integrations::insert(&mut work, instance.id, &loggly("t"), now()).await.unwrap();
    assert_eq!(beyond, None);
    let elsewhere = integrations::insert(&mut work, other.id, &loggly("t"), now()).await.unwrap();
    assert_eq!(elsewhere, Some(IntegrationId(1)));
    integrations::delete(&mut work, instance.id, IntegrationId(7)).await.unwrap();
    let again = integrations::insert(&mut work, instance.id, &loggly("t"), now()).await.unwrap();
    assert_eq!(again, Some(IntegrationId(101)));
    work.commit().await.unwrap();
}

pub async fn of_creates_at_once_none_goes_beyond_the_bound_or_gets_an_id_twice(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let other = f.another().await;
    for number in 1..MOST_INTEGRATIONS {
        assert_eq!(add(&f, instance.id, &loggly("t")).await.0, i64::try_from(number).unwrap());
    }
    let create = async |store: &Store| {
        let mut work = store.begin().await.unwrap();
        let id = integrations::insert(&mut work, instance.id, &newrelic("k"), now()).await;
        work.commit().await.unwrap();
        id.unwrap().map(|id| id.0)
    };
    let delete = async |id: i64| {
        let mut work = other.begin().await.unwrap();
        let id = IntegrationId(id);
        assert!(integrations::delete(&mut work, instance.id, id).await.unwrap());
        work.commit().await.unwrap();
    };
    let mut ids = Vec::new();
    for expected in [100, 101] {
        let (one, another) = tokio::join!(create(&f.store), create(&other));
        let made: Vec<_> = one.into_iter().chain(another).collect();
        assert_eq!(made, [expected], "of two creates at once with room for one");
        ids.extend(made);
        if expected == 100 {
            delete(100).await;
        }
    }
    // The newest is deleted while others are made.
    for _ in 0..10 {
        let newest = ids.last().copied().unwrap();
        let (one, another, ()) = tokio::join!(create(&f.store), create(&other), delete(newest));
        let mut made: Vec<_> = one.into_iter().chain(another).collect();
        assert!(made.len() <= 1, "{made:?}");
        if made.is_empty() {
            made.extend(create(&f.store).await);
        }
        assert!(made.iter().all(|id| !ids.contains(id)), "{made:?} after {ids:?}");
        ids.extend(made);
        let kinds = [IntegrationKind::Logs, IntegrationKind::Metrics];
        let lists = [list(&f, instance.id, kinds[0]).await, list(&f, instance.id, kinds[1]).await];
        assert_eq!(lists.concat().len(), MOST_INTEGRATIONS);
    }
    other.close().await;
}

pub async fn agents_hear_of_a_change_of_where_logs_go(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, _) = f.instance(account, 9000).await;
    let mut changes = f.store.changes();
    assert_eq!(revision(&f, server.id).await, 0);
    let id = add(&f, instance.id, &loggly("t")).await;
    assert_eq!(changes.try_recv().unwrap(), Change::Integrations(instance.id));
    assert_eq!(revision(&f, server.id).await, 1);
    // Metrics are sent by the control plane.
    let metrics = add(&f, instance.id, &newrelic("k")).await;
    assert_eq!(changes.try_recv().unwrap(), Change::Integrations(instance.id));
    assert_eq!(revision(&f, server.id).await, 1);
    let mut work = f.store.begin().await.unwrap();
    let config = loggly("t2").config;
    integrations::set_config(&mut work, instance.id, id, &config, now()).await.unwrap();
    integrations::delete(&mut work, instance.id, metrics).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(revision(&f, server.id).await, 2);
    let mut work = f.store.begin().await.unwrap();
    integrations::delete(&mut work, instance.id, id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(revision(&f, server.id).await, 3);
    // Events go by the instance's name and have its tags.
    let mut work = f.store.begin().await.unwrap();
    let (name, tags) = (InstanceName::parse("bills").unwrap(), instance.tags.clone());
    instances::set_labels(&mut work, instance.id, &name, &tags).await.unwrap();
    instances::set_labels(&mut work, instance.id, &name, &tags).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(revision(&f, server.id).await, 4);
    let mut work = f.store.begin().await.unwrap();
    let tags = Tags::parse(vec!["another".into()]).unwrap();
    instances::set_labels(&mut work, instance.id, &name, &tags).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(revision(&f, server.id).await, 5);
}

fn failure(id: IntegrationId, message: &str, minute: i64) -> IntegrationFailure {
    let at = now() + SignedDuration::from_mins(minute);
    IntegrationFailure { id, message: message.into(), dropped: 3, at }
}

pub async fn the_newest_failure_of_any_server_is_the_error(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, first, _) = f.instance(account, 9000).await;
    let id = add(&f, instance.id, &loggly("t")).await;
    let metrics = add(&f, instance.id, &newrelic("k")).await;
    let second = Server {
        number: 2,
        node_id: 2,
        name: "x-02".into(),
        ..new_server(ServerId(77), instance.id, 9050)
    };
    let mut work = f.store.begin().await.unwrap();
    servers::insert(&mut work, &second).await.unwrap();
    work.commit().await.unwrap();
    let say = async |server: ServerId, failures: &[IntegrationFailure]| {
        let mut work = f.store.begin().await.unwrap();
        integrations::set_failures(&mut work, instance.id, server, failures).await.unwrap();
        work.commit().await.unwrap();
    };
    let error = async || list(&f, instance.id, IntegrationKind::Logs).await[0].error.clone();
    let early = failure(id, "the token is refused", 1);
    say(first.id, &[early.clone(), failure(IntegrationId(9), "of none", 1)]).await;
    assert_eq!(error().await, "the token is refused");
    let known = integrations::failures_of(&mut f.store.reader(), first.id).await.unwrap();
    assert_eq!(known, [early], "only of what there is");
    say(second.id, &[failure(id, "it is away", 2), failure(metrics, "not its affair", 2)]).await;
    assert_eq!(error().await, "it is away");
    assert_eq!(list(&f, instance.id, IntegrationKind::Metrics).await[0].error, "");
    say(second.id, &[]).await;
    assert_eq!(error().await, "the token is refused");
    say(second.id, &[failure(id, "it is away", 3)]).await;

    // A server that is gone has nothing to say, and other settings begin anew.
    let mut work = f.store.begin().await.unwrap();
    servers::remove(&mut work, second.id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(error().await, "the token is refused");
    let mut work = f.store.begin().await.unwrap();
    let config = loggly("t2").config;
    integrations::set_config(&mut work, instance.id, id, &config, now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(error().await, "");
    assert_eq!(integrations::failures_of(&mut f.store.reader(), first.id).await.unwrap(), []);
}

pub async fn failures_that_stay_as_they_were_are_not_written_again(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, _) = f.instance(account, 9000).await;
    for _ in 0..11 {
        add(&f, instance.id, &loggly("t")).await;
    }
    let say = async |failures: &[IntegrationFailure]| {
        let mut work = f.store.begin().await.unwrap();
        integrations::set_failures(&mut work, instance.id, server.id, failures).await.unwrap();
        work.commit().await.unwrap();
    };
    let failures = [1, 2, 11].map(|id| failure(IntegrationId(id), "it is away", 1));
    say(&failures).await;
    f.raw("ALTER TABLE integration_errors ADD COLUMN mark BIGINT NOT NULL DEFAULT 0").await;
    f.raw("UPDATE integration_errors SET mark = 1").await;
    let expected = [failures[0].clone(), failure(IntegrationId(2), "it is slow", 2)];
    say(&expected).await;
    f.raw("UPDATE integration_errors SET message = 'written again' WHERE mark = 0").await;
    let known = integrations::failures_of(&mut f.store.reader(), server.id).await.unwrap();
    assert_eq!(known, expected);
    let logs = list(&f, instance.id, IntegrationKind::Logs).await;
    let failing = logs.iter().filter(|it| !it.error.is_empty());
    let errors: Vec<_> = failing.map(|it| (it.id.0, it.error.as_str())).collect();
    assert_eq!(errors, [(1, "it is away"), (2, "it is slow")]);
}

pub async fn integrations_go_with_their_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    let id = add(&f, instance.id, &loggly("t")).await;
    add(&f, instance.id, &newrelic("k")).await;
    let mut work = f.store.begin().await.unwrap();
    let failures = [failure(id, "it is away", 0)];
    integrations::set_failures(&mut work, instance.id, server.id, &failures).await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();
    for kind in IntegrationKind::ALL {
        assert_eq!(list(&f, instance.id, kind).await, []);
    }
    assert_eq!(integrations::failures_of(&mut f.store.reader(), server.id).await.unwrap(), []);
}
