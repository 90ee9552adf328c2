//! What a copy takes over from the world that it is restored into.

use crate::copies::Copies;
use crate::fixture::*;
use model::IntegrationKind as Kind;
use model::*;
use store::backup::{self, Past};
use store::*;

#[tokio::test]
async fn numbers_that_nobody_knows_of_are_leapt_over() {
    let it = Copies::new().await;
    let (instance, server, _) = it.f.instance(it.account, 9000).await;
    let mut work = it.f.store.begin().await.unwrap();
    assert_eq!(work.next("invoice_numbers").await.unwrap(), 1);
    let mut past = Past { is_lost: true, ..Past::default() };
    past.note("servers", 90);
    backup::go_beyond(&mut work, &past).await.unwrap();
    assert_eq!(work.next("servers").await.unwrap(), 1_000_002);
    assert_eq!(work.next("invoice_numbers").await.unwrap(), 2, "invoices have no gaps");
    let given = instances::take_node_ids(&mut work, instance.id, 1).await.unwrap();
    assert_eq!(given, [server.node_id + 1001]);
}

/// Also those of servers that were added since the backup and removed again.
#[tokio::test]
async fn no_node_id_is_given_twice_after_a_restore() {
    let it = Copies::new().await;
    let (instance, ..) = it.f.instance(it.account, 9000).await;
    let copy = it.copy("copy.db").await;
    let mut work = it.f.store.begin().await.unwrap();
    let given = instances::take_node_ids(&mut work, instance.id, 2).await.unwrap();
    work.commit().await.unwrap();
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    for past in [&past, &Past::default()] {
        backup::go_beyond(&mut work, past).await.unwrap();
    }
    let next = instances::take_node_ids(&mut work, instance.id, 1).await.unwrap();
    assert_eq!(next, [given[1] + 1], "after {given:?}");
}

/// An agent keeps what waits to be sent by the id, and knows by the revision what it has.
#[tokio::test]
async fn no_integration_is_taken_for_one_of_before_a_restore() {
    let it = Copies::new().await;
    let (instance, server, _) = it.f.instance(it.account, 9000).await;
    let copy = it.copy("copy.db").await;
    let system = IntegrationSystem::Loggly;
    let kind = IntegrationKind::Logs;
    let config = system.config([("token", "t")]).unwrap();
    let new = NewIntegration { kind, system, config };
    let add = async |store: &Store| {
        let mut work = store.begin().await.unwrap();
        let id = integrations::insert(&mut work, instance.id, &new, now()).await.unwrap();
        work.commit().await.unwrap();
        let agent = servers::find_agent(&mut store.reader(), server.id).await.unwrap();
        (id.unwrap().0, agent.unwrap().integrations_revision)
    };
    let before = [add(&it.f.store).await, add(&it.f.store).await];
    assert_eq!(before, [(1, 1), (2, 2)]);
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    backup::go_beyond(&mut work, &past).await.unwrap();
    work.commit().await.unwrap();
    let (id, revision) = add(&restored).await;
    assert_eq!(id, 3);
    assert!(revision > 1 << 32, "{revision}");
    let mut work = restored.begin().await.unwrap();
    backup::go_beyond(&mut work, &Past { is_lost: true, ..Past::default() }).await.unwrap();
    work.commit().await.unwrap();
    let (id, again) = add(&restored).await;
    assert_eq!(id, 1004);
    assert!(again > revision + (1 << 31), "{again}");
}

