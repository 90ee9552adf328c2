//! Turns of integrations: each is one control plane's at a time.

use crate::fixture::*;
use model::*;
use store::integration_turns::{due, next_due, save, take};
use store::*;

async fn instance(f: &Fixture) -> InstanceId {
    let account = f.account().await.account.id;
    f.instance(account, 9000).await.0.id
}

async fn add(f: &Fixture, instance: InstanceId, kind: IntegrationKind) -> IntegrationId {
    let system = IntegrationSystem::Datadog;
    let config = system.config([("api_key", "k3y")]).unwrap();
    let new = NewIntegration { kind, system, config };
    let mut work = f.store.begin().await.unwrap();
    let id = integrations::insert(&mut work, instance, &new, f.now()).await.unwrap().unwrap();
    work.commit().await.unwrap();
    id
}

const LIMITS: DueLimits = DueLimits { total: 100, per_account: 16, per_instance: 4 };

async fn look(f: &Fixture) -> Vec<DueTurn> {
    due(&mut f.store.reader(), f.now(), LIMITS).await.unwrap()
}

async fn take_one(f: &Fixture, store: &Store, due: &DueTurn) -> Option<Turn> {
    let mut work = store.begin().await.unwrap();
    let now = work.now(f.now()).await.unwrap();
    let turn = take(&mut work, due, now, LIFE).await.unwrap();
    work.commit().await.unwrap();
    turn
}

/// Takes the one that is due.
async fn take_first(f: &Fixture) -> Turn {
    let due = look(f).await;
    take_one(f, &f.store, &due[0]).await.unwrap()
}

async fn save_outcome(f: &Fixture, turn: &Turn, outcome: &TurnOutcome) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let now = work.now(f.now()).await.unwrap();
    let saved = save(&mut work, turn, outcome, now).await.unwrap();
    work.commit().await.unwrap();
    saved
}

async fn find(f: &Fixture, instance: InstanceId, id: IntegrationId) -> Option<Integration> {
    let kind = IntegrationKind::Metrics;
    integrations::find(&mut f.store.reader(), instance, kind, id).await.unwrap()
}

fn outcome(seconds: i64, failures: u32, error: &str) -> TurnOutcome {
    let pause = SignedDuration::from_secs(seconds);
    TurnOutcome { pause, sent_through: Some(now()), failures, error: error.into() }
}

pub async fn a_turn_is_taken_by_one_and_again_after_the_lease(f: Fixture) {
    let instance = instance(&f).await;
    assert_eq!(next_due(&mut f.store.reader(), f.now()).await.unwrap(), None);
    add(&f, instance, IntegrationKind::Logs).await;
    assert_eq!(look(&f).await, [], "agents send logs");
    let id = add(&f, instance, IntegrationKind::Metrics).await;
    let other = f.another().await;
    let seen = look(&f).await;
    assert_eq!((seen.len(), seen[0].instance_id, seen[0].id), (1, instance, id));
    let turn = take_one(&f, &other, &seen[0]).await.unwrap();
    assert_eq!(turn.integration.config["api_key"].expose(), "k3y");
    assert_eq!((turn.sent_through, turn.failures), (None, 0));
    assert_eq!(take_one(&f, &f.store, &seen[0]).await, None, "the other has it");
    assert_eq!(look(&f).await, []);
    let wait = next_due(&mut f.store.reader(), f.now()).await.unwrap().unwrap();
    assert!(wait <= LIFE && wait > LIFE - SignedDuration::from_secs(30), "{wait:?}");

    // The other one dies, and comes back late.
    f.pass(LIFE.as_secs() + 1).await;
    let again = take_first(&f).await;
    assert!(!save_outcome(&f, &turn, &outcome(0, 0, "")).await, "its lease is over");
    assert!(save_outcome(&f, &again, &outcome(0, 0, "")).await);
    assert!(!save_outcome(&f, &again, &outcome(0, 7, "")).await, "it is over");
    let next = take_first(&f).await;
    assert_eq!((next.sent_through, next.failures), (Some(now()), 0));
    other.close().await;
}

