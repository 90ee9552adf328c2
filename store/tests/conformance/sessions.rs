//! Sessions, texts that are good once, and second factors.

use crate::fixture::*;
use model::*;
use store::*;

fn session(f: &Fixture, user_id: UserId) -> Session {
    Session {
        id: SessionId(f.entropy.uuid()),
        user_id,
        by_link: true,
        started_at: now(),
        last_seen_at: now(),
        address: Some("2001:db8::7".parse().unwrap()),
        browser: "Firefox".into(),
    }
}

fn login_token(f: &Fixture, user_id: UserId, purpose: LoginPurpose) -> LoginToken {
    LoginToken {
        id: LoginTokenId(f.entropy.uuid()),
        user_id,
        purpose,
        created_at: now(),
        expires_at: now() + LIFE,
    }
}

pub async fn a_session_is_found_by_its_token_and_removed_once(f: Fixture) {
    let user = f.account().await.owner.id;
    let other = f.account().await.owner.id;
    let (token, second) = (f.entropy.key(), f.entropy.key());
    let mine = session(&f, user);
    let later = Session { last_seen_at: now() + LIFE, address: None, ..session(&f, user) };
    let mut work = f.store.begin().await.unwrap();
    sessions::insert(&mut work, &mine, &token).await.unwrap();
    sessions::insert(&mut work, &later, &second).await.unwrap();
    sessions::insert(&mut work, &session(&f, other), &f.entropy.key()).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(sessions::find(&mut reader, &token).await.unwrap(), Some(mine.clone()));
    assert_eq!(sessions::find(&mut reader, &f.entropy.key()).await.unwrap(), None);
    let listed = sessions::list(&mut reader, user).await.unwrap();
    assert_eq!(listed, [later.clone(), mine.clone()]);

    let seen = now() + SignedDuration::from_secs(90);
    let mut work = f.store.begin().await.unwrap();
    let gone = SessionId(f.entropy.uuid());
    sessions::set_last_seen(&mut work, &[(mine.id, seen), (gone, seen)]).await.unwrap();
    sessions::set_last_seen(&mut work, &[(mine.id, now())]).await.unwrap();
    let found = sessions::find_by_id(&mut work, mine.id).await.unwrap().unwrap();
    assert_eq!(found.last_seen_at, seen, "it never goes back");
    assert!(sessions::remove(&mut work, mine.id).await.unwrap());
    assert!(!sessions::remove(&mut work, mine.id).await.unwrap());
    assert_eq!(sessions::remove_all(&mut work, user, Some(later.id)).await.unwrap(), 0);
    assert_eq!(sessions::remove_all(&mut work, user, None).await.unwrap(), 1);
    work.commit().await.unwrap();
    assert_eq!(sessions::find(&mut reader, &second).await.unwrap(), None);
    assert_eq!(sessions::list(&mut reader, other).await.unwrap().len(), 1);
}

pub async fn sessions_that_ended_by_themselves_are_found(f: Fixture) {
    let user = f.account().await.owner.id;
    let second = SignedDuration::from_secs(1);
    let at = now() + Session::LIFE;
    let idle = Session { last_seen_at: at - Session::IDLE, ..session(&f, user) };
    let old = Session { last_seen_at: at, ..session(&f, user) };
    let good = Session {
        started_at: now() + second,
        last_seen_at: at - Session::IDLE + second,
        ..session(&f, user)
    };
    let mut work = f.store.begin().await.unwrap();
    for session in [&idle, &old, &good] {
        sessions::insert(&mut work, session, &f.entropy.key()).await.unwrap();
    }
    work.commit().await.unwrap();
    let over = sessions::list_over(&mut f.store.reader(), at).await.unwrap();
    assert_eq!(over, [idle, old]);
    assert!(!good.is_over(at) && over.iter().all(|session| session.is_over(at)));
}