/// What was removed or replaced since would be called again, with keys of that time.
#[tokio::test]
async fn integrations_are_as_in_the_store_before() {
    let it = Copies::new().await;
    let (instance, server, _) = it.f.instance(it.account, 9000).await;
    let system = IntegrationSystem::Datadog;
    let config = |key: &str| system.config([("api_key", key)]).unwrap();
    let add = async |store: &Store, kind| {
        let new = NewIntegration { kind, system, config: config("old") };
        let mut work = store.begin().await.unwrap();
        let id = integrations::insert(&mut work, instance.id, &new, now()).await.unwrap();
        work.commit().await.unwrap();
        id.unwrap()
    };
    let [removed, changed] =
        [add(&it.f.store, Kind::Logs).await, add(&it.f.store, Kind::Logs).await];
    let [sends, kept] =
        [add(&it.f.store, Kind::Metrics).await, add(&it.f.store, Kind::Metrics).await];
    let mut work = it.f.store.begin().await.unwrap();
    let away = IntegrationFailure { id: removed, message: "away".into(), dropped: 0, at: now() };
    integrations::set_failures(&mut work, instance.id, server.id, &[away]).await.unwrap();
    work.commit().await.unwrap();
    let (copy, alone) = (it.copy("copy.db").await, it.copy("alone.db").await);

    let mut work = it.f.store.begin().await.unwrap();
    assert!(integrations::delete(&mut work, instance.id, removed).await.unwrap());
    let new = config("new");
    assert!(integrations::set_config(&mut work, instance.id, changed, &new, now()).await.unwrap());
    let limits = DueLimits { total: 9, per_account: 9, per_instance: 9 };
    let due = integration_turns::due(&mut work, now(), limits).await.unwrap();
    assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), [sends, kept]);
    let turn = integration_turns::take(&mut work, &due[0], now(), LIFE).await.unwrap().unwrap();
    let outcome =
        TurnOutcome { pause: LIFE, sent_through: Some(now()), failures: 0, error: String::new() };
    assert!(integration_turns::save(&mut work, &turn, &outcome, now()).await.unwrap());
    work.commit().await.unwrap();
    add(&it.f.store, Kind::Logs).await;
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    // A second time changes nothing.
    for _ in 0..2 {
        let mut work = restored.begin().await.unwrap();
        backup::go_beyond(&mut work, &past).await.unwrap();
        work.commit().await.unwrap();
    }
    let mut reader = restored.reader();
    let logs = integrations::list(&mut reader, instance.id, Kind::Logs).await.unwrap();
    let logs: Vec<_> = logs.into_iter().map(|it| (it.id, it.config)).collect();
    assert_eq!(logs, [(changed, config("new"))], "those of the backup, with the keys of now");
    assert_eq!(integrations::failures_of(&mut reader, server.id).await.unwrap(), []);
    let due = integration_turns::due(&mut reader, now() + LIFE, limits).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    let mut sent = Vec::new();
    for due in due {
        let turn = integration_turns::take(&mut work, &due, now(), LIFE).await.unwrap().unwrap();
        sent.push((turn.integration.id, turn.sent_through));
    }
    sent.sort_unstable();
    assert_eq!(sent, [(sends, Some(now())), (kept, None)], "nothing is sent again");
    drop(work);

    // Where no store says what became of them, they are as in the backup.
    let restored = Store::open(&alone, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    backup::go_beyond(&mut work, &Past { is_lost: true, ..Past::default() }).await.unwrap();
    assert_eq!(integrations::count(&mut work).await.unwrap(), 4);
    let logs = integrations::list(&mut work, instance.id, Kind::Logs).await.unwrap();
    assert_eq!(logs.len(), 2);
}

/// Other rules may have been applied since.
#[tokio::test]
async fn rules_are_applied_anew_after_a_restore() {
    let it = Copies::new().await;
    let (instance, server, _) = it.f.instance(it.account, 9000).await;
    let mut work = it.f.store.begin().await.unwrap();
    let applied = firewalls::Applied { before: 0, revision: 1, enforced: true };
    assert!(firewalls::set_applied(&mut work, server.id, applied).await.unwrap());
    backup::go_beyond(&mut work, &Past::default()).await.unwrap();
    let progress = firewalls::progress(&mut work, instance.id).await.unwrap();
    assert_eq!(progress.iter().map(|it| it.revision).collect::<Vec<_>>(), [0]);
}

/// What was revoked since would be good again by the backup.
#[tokio::test]
async fn no_agent_is_let_in_with_a_key_of_that_time() {
    let it = Copies::new().await;
    let (instance, server, _) = it.f.instance(it.account, 9000).await;
    let (_, other, _) = it.f.instance(it.account, 9010).await;
    let mut work = it.f.store.begin().await.unwrap();
    let token = Token { hash: "hash".into(), expires_at: now() + LIFE };
    servers::set_token(&mut work, server.id, &token).await.unwrap();
    assert!(servers::set_enrolled(&mut work, server.id, "key", now()).await.unwrap());
    let incarnations = [(server.id, 3), (ServerId(99), 5)].into();
    let past = Past { incarnations, ..Past::default() };
    backup::go_beyond(&mut work, &past).await.unwrap();
    let found = servers::list(&mut work, instance.id).await.unwrap().remove(0);
    assert_eq!((found.server.incarnation, found.enrolled_key), (3, None));
    assert_eq!(found.server.enrolled_at, None);
    assert!(found.token.is_none_or(|token| token.hash.is_empty() && token.expires_at < now()));
    let other = servers::find(&mut work, other.id).await.unwrap().unwrap();
    assert_eq!((other.server.incarnation, other.token), (1, None), "it was never made");
    backup::go_beyond(&mut work, &Past::default()).await.unwrap();
    let found = servers::find_bare(&mut work, server.id).await.unwrap().unwrap();
    assert_eq!(found.incarnation, 3, "a host that knows less takes nothing back");
}

