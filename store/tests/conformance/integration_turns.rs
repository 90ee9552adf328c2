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

async fn look(f: &Fixture) -> Vec<DueTurn> {
    due(&mut f.store.reader(), f.now(), 10).await.unwrap()
}

async fn take_one(f: &Fixture, store: &Store, due: &DueTurn) -> Option<Turn> {
    let mut work = store.begin().await.unwrap();
    let turn = take(&mut work, due, f.now(), LIFE).await.unwrap();
    work.commit().await.unwrap();
    turn
}

/// Takes the one that is due.
async fn take_first(f: &Fixture) -> Turn {
    let due = look(f).await;
    take_one(f, &f.store, &due[0]).await.unwrap()
}

async fn end(f: &Fixture, turn: &Turn, outcome: &TurnOutcome) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let saved = save(&mut work, turn, outcome, f.now()).await.unwrap();
    work.commit().await.unwrap();
    saved
}

async fn found(f: &Fixture, instance: InstanceId, id: IntegrationId) -> Option<Integration> {
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
    assert!(!end(&f, &turn, &outcome(0, 0, "")).await, "its lease is over");
    assert!(end(&f, &again, &outcome(0, 0, "")).await);
    assert!(!end(&f, &again, &outcome(0, 7, "")).await, "it is over");
    let next = take_first(&f).await;
    assert_eq!((next.sent_through, next.failures), (Some(now()), 0));
    other.close().await;
}

pub async fn what_came_of_a_turn_is_kept_until_the_next(f: Fixture) {
    let instance = instance(&f).await;
    let id = add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    assert!(end(&f, &turn, &outcome(60, 3, "It answered 500")).await);
    assert_eq!(found(&f, instance, id).await.unwrap().error, "It answered 500");
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
    assert!(end(&f, &turn, &outcome(0, 0, "")).await);
    assert_eq!(found(&f, instance, id).await.unwrap().error, "");
}

pub async fn a_turn_of_other_settings_writes_nothing(f: Fixture) {
    let instance = instance(&f).await;
    let id = add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    let config = IntegrationSystem::Datadog.config([("api_key", "other")]).unwrap();
    let mut work = f.store.begin().await.unwrap();
    assert!(integrations::set_config(&mut work, instance, id, &config, f.now()).await.unwrap());
    work.commit().await.unwrap();
    assert!(!end(&f, &turn, &outcome(60, 1, "the key is wrong")).await);
    let next = take_first(&f).await;
    assert_eq!(next.integration.config["api_key"].expose(), "other");
    assert_eq!((next.sent_through, next.integration.error.as_str()), (None, ""));

    let mut work = f.store.begin().await.unwrap();
    assert!(integrations::delete(&mut work, instance, id).await.unwrap());
    work.commit().await.unwrap();
    assert!(!end(&f, &next, &outcome(0, 0, "")).await);
    assert_eq!((found(&f, instance, id).await, look(&f).await), (None, vec![]));
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

pub async fn a_clock_that_is_set_back_holds_no_turn_up_for_as_long(f: Fixture) {
    let instance = instance(&f).await;
    add(&f, instance, IntegrationKind::Metrics).await;
    let turn = take_first(&f).await;
    assert!(end(&f, &turn, &outcome(60, 0, "")).await);
    f.pass(-24 * 3600).await;
    let mut work = f.store.begin().await.unwrap();
    set_back::look_again(&mut work, HostId(f.entropy.uuid()), f.now()).await.unwrap();
    work.commit().await.unwrap();
    f.pass(integration_turns::LONGEST_PAUSE.as_secs() + 1).await;
    assert_eq!(look(&f).await.len(), 1);
}
