//! Messages on their way out: taken for a time, sent or tried again.

use crate::fixture::*;
use model::*;
use store::outbox::{Failed, hold, insert, next_due, set_failed, set_sent, take, withdraw};
use store::*;
use tokio::task::JoinSet;

const DAY: SignedDuration = SignedDuration::from_hours(24);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

async fn put(f: &Fixture, text: &str) -> MessageId {
    put_in(f, None, text).await
}

async fn put_in(f: &Fixture, lane: Option<&str>, text: &str) -> MessageId {
    let lane = lane.map(str::to_owned);
    let body = Secret::new(text);
    let new = NewMessage { kind: "mail", about: text.into(), body, life: DAY, lane };
    let mut work = f.store.begin().await.unwrap();
    let id = insert(&mut work, &new, f.now()).await.unwrap();
    work.commit().await.unwrap();
    id
}

async fn take_due(store: &Store, at: Timestamp) -> Vec<Message> {
    let mut work = store.begin().await.unwrap();
    let taken = take(&mut work, 10, at, LIFE).await.unwrap();
    work.commit().await.unwrap();
    taken
}

async fn fail(f: &Fixture, message: &Message) -> Failed {
    let mut work = f.store.begin().await.unwrap();
    let failed = set_failed(&mut work, message, "no answer", f.now(), MINUTE).await.unwrap();
    work.commit().await.unwrap();
    failed
}

async fn sent(f: &Fixture, message: &Message) {
    let mut work = f.store.begin().await.unwrap();
    set_sent(&mut work, message).await.unwrap();
    work.commit().await.unwrap();
}

async fn waits(f: &Fixture) -> bool {
    next_due(&mut f.store.reader(), f.now()).await.unwrap().is_some()
}

pub async fn a_message_is_taken_by_one_and_again_after_the_lease(f: Fixture) {
    assert!(!waits(&f).await);
    let id = put(&f, "hello").await;
    assert!(
        next_due(&mut f.store.reader(), f.now()).await.unwrap().unwrap() <= SignedDuration::ZERO
    );
    let first = take_due(&f.store, f.now()).await;
    assert_eq!((first.len(), first[0].id, first[0].attempts), (1, id, 1));
    assert_eq!(first[0].body.as_ref().unwrap().expose(), "hello");
    assert!(take_due(&f.store, f.now()).await.is_empty());

    // Whoever took it died.
    f.pass(LIFE.as_secs() + 1).await;
    let second = take_due(&f.store, f.now()).await;
    assert_eq!((second[0].id, second[0].attempts), (id, 2));
    // Or was only slow: what it says counts no more.
    assert_eq!(fail(&f, &first[0]).await, Failed::NotOurs);
    sent(&f, &first[0]).await;
    assert!(waits(&f).await);
    sent(&f, &second[0]).await;
    assert!(!waits(&f).await);
}

pub async fn a_message_that_fails_is_tried_again_and_given_up_after_its_time(f: Fixture) {
    put(&f, "hello").await;
    let taken = take_due(&f.store, f.now()).await;
    assert!(matches!(fail(&f, &taken[0]).await, Failed::Again(_)));
    assert!(take_due(&f.store, f.now()).await.is_empty(), "not before its time");
    f.pass(MINUTE.as_secs() + 1).await;
    let taken = take_due(&f.store, f.now()).await;
    assert_eq!(taken[0].attempts, 2);
    f.pass(DAY.as_secs()).await;
    assert_eq!(fail(&f, &taken[0]).await, Failed::GivenUp);
    assert!(!waits(&f).await);
}

pub async fn of_two_stores_one_takes_a_message(f: Fixture) {
    for number in 0..20 {
        put(&f, &number.to_string()).await;
    }
    let stores = [f.store.clone(), f.another().await];
    let mut takers = JoinSet::new();
    for number in 0..8 {
        let (store, at) = (stores[number % 2].clone(), f.now());
        takers.spawn(async move { take_due(&store, at).await });
    }
    let mut taken: Vec<i64> =
        takers.join_all().await.into_iter().flatten().map(|message| message.id.0).collect();
    taken.sort_unstable();
    assert_eq!(taken, (1..=20).collect::<Vec<_>>());
}

pub async fn a_message_is_sealed_and_can_be_taken_back(f: Fixture) {
    put(&f, "invitations/1").await;
    put(&f, "invitations/2").await;
    f.raw("UPDATE outbox SET body_sealed = (SELECT body_sealed FROM outbox WHERE id = 1)").await;
    let mut work = f.store.begin().await.unwrap();
    withdraw(&mut work, "invitations/1").await.unwrap();
    work.commit().await.unwrap();
    let taken = take_due(&f.store, f.now()).await;
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].body, Err(SealError::Broken), "bound to its row");
}

pub async fn a_message_is_told_of(f: Fixture) {
    let mut changes = f.store.changes();
    put(&f, "hello").await;
    assert_eq!(changes.try_recv().unwrap(), Change::Outbox);
}

/// What is taken now, as texts.
async fn texts(f: &Fixture) -> Vec<(String, Message)> {
    let taken = take_due(&f.store, f.now()).await;
    taken.into_iter().map(|it| (it.body.as_ref().unwrap().expose().to_owned(), it)).collect()
}

pub async fn messages_of_a_lane_go_out_in_order(f: Fixture) {
    for (lane, text) in [("a", "a1"), ("a", "a2"), ("b", "b1")] {
        put_in(&f, Some(lane), text).await;
    }
    put(&f, "alone").await;
    let taken = texts(&f).await;
    let names: Vec<&str> = taken.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(names, ["a1", "b1", "alone"]);
    assert!(texts(&f).await.is_empty(), "a1 is under way");
    assert!(
        next_due(&mut f.store.reader(), f.now()).await.unwrap().unwrap().is_positive(),
        "nothing to do until then"
    );

    for (_, other) in &taken[1..] {
        sent(&f, other).await;
    }
    fail(&f, &taken[0].1).await;
    assert!(texts(&f).await.is_empty(), "a1 is tried again first");
    f.pass(MINUTE.as_secs() + 1).await;
    let again = texts(&f).await;
    assert_eq!(again[0].0, "a1");
    sent(&f, &again[0].1).await;
    assert_eq!(texts(&f).await[0].0, "a2");
}

pub async fn a_lane_can_be_held(f: Fixture) {
    put_in(&f, Some("a"), "a1").await;
    let taken = texts(&f).await;
    let mut work = f.store.begin().await.unwrap();
    set_sent(&mut work, &taken[0].1).await.unwrap();
    hold(&mut work, "a", f.now(), MINUTE).await.unwrap();
    work.commit().await.unwrap();

    put_in(&f, Some("a"), "a2").await;
    put_in(&f, Some("b"), "b1").await;
    let other = texts(&f).await;
    assert_eq!(other[0].0, "b1");
    sent(&f, &other[0].1).await;
    assert!(texts(&f).await.is_empty());
    assert!(next_due(&mut f.store.reader(), f.now()).await.unwrap().unwrap() <= MINUTE);
    f.pass(MINUTE.as_secs() + 1).await;
    assert_eq!(texts(&f).await[0].0, "a2");
}

pub async fn what_was_never_tried_goes_first(f: Fixture) {
    put(&f, "old").await;
    let taken = take_due(&f.store, f.now()).await;
    fail(&f, &taken[0]).await;
    f.pass(MINUTE.as_secs() + 1).await;
    put(&f, "new").await;
    let taken = texts(&f).await;
    assert_eq!([&*taken[0].0, &*taken[1].0], ["new", "old"]);
}