/// So that a transaction of many turns asks the database once.
pub async fn turns_are_counted_from_the_time_that_is_given(f: Fixture) {
    let instance = instance(&f).await;
    add(&f, instance, IntegrationKind::Metrics).await;
    let found = look(&f).await;
    let earlier = SignedDuration::from_secs(3600);
    let is_about = |found: SignedDuration, expected: SignedDuration| {
        (found - expected).abs() < SignedDuration::from_mins(10)
    };
    let mut work = f.store.begin().await.unwrap();
    let given = work.now(f.now()).await.unwrap() - earlier;
    let turn = take(&mut work, &found[0], given, LIFE).await.unwrap().unwrap();
    let wait = next_due(&mut work, f.now()).await.unwrap().unwrap();
    assert!(is_about(wait, LIFE - earlier), "{wait:?}");
    assert!(save(&mut work, &turn, &outcome(3000, 0, ""), given).await.unwrap());
    let wait = next_due(&mut work, f.now()).await.unwrap().unwrap();
    assert!(is_about(wait, SignedDuration::from_secs(3000) - earlier), "{wait:?}");
}

pub async fn what_came_of_a_turn_is_kept_until_the_next(f: Fixture) {
    let instance = instance(&f).await;
    let id = add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    assert!(save_outcome(&f, &turn, &outcome(60, 3, "It answered 500")).await);
    assert_eq!(find(&f, instance, id).await.unwrap().error, "It answered 500");
    assert_eq!(look(&f).await, []);
    // Those that did not fail go first.
    f.pass(100).await;
    let second = add(&f, instance, IntegrationKind::Metrics).await;
    let due = look(&f).await;
    assert_eq!(
        due.iter().map(|it| (it.id, it.failures)).collect::<Vec<_>>(),
        [(second, 0), (id, 3)]
    );
    assert!(due[1].late >= SignedDuration::from_secs(40), "{:?}", due[1].late);
    let turn = take_one(&f, &f.store, &due[1]).await.unwrap();
    assert_eq!((turn.failures, turn.integration.error.as_str()), (3, "It answered 500"));
    assert!(save_outcome(&f, &turn, &outcome(0, 0, "")).await);
    assert_eq!(find(&f, instance, id).await.unwrap().error, "");
}

pub async fn a_turn_of_other_settings_writes_nothing(f: Fixture) {
    let instance = instance(&f).await;
    let id = add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    let config = IntegrationSystem::Datadog.config([("api_key", "other")]).unwrap();
    let mut work = f.store.begin().await.unwrap();
    assert!(integrations::set_config(&mut work, instance, id, &config, f.now()).await.unwrap());
    work.commit().await.unwrap();
    let is_current = async |turn: &Turn| {
        let settings = turn.settings();
        integration_turns::are_current(&mut f.store.reader(), settings).await.unwrap()
    };
    assert!(!is_current(&turn).await);
    assert!(!save_outcome(&f, &turn, &outcome(60, 1, "the key is wrong")).await);
    let next = take_first(&f).await;
    assert_eq!(next.integration.config["api_key"].expose(), "other");
    assert_eq!((next.sent_through, next.integration.error.as_str()), (None, ""));
    assert!(is_current(&next).await);

    let mut work = f.store.begin().await.unwrap();
    assert!(integrations::delete(&mut work, instance, id).await.unwrap());
    work.commit().await.unwrap();
    assert!(!is_current(&next).await);
    assert!(!save_outcome(&f, &next, &outcome(0, 0, "")).await);
    assert_eq!((find(&f, instance, id).await, look(&f).await), (None, vec![]));
}

/// Puts in integrations like this one, with the ids from 1000 on, that have been due longer.
async fn multiply(f: &Fixture, of: (InstanceId, IntegrationId), count: u32, system: &str) {
    let mut selects = Vec::new();
    for id in 1000..1000 + count {
        selects.push(format!(
            "SELECT instance_id, {id}, kind, '{system}', config_sealed, version, created_at, \
             due_at - 5000000 FROM integrations WHERE instance_id = {} AND id = {}",
            of.0, of.1
        ));
    }
    for part in selects.chunks(100) {
        f.raw(&format!(
            "INSERT INTO integrations (instance_id, id, kind, system, config_sealed, version, \
             created_at, due_at) {}",
            part.join(" UNION ALL ")
        ))
        .await;
    }
}

