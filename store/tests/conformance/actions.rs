//! The journal: what was asked, its steps, its end.

use crate::fixture::*;
use model::condition::{FirstFew, Loading, Note, Objection};
use model::*;
use store::*;

async fn begin(f: &Fixture, instance: InstanceId, kind: ActionKind) -> (ActionId, i64) {
    let mut work = f.store.begin().await.unwrap();
    let generation = instances::raise(&mut work, instance, f.now()).await.unwrap();
    let action = NewAction {
        instance_id: instance,
        kind,
        servers: &[2],
        asked_by: "ada@example.com",
        source: "customer-api 127.0.0.1".into(),
        generation,
    };
    let id = actions::insert(&mut work, &action, f.now()).await.unwrap();
    work.commit().await.unwrap();
    (id, generation)
}

/// Something that is waited for.
fn said(text: &str) -> Note {
    let reason = Reason::CloudPending { what: text.into() };
    Note::Conditions { conditions: vec![reason.into()] }
}

fn lagging(more: usize) -> Note {
    let objections = FirstFew { first: vec![Objection::Down { server: 1 }], more };
    let reason = Reason::CatchingUp { objections, or_stop: None };
    Note::Conditions { conditions: vec![reason.into()] }
}

fn loading(done: u32) -> Note {
    let loading = Loading { done, of: 20, recovers: false };
    Note::Conditions { conditions: vec![Reason::Loading { loading }.of(1)] }
}

async fn note(f: &Fixture, id: ActionId, note: &Note) {
    let mut work = f.store.begin().await.unwrap();
    actions::note_on(&mut work, id, note, f.now()).await.unwrap();
    work.commit().await.unwrap();
}

async fn texts(f: &Fixture, id: ActionId) -> Vec<String> {
    let steps = actions::steps(&mut f.store.reader(), id).await.unwrap();
    steps.into_iter().map(|step| step.text).collect()
}

pub async fn an_action_has_steps_until_its_intent_is_reached(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (first, generation) = begin(&f, instance.id, ActionKind::Restart).await;
    assert_eq!(generation, instance.generation + 1);
    for text in ["one", "one", "two", "one"] {
        note(&f, first, &said(text)).await;
    }
    assert_eq!(texts(&f, first).await, ["waiting: one", "waiting: two", "waiting: one"]);
    let mut work = f.store.begin().await.unwrap();
    for text in ["two", "once", "one", "once"] {
        actions::note_once(&mut work, first, &said(text), f.now()).await.unwrap();
    }
    work.commit().await.unwrap();
    let expected = ["waiting: one", "waiting: two", "waiting: one", "waiting: once"];
    assert_eq!(texts(&f, first).await, expected);
    for told in [lagging(107), lagging(106), said("once")] {
        note(&f, first, &told).await;
    }
    let expected = ["waiting: server 1 is down; and 106 more", "waiting: once"];
    assert_eq!(texts(&f, first).await[4..], expected);

    let (second, later) = begin(&f, instance.id, ActionKind::ClusterStop).await;
    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, generation, f.now()).await.unwrap();
    work.commit().await.unwrap();
    note(&f, second, &said("three")).await;
    assert_eq!(texts(&f, first).await.len(), 6, "steps are one action's own");
    assert_eq!(texts(&f, second).await, ["waiting: three"]);

    let mut reader = f.store.reader();
    let open = actions::open(&mut reader, instance.id).await.unwrap();
    assert_eq!(open.iter().map(|action| action.id).collect::<Vec<_>>(), [second]);
    let all = actions::list(&mut reader, instance.id, 10).await.unwrap();
    assert_eq!(all.iter().map(|action| action.id).collect::<Vec<_>>(), [second, first]);
    assert_eq!(actions::list(&mut reader, instance.id, 1).await.unwrap().len(), 1);
    let found = actions::find(&mut reader, instance.id, first).await.unwrap().unwrap();
    assert_eq!(found.state(), ActionState::Done);
    assert_eq!(
        (found.kind, found.servers, found.generation),
        (ActionKind::Restart, vec![2], generation)
    );
    assert_eq!(
        actions::find(&mut reader, InstanceId(instance.id.0 + 1), first).await.unwrap(),
        None
    );
    assert_eq!(later, generation + 1);
}

pub async fn progress_is_one_step_and_what_matters_is_noted_however_much_was_said(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (id, _) = begin(&f, instance.id, ActionKind::Restart).await;
    let mut work = f.store.begin().await.unwrap();
    for done in 0..20 {
        actions::note_on(&mut work, id, &loading(done), f.now()).await.unwrap();
    }
    for number in 0..1_100 {
        let told = said(&format!("t-{number}"));
        actions::note_on(&mut work, id, &told, f.now()).await.unwrap();
    }
    let unavoidable = FirstFew::default();
    let may_stop = Note::MayStop { server: Some(1), comes_back: true, unavoidable };
    let cancelled = Note::CancelledBy { email: "ada".into() };
    for note in [&may_stop, &may_stop, &cancelled] {
        actions::keep(&mut work, id, note, f.now()).await.unwrap();
    }
    let partitions = Note::TakesNoWrites { partitions: FirstFew::few(vec!["t-0".into()]) };
    actions::note_once(&mut work, id, &partitions, f.now()).await.unwrap();
    actions::note_on(&mut work, id, &said("t-2000"), f.now()).await.unwrap();
    work.commit().await.unwrap();
    let texts = texts(&f, id).await;
    let loading = "waiting: server 1: the broker is loading its logs: 19 of 20 done";
    assert_eq!(texts[..2], [loading, "waiting: t-0"]);
    assert_eq!(texts[999], "waiting: t-998", "it has not said everything");
    assert_eq!(texts[1000..], [may_stop, cancelled, partitions].map(|note| note.to_string()));
}

