//! Messages on their way out: taken for a time, sent or tried again.

use crate::fixture::*;
use model::*;
use store::outbox::{
    Failed, behind, due, free, give_up, hasten, hold, insert, let_go, next_due, set_failed,
    set_sent, take, withdraw,
};
use store::*;
use tokio::task::JoinSet;

const DAY: SignedDuration = SignedDuration::from_hours(24);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const OWNER: &str = "one";

async fn put(f: &Fixture, text: &str) -> MessageId {
    put_in(f, None, text).await
}

async fn put_in(f: &Fixture, lane: Option<&str>, text: &str) -> MessageId {
    let lane = lane.map(str::to_owned);
    put_new(f, NewMessage { lane, ..message(text) }).await
}

async fn put_new(f: &Fixture, new: NewMessage) -> MessageId {
    let mut work = f.store.begin().await.unwrap();
    let id = insert(&mut work, &new, f.now()).await.unwrap();
    work.commit().await.unwrap();
    id
}

fn message(text: &str) -> NewMessage {
    NewMessage {
        kind: "mail",
        about: text.into(),
        body: Secret::new(text),
        life: DAY,
        lane: None,
        instance: None,
        destination: "email".into(),
        incident: None,
    }
}

/// At most ten.
async fn take_due(store: &Store, at: Timestamp) -> Vec<Message> {
    let mut work = store.begin().await.unwrap();
    let mut taken = Vec::new();
    for due in due(&mut work, 10, at).await.unwrap() {
        taken.extend(take(&mut work, &due, OWNER, at, LIFE).await.unwrap());
    }
    work.commit().await.unwrap();
    taken
}

async fn fail(f: &Fixture, message: &Message) -> Failed {
    let mut work = f.store.begin().await.unwrap();
    let failed = set_failed(&mut work, message, "no answer", f.now(), MINUTE).await.unwrap();
    work.commit().await.unwrap();
    failed
}

/// Whether it was ours.
async fn sent(f: &Fixture, message: &Message) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let ours = set_sent(&mut work, message).await.unwrap();
    work.commit().await.unwrap();
    ours
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
    assert!(!sent(&f, &first[0]).await);
    assert!(waits(&f).await);
    assert!(sent(&f, &second[0]).await);
    assert!(!waits(&f).await);
}

pub async fn a_clock_that_is_set_back_holds_no_message_up_for_as_long(f: Fixture) {
    let id = put_in(&f, Some("lane"), "hello").await;
    let first = take_due(&f.store, f.now()).await;
    fail(&f, &first[0]).await;
    let mut work = f.store.begin().await.unwrap();
    hold(&mut work, "lane", f.now(), MINUTE).await.unwrap();
    work.commit().await.unwrap();
    f.pass(-DAY.as_secs()).await;
    let mut work = f.store.begin().await.unwrap();
    set_back::look_again(&mut work, HostId(f.entropy.uuid()), f.now()).await.unwrap();
    work.commit().await.unwrap();
    f.pass(outbox::LONGEST_PAUSE.as_secs() + 1).await;
    let second = take_due(&f.store, f.now()).await;
    assert_eq!((second.len(), second[0].id, second[0].attempts), (1, id, 2));
}