pub async fn an_account_with_many_turns_hides_no_other(f: Fixture) {
    let account = f.account().await.account.id;
    let mut crowd = Vec::new();
    for port in 0..11 {
        let instance = f.instance(account, 9000 + 10 * port).await.0.id;
        let id = add(&f, instance, IntegrationKind::Metrics).await;
        multiply(&f, (instance, id), 99, "datadog").await;
        crowd.push(instance);
    }
    let other = f.account().await.account.id;
    let alone = f.instance(other, 9500).await.0.id;
    add(&f, alone, IntegrationKind::Metrics).await;

    let limits = DueLimits { total: 1000, per_account: 16, per_instance: 4 };
    let count_due = async |limits| -> Vec<usize> {
        let found = due(&mut f.store.reader(), f.now(), limits).await.unwrap();
        let of = |id: InstanceId| found.iter().filter(|it| it.instance_id == id).count();
        crowd.iter().chain([&alone]).map(|id| of(*id)).collect()
    };
    let counts = count_due(limits).await;
    assert_eq!((counts[11], counts[..11].iter().sum::<usize>()), (1, 16), "of 1,100 and one");
    assert!(counts.iter().all(|count| *count <= 4), "of one instance: {counts:?}");
    // The crowd's have been due for longer, but of each account one comes first.
    let found = due(&mut f.store.reader(), f.now(), limits).await.unwrap();
    let place = found.iter().position(|it| it.instance_id == alone);
    assert_eq!(place, Some(1), "{found:?}");
    // Nor does a system of which many are due hide those of another.
    multiply(&f, (alone, IntegrationId(1)), 1, "librato").await;
    f.raw("UPDATE integrations SET due_at = due_at + 4999999 WHERE system = 'librato'").await;
    let few = DueLimits { total: 2, ..limits };
    let found = due(&mut f.store.reader(), f.now(), few).await.unwrap();
    assert!(found.iter().any(|it| it.system == IntegrationSystem::Librato), "{found:?}");
}

pub async fn an_instance_that_is_deleted_has_no_turns(f: Fixture) {
    let instance = instance(&f).await;
    add(&f, instance, IntegrationKind::Metrics).await;
    assert_eq!(look(&f).await.len(), 1);
    let mut work = f.store.begin().await.unwrap();
    instances::set_deleted(&mut work, instance, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(look(&f).await, []);
    assert_eq!(next_due(&mut f.store.reader(), f.now()).await.unwrap(), None);
}

/// A newer control plane beside this one may write such rows, or may have run before it.
pub async fn a_system_of_a_later_release_holds_up_no_turn_of_another(f: Fixture) {
    let instance = instance(&f).await;
    let later = add(&f, instance, IntegrationKind::Metrics).await;
    let seen = look(&f).await;
    f.raw("UPDATE integrations SET system = 'of-a-later-release'").await;
    assert_eq!(take_one(&f, &f.store, &seen[0]).await, None);
    f.raw("UPDATE integrations SET due_at = 0").await;
    assert_eq!(look(&f).await, []);
    assert_eq!(next_due(&mut f.store.reader(), f.now()).await.unwrap(), None);
    assert_eq!(find(&f, instance, later).await, None);

    let known = add(&f, instance, IntegrationKind::Metrics).await;
    assert_eq!(look(&f).await.iter().map(|due| due.id).collect::<Vec<_>>(), [known]);
    assert_eq!(take_first(&f).await.integration.id, known);
    let wait = next_due(&mut f.store.reader(), f.now()).await.unwrap().unwrap();
    assert!(wait > SignedDuration::ZERO, "{wait:?}");
}

pub async fn a_clock_that_is_set_back_holds_no_turn_up_for_as_long(f: Fixture) {
    let instance = instance(&f).await;
    add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    assert!(save_outcome(&f, &turn, &outcome(60, 0, "")).await);
    f.pass(-24 * 3600).await;
    let mut work = f.store.begin().await.unwrap();
    set_back::look_again(&mut work, HostId(f.entropy.uuid()), f.now()).await.unwrap();
    work.commit().await.unwrap();
    f.pass(integration_turns::LONGEST_PAUSE.as_secs() + 1).await;
    assert_eq!(look(&f).await.len(), 1);
}