pub async fn a_cancelled_action_ends_as_one(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (id, generation) = begin(&f, instance.id, ActionKind::ClusterRestart).await;
    let state = async || {
        let found = actions::find(&mut f.store.reader(), instance.id, id).await.unwrap();
        found.unwrap().state()
    };
    assert_eq!(state().await, ActionState::Running);
    let mut work = f.store.begin().await.unwrap();
    actions::cancel(&mut work, id, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(state().await, ActionState::Cancelling);
    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, generation, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(state().await, ActionState::Cancelled);
}

pub async fn a_replaced_action_ends_as_superseded(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (stop, _) = begin(&f, instance.id, ActionKind::Stop).await;
    let (start, generation) = begin(&f, instance.id, ActionKind::Start).await;
    let found = async |id| {
        let found = actions::find(&mut f.store.reader(), instance.id, id).await.unwrap();
        let found = found.unwrap();
        (found.state(), found.superseded_by)
    };
    assert_eq!(found(stop).await, (ActionState::Running, None));
    let mut work = f.store.begin().await.unwrap();
    actions::supersede(&mut work, stop, start, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(found(stop).await, (ActionState::Superseded, Some(start)));
    let open = actions::open(&mut f.store.reader(), instance.id).await.unwrap();
    assert_eq!(open.iter().map(|action| action.id).collect::<Vec<_>>(), [start]);

    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, generation, f.now()).await.unwrap();
    // What has ended stays as it ended.
    actions::supersede(&mut work, start, stop, f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(found(stop).await, (ActionState::Superseded, Some(start)));
    assert_eq!(found(start).await, (ActionState::Done, None));
}

/// They kept the later action by server, and had several open.
pub async fn actions_of_an_older_store_keep_what_replaced_them_and_end(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9010).await;
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(begin(&f, instance.id, ActionKind::Restart).await);
        begin(&f, other.id, ActionKind::Restart).await;
    }
    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, ids[8].1, f.now()).await.unwrap();
    work.commit().await.unwrap();
    for later in ["progress", "superseded_by"] {
        f.raw(&format!("ALTER TABLE actions DROP COLUMN {later}")).await;
    }
    f.raw("ALTER TABLE actions ADD COLUMN overtaken TEXT NOT NULL DEFAULT '{}'").await;
    let overtake = async |at: usize, by: &[usize]| {
        let of_server =
            |(server, by): (usize, &usize)| format!("\"{}\":{}", server + 1, ids[*by].0);
        let all: Vec<String> = by.iter().enumerate().map(of_server).collect();
        let (id, all) = (ids[at].0, all.join(","));
        f.raw(&format!("UPDATE actions SET overtaken = '{{{all}}}' WHERE id = {id}")).await;
    };
    overtake(0, &[1]).await;
    overtake(2, &[3, 4, 3]).await;
    // Still open.
    overtake(9, &[10, 11]).await;
    let migration = include_str!("../../migrations/0025_superseded_and_kafka_generation.sql");
    f.raw(migration.split_once("-- Intent that lives in Kafka").unwrap().0).await;

    let check = async |at: usize, state: ActionState, by: Option<usize>| {
        let found = actions::find(&mut f.store.reader(), instance.id, ids[at].0).await.unwrap();
        let found = found.unwrap();
        assert_eq!((found.state(), found.superseded_by), (state, by.map(|by| ids[by].0)));
    };
    check(0, ActionState::Superseded, Some(1)).await;
    check(1, ActionState::Done, None).await;
    check(2, ActionState::Superseded, Some(4)).await;
    check(9, ActionState::Running, Some(11)).await;
    check(10, ActionState::Running, None).await;
    let mut work = f.store.begin().await.unwrap();
    actions::end(&mut work, instance.id, ids[11].1, f.now()).await.unwrap();
    work.commit().await.unwrap();
    check(9, ActionState::Superseded, Some(11)).await;
    check(10, ActionState::Done, None).await;
    assert_eq!(actions::open(&mut f.store.reader(), instance.id).await.unwrap(), []);
}

pub async fn a_start_can_be_asked_for_and_taken_back(f: Fixture) {
    let account = f.account().await.account.id;
    let (_, server, _) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let wanted = Wanted::Stopped { launch: 2 };
    servers::set_wanted(&mut work, server.id, wanted).await.unwrap();
    work.commit().await.unwrap();
    let row = async || servers::find(&mut f.store.reader(), server.id).await.unwrap().unwrap();
    assert_eq!(row().await.server.wanted, wanted);
    let mut work = f.store.begin().await.unwrap();
    let wanted = Wanted::Running { launch: 1 };
    servers::set_wanted(&mut work, server.id, wanted).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(row().await.server.wanted, wanted);
}
