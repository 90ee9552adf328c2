//! Answers kept to be given again: to whom, how long, and to nobody else.

use crate::fixture::*;
use model::*;
use store::idempotency::{Answered, Scope, find, insert};
use store::*;
use tokio::task::JoinSet;

fn scope(user_id: UserId, operation: &'static str, key: &str) -> Scope {
    Scope { user_id, operation, key: key.into() }
}

fn answered(text: &str) -> Answered {
    Answered { request_hash: format!("{} long", text.len()), answer: Secret::new(text) }
}

async fn keep(store: &Store, scope: &Scope, text: &str, at: Timestamp) -> Result<()> {
    let mut work = store.begin().await?;
    insert(&mut work, scope, &answered(text), at, at - LIFE).await?;
    work.commit().await
}

pub async fn an_answer_belongs_to_user_operation_and_key(f: Fixture) {
    let (one, other) = (UserId(f.entropy.uuid()), UserId(f.entropy.uuid()));
    let scopes = [
        scope(one, "create", "k"),
        scope(other, "create", "k"),
        scope(one, "delete", "k"),
        scope(one, "create", "K"),
    ];
    let since = now() - LIFE;
    for (number, scope) in scopes.iter().enumerate() {
        let mut reader = f.store.reader();
        assert_eq!(find(&mut reader, scope, since).await.unwrap(), None, "{scope:?}");
        keep(&f.store, scope, &format!("answer {number}"), now()).await.unwrap();
    }
    for (number, scope) in scopes.iter().enumerate() {
        let found = find(&mut f.store.reader(), scope, since).await.unwrap();
        assert_eq!(found, Some(answered(&format!("answer {number}"))), "{scope:?}");
    }
}

pub async fn an_answer_lives_its_time_and_then_the_key_is_free(f: Fixture) {
    let scope = scope(UserId(f.entropy.uuid()), "create", "k");
    let found = async |at: Timestamp| {
        let found = find(&mut f.store.reader(), &scope, at - LIFE).await.unwrap();
        found.map(|found| found.answer.expose().to_owned())
    };
    keep(&f.store, &scope, "first", now()).await.unwrap();
    let last_moment = now() + LIFE - SignedDuration::from_micros(1);
    assert_eq!(found(last_moment).await.as_deref(), Some("first"));
    let refused = keep(&f.store, &scope, "second", last_moment).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(found(last_moment).await.as_deref(), Some("first"), "the first one stays");

    assert_eq!(found(now() + LIFE).await, None);
    keep(&f.store, &scope, "second", now() + LIFE).await.unwrap();
    assert_eq!(found(now() + LIFE).await.as_deref(), Some("second"));
}

pub async fn of_the_same_call_at_two_stores_one_is_answered(f: Fixture) {
    let scope = scope(UserId(f.entropy.uuid()), "create", "k");
    let stores = [f.store.clone(), f.another().await];
    let mut callers = JoinSet::new();
    for number in 0..10 {
        let (store, scope) = (stores[number % 2].clone(), scope.clone());
        callers.spawn(async move {
            let text = format!("answer {number}");
            match keep(&store, &scope, &text, now()).await {
                Ok(()) => Some(text),
                Err(Error::Conflict(_)) => None,
                Err(error) => panic!("{error}"),
            }
        });
    }
    let won: Vec<String> = callers.join_all().await.into_iter().flatten().collect();
    let kept = find(&mut f.store.reader(), &scope, now() - LIFE).await.unwrap().unwrap();
    assert_eq!(won, [kept.answer.expose()]);
}

pub async fn an_answer_is_sealed_and_opens_for_its_own_call_alone(f: Fixture) {
    let user = UserId(f.entropy.uuid());
    let (mine, theirs) = (scope(user, "create", "mine"), scope(user, "create", "theirs"));
    keep(&f.store, &mine, "an answer with secrets", now()).await.unwrap();
    keep(&f.store, &theirs, "another answer", now()).await.unwrap();
    f.raw(
        "UPDATE idempotency SET answer_sealed = \
         (SELECT answer_sealed FROM idempotency WHERE key = 'mine') WHERE key = 'theirs'",
    )
    .await;
    let moved = find(&mut f.store.reader(), &theirs, now() - LIFE).await;
    assert!(matches!(moved, Err(Error::Seal(SealError::Broken))), "{moved:?}");

    let held = f.everything().await;
    let holds = |text: &str| held.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("theirs"), "the check looks at the right place");
    assert!(!holds("an answer with secrets"));
}
