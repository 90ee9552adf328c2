//! Messages on their way out: taken for a time, sent or tried again.

use crate::fixture::*;
use model::*;
use store::outbox::{Failed, insert, next_due, set_failed, set_sent, take, withdraw};
use store::*;
use tokio::task::JoinSet;

const DAY: SignedDuration = SignedDuration::from_hours(24);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn message(text: &str) -> NewMessage {
    NewMessage { kind: "mail", about: text.into(), body: Secret::new(text), life: DAY }
}

async fn put(f: &Fixture, text: &str) -> MessageId {
    let mut work = f.store.begin().await.unwrap();
    let id = insert(&mut work, &message(text), f.now()).await.unwrap();
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