#[tokio::test]
async fn a_stop_of_what_runs_is_taken_back() {
    let it = Copies::new().await;
    let (stopped, server, _) = it.f.instance(it.account, 9000).await;
    let (deleted, other, _) = it.f.instance(it.account, 9010).await;
    let mut work = it.f.store.begin().await.unwrap();
    for id in [stopped.id, deleted.id] {
        instances::set_stopped(&mut work, id, true, now()).await.unwrap();
    }
    instances::set_deleted(&mut work, deleted.id, now()).await.unwrap();
    let stop = NewAction {
        instance_id: stopped.id,
        kind: ActionKind::ClusterStop,
        servers: &[],
        asked_by: "ada@example.test",
        source: "cli".into(),
        generation: 2,
    };
    let stop = actions::insert(&mut work, &stop, now()).await.unwrap();
    let held = [server.id, other.id, ServerId(99)];
    let run_on = backup::run_on(&mut work, &held, now()).await.unwrap();

    assert_eq!(run_on.into_iter().collect::<Vec<_>>(), [stopped.id]);
    let found = instances::find(&mut work, stopped.id).await.unwrap().unwrap();
    assert_eq!((found.stopped, found.generation), (false, 3));
    let made = async |work: &mut Work, id: ServerId| {
        servers::find_bare(work, id).await.unwrap().unwrap().state == model::ServerState::Made
    };
    assert_eq!((made(&mut work, server.id).await, made(&mut work, other.id).await), (true, false));
    let action = actions::find(&mut work, stopped.id, stop).await.unwrap().unwrap();
    assert_eq!(action.state(), ActionState::Cancelled);
}

#[tokio::test]
async fn what_was_revoked_or_signed_since_is_known_from_the_store_before() {
    let it = Copies::new().await;
    let (instance, ..) = it.f.instance(it.account, 9000).await;
    let signed = |serial: &str| Certificate {
        serial: serial.repeat(16).parse().unwrap(),
        cn: UserName::parse("orders").unwrap(),
        issued_at: now(),
        expires_at: now() + LIFE,
        revoked_at: None,
    };
    let (known, later) = (signed("4e"), signed("4f"));
    let mut work = it.f.store.begin().await.unwrap();
    certificates::insert(&mut work, instance.id, &known).await.unwrap();
    work.commit().await.unwrap();
    let copy = it.copy("copy.db").await;
    let (made_since, ..) = it.f.instance(it.account, 9010).await;
    let mut work = it.f.store.begin().await.unwrap();
    assert!(certificates::revoke(&mut work, instance.id, &known.serial, now()).await.unwrap());
    certificates::insert(&mut work, instance.id, &later).await.unwrap();
    certificates::insert(&mut work, made_since.id, &later).await.unwrap();
    work.commit().await.unwrap();
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    backup::go_beyond(&mut work, &past).await.unwrap();
    let revoked = Certificate { revoked_at: Some(now()), ..known };
    let found = certificates::list(&mut work, instance.id).await.unwrap();
    assert_eq!(found, [revoked.clone(), later.clone()]);
    // A store that knows less takes nothing back.
    backup::go_beyond(&mut work, &Past::default()).await.unwrap();
    assert_eq!(certificates::list(&mut work, instance.id).await.unwrap(), [revoked, later]);
    assert!(certificates::list(&mut work, made_since.id).await.unwrap().is_empty());
}

#[tokio::test]
async fn who_refused_mail_since_gets_none_after_a_restore() {
    let it = Copies::new().await;
    let copy = it.copy("copy.db").await;
    let token = it.f.entropy.key();
    let mut work = it.f.store.begin().await.unwrap();
    mail_consents::ask(&mut work, it.account, "ada@x.test", &token, now()).await.unwrap();
    let consent = mail_consents::find(&mut work, &token).await.unwrap().unwrap();
    mail_consents::block(&mut work, &consent, now()).await.unwrap();
    work.commit().await.unwrap();
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    assert!(!mail_consents::is_blocked(&mut work, "ada@x.test").await.unwrap());
    for _ in 0..2 {
        backup::go_beyond(&mut work, &past).await.unwrap();
    }
    assert!(mail_consents::is_blocked(&mut work, "ada@x.test").await.unwrap());
}