pub async fn what_somebody_held_who_starts_anew_is_due_at_once(f: Fixture) {
    let id = put(&f, "hello").await;
    let first = take_due(&f.store, f.now()).await;
    let starts = async |holder: &str| {
        let mut work = f.store.begin().await.unwrap();
        let_go(&mut work, holder, f.now()).await.unwrap();
        work.commit().await.unwrap();
    };
    starts("another").await;
    assert!(take_due(&f.store, f.now()).await.is_empty(), "it is under way");
    starts(OWNER).await;
    let second = take_due(&f.store, f.now()).await;
    assert_eq!((second.len(), second[0].id, second[0].attempts), (1, id, 2));
    assert!(!sent(&f, &first[0]).await);

    // Its end is known, so its pause is kept.
    fail(&f, &second[0]).await;
    starts(OWNER).await;
    assert!(take_due(&f.store, f.now()).await.is_empty(), "not before its time");
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

pub async fn what_waits_behind_a_message_is_known_to_its_holder(f: Fixture) {
    for (lane, text) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("a", "a3")] {
        put_in(&f, Some(lane), text).await;
    }
    put(&f, "alone").await;
    let taken = texts(&f).await;
    let waiting = async |first: &Message, most| -> Vec<String> {
        let behind = behind(&mut f.store.reader(), first, most).await.unwrap();
        behind.iter().map(|it| it.body.as_ref().unwrap().expose().to_owned()).collect()
    };
    let names: Vec<&str> = taken.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(names, ["a1", "b1", "alone"]);
    assert_eq!(waiting(&taken[0].1, 10).await, ["a2", "a3"]);
    assert_eq!(waiting(&taken[0].1, 1).await, ["a2"]);
    assert!(waiting(&taken[1].1, 10).await.is_empty());
    assert!(waiting(&taken[2].1, 10).await.is_empty());

    let all = behind(&mut f.store.reader(), &taken[0].1, 10).await.unwrap();
    assert!(sent(&f, &all[0]).await, "it goes along");
    assert!(sent(&f, &taken[0].1).await);
    assert_eq!(texts(&f).await[0].0, "a3");
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

pub async fn lanes_that_are_held_can_be_freed(f: Fixture) {
    let mut work = f.store.begin().await.unwrap();
    for lane in ["of/1/to/2", "of/7/to/2", "of/1/to/22"] {
        hold(&mut work, lane, f.now(), MINUTE).await.unwrap();
    }
    work.commit().await.unwrap();
    for (lane, text) in [("of/1/to/2", "a"), ("of/7/to/2", "b"), ("of/1/to/22", "c")] {
        put_in(&f, Some(lane), text).await;
    }
    assert!(texts(&f).await.is_empty());
    let mut work = f.store.begin().await.unwrap();
    free(&mut work, "of/%/to/2").await.unwrap();
    work.commit().await.unwrap();
    let mut freed: Vec<String> = texts(&f).await.into_iter().map(|it| it.0).collect();
    freed.sort();
    assert_eq!(freed, ["a", "b"]);
}

pub async fn a_lane_of_an_instance_that_is_gone_is_kept_for_what_waits_in_it(f: Fixture) {
    let [idle, busy] = [1, 2].map(|alarm| format!("instances/9/alarms/{alarm}/recipients/1"));
    put_in(&f, Some(&busy), "b").await;
    let mut work = f.store.begin().await.unwrap();
    for lane in [&idle, &busy] {
        hold(&mut work, lane, f.now(), MINUTE).await.unwrap();
    }
    store::instances::remove(&mut work, InstanceId(9)).await.unwrap();
    work.commit().await.unwrap();
    put_in(&f, Some(&idle), "i").await;
    let due: Vec<String> = texts(&f).await.into_iter().map(|it| it.0).collect();
    assert_eq!(due, ["i"]);
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

pub async fn what_is_past_its_time_is_given_up_tried_or_not(f: Fixture) {
    let first = put_in(&f, Some("a"), "tried").await;
    let second = put_in(&f, Some("a"), "never tried").await;
    put_in(&f, Some("b"), "under way").await;
    let fail_first = async || {
        let mut taken = texts(&f).await;
        taken.sort_unstable_by_key(|(_, message)| message.id);
        assert_eq!([&*taken[0].0, &*taken[1].0], ["tried", "under way"]);
        fail(&f, &taken[0].1).await;
    };
    fail_first().await;
    let given_up = async || {
        let mut work = f.store.begin().await.unwrap();
        let given_up = give_up(&mut work, f.now()).await.unwrap();
        work.commit().await.unwrap();
        given_up.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    f.pass(DAY.as_secs() - 30).await;
    assert_eq!(given_up().await, [], "not before its time");
    fail_first().await;
    f.pass(31).await;
    assert_eq!(given_up().await, [second], "the others are to be tried again, or are");
    f.pass(MINUTE.as_secs()).await;
    let mut rest = given_up().await;
    rest.sort_unstable();
    assert_eq!((rest.len(), rest[0]), (2, first), "whoever took the other one died");
    assert!(!waits(&f).await);
}

pub async fn what_waits_can_be_hastened(f: Fixture) {
    for (lane, text) in [("a", "x"), ("a", "x"), ("b", "other")] {
        put_in(&f, Some(lane), text).await;
    }
    let hurry = async || {
        let mut work = f.store.begin().await.unwrap();
        hasten(&mut work, "x", "new.test:443", f.now()).await.unwrap();
        work.commit().await.unwrap();
    };
    let taken = texts(&f).await;
    hurry().await;
    assert!(texts(&f).await.is_empty(), "its first attempt is under way");
    for (_, message) in &taken {
        fail(&f, message).await;
    }
    assert!(texts(&f).await.is_empty());
    hurry().await;
    let again = texts(&f).await;
    assert_eq!((again.len(), &*again[0].0), (1, "x"), "in its lane, and no other");
    assert!(again[0].1.attempts > 1);

    // It is under way to where it shall not go any more.
    hurry().await;
    let third = texts(&f).await;
    assert_eq!((third.len(), third[0].1.id), (1, again[0].1.id));
    assert_eq!(fail(&f, &again[0].1).await, Failed::NotOurs);
    assert!(sent(&f, &third[0].1).await);
    let last = due(&mut f.store.reader(), 10, f.now()).await.unwrap();
    assert_eq!((last.len(), &*last[0].destination), (1, "new.test:443"));
}

pub async fn everybodys_first_message_comes_before_anybodys_second(f: Fixture) {
    let of = |instance: i64, destination: &str, text: &str| NewMessage {
        instance: Some(InstanceId(instance)),
        destination: destination.into(),
        ..message(text)
    };
    for number in 0..5 {
        put_new(&f, of(1, "a", &format!("1a{number}"))).await;
    }
    for (instance, destination, text) in [(1, "b", "1b"), (2, "a", "2a"), (2, "a", "2a again")] {
        put_new(&f, of(instance, destination, text)).await;
    }
    put(&f, "mail").await;
    let waiting = due(&mut f.store.reader(), 2, f.now()).await.unwrap();
    assert_eq!(waiting[0].instance, Some(InstanceId(1)));
    let mut work = f.store.begin().await.unwrap();
    let mut taken = Vec::new();
    for due in &waiting {
        let message = take(&mut work, due, OWNER, f.now(), LIFE).await.unwrap().unwrap();
        taken.push(message.body.unwrap().expose().to_owned());
        let again = take(&mut work, due, OWNER, f.now(), LIFE).await.unwrap();
        assert_eq!(again, None, "taken already");
    }
    work.commit().await.unwrap();
    assert_eq!(taken, ["1a0", "1b", "2a", "mail", "1a1", "2a again"]);
}