pub async fn a_user_has_one_text_of_each_purpose_and_it_is_good_once(f: Fixture) {
    let user = f.account().await.owner.id;
    let [first, second, step] = [f.entropy.key(), f.entropy.key(), f.entropy.key()];
    let mut work = f.store.begin().await.unwrap();
    let link = login_token(&f, user, LoginPurpose::Link);
    login_tokens::insert(&mut work, &link, &first).await.unwrap();
    let link = login_token(&f, user, LoginPurpose::Link);
    login_tokens::insert(&mut work, &link, &second).await.unwrap();
    let after = login_token(&f, user, LoginPurpose::AfterPassword);
    login_tokens::insert(&mut work, &after, &step).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(login_tokens::find(&mut reader, &first, now()).await.unwrap(), None);
    let found = login_tokens::find(&mut reader, &second, now()).await.unwrap();
    assert_eq!(found, Some(link.clone()));
    assert_eq!(login_tokens::find(&mut reader, &second, now() + LIFE).await.unwrap(), None);
    assert_eq!(login_tokens::find(&mut reader, &step, now()).await.unwrap(), Some(after));
    let mut work = f.store.begin().await.unwrap();
    assert!(login_tokens::remove(&mut work, link.id).await.unwrap());
    assert!(!login_tokens::remove(&mut work, link.id).await.unwrap());
    login_tokens::remove_all(&mut work, user).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(login_tokens::find(&mut reader, &step, now()).await.unwrap(), None);
}

pub async fn codes_of_a_second_factor_are_good_once(f: Fixture) {
    let (user, other) = (f.account().await.owner.id, f.account().await.owner.id);
    let seed = Secret::new("GEZDGNBVGY3TQOJQ");
    let codes = [Secret::new("one"), Secret::new("two")];
    let mut work = f.store.begin().await.unwrap();
    second_factors::set(&mut work, user, &Secret::new("of before")).await.unwrap();
    second_factors::set(&mut work, user, &seed).await.unwrap();
    second_factors::set_recovery_codes(&mut work, user, &codes).await.unwrap();
    assert!(second_factors::take_step(&mut work, user, 7).await.unwrap());
    for (step, expected) in [(7, false), (6, false), (8, true)] {
        let taken = second_factors::take_step(&mut work, user, step).await.unwrap();
        assert_eq!(taken, expected, "{step}");
    }
    let mut take = async |of, code: &str| {
        let code = Secret::new(code);
        second_factors::take_recovery_code(&mut work, of, &code).await.unwrap()
    };
    assert!(!take(other, "one").await && !take(user, "three").await);
    assert!(take(user, "one").await && !take(user, "one").await);
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(second_factors::find(&mut reader, user).await.unwrap(), Some(seed));
    assert_eq!(second_factors::find(&mut reader, other).await.unwrap(), None);
    assert_eq!(second_factors::count_recovery_codes(&mut reader, user).await.unwrap(), 1);
    let mut work = f.store.begin().await.unwrap();
    second_factors::remove(&mut work, user).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(second_factors::count_recovery_codes(&mut reader, user).await.unwrap(), 0);
}

pub async fn a_removed_user_leaves_no_way_in(f: Fixture) {
    let account = f.account().await.account.id;
    let user = User {
        id: UserId(f.entropy.uuid()),
        account_id: account,
        email: "ada@x.test".into(),
        name: String::new(),
        tfa_enabled: false,
        role: Role::Member,
        tags: Tags::default(),
        created_at: now(),
    };
    let (token, link) = (f.entropy.key(), f.entropy.key());
    let mut work = f.store.begin().await.unwrap();
    users::insert(&mut work, &user).await.unwrap();
    users::set_tfa_enabled(&mut work, user.id, true).await.unwrap();
    sessions::insert(&mut work, &session(&f, user.id), &token).await.unwrap();
    let text = login_token(&f, user.id, LoginPurpose::Link);
    login_tokens::insert(&mut work, &text, &link).await.unwrap();
    second_factors::set(&mut work, user.id, &Secret::new("seed")).await.unwrap();
    let codes = [Secret::new("one")];
    second_factors::set_recovery_codes(&mut work, user.id, &codes).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert!(users::find(&mut reader, user.id).await.unwrap().unwrap().tfa_enabled);
    let mut work = f.store.begin().await.unwrap();
    users::remove(&mut work, user.id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(sessions::find(&mut reader, &token).await.unwrap(), None);
    assert_eq!(login_tokens::find(&mut reader, &link, now()).await.unwrap(), None);
    assert_eq!(second_factors::find(&mut reader, user.id).await.unwrap(), None);
}
