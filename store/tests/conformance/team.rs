//! Users, their keys, and invitations.

use crate::fixture::*;
use model::*;
use store::*;

fn user(f: &Fixture, account_id: AccountId, email: &str, role: Role) -> User {
    User {
        id: UserId(f.entropy.uuid()),
        account_id,
        email: email.into(),
        name: "Ada".into(),
        tfa_enabled: false,
        role,
        tags: Tags::parse(vec!["prod".into()]).unwrap(),
        created_at: now(),
    }
}

fn key(f: &Fixture, user_id: UserId) -> ApiKey {
    ApiKey {
        id: KeyId(f.entropy.uuid()),
        user_id,
        role: Role::Admin,
        tags: Tags::default(),
        comment: "c".into(),
        created_at: now(),
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
    }
}

fn invitation(f: &Fixture, account_id: AccountId, email: &str) -> Invitation {
    Invitation {
        id: InvitationId(f.entropy.uuid()),
        account_id,
        email: email.into(),
        role: Role::Member,
        tags: Tags::default(),
        created_at: now(),
        expires_at: now() + LIFE,
    }
}

pub async fn a_team_is_listed_by_email_and_found_in_any_case(f: Fixture) {
    let account = f.account().await;
    let id = account.account.id;
    let elsewhere = f.account().await;
    let (zoe, ada) =
        (user(&f, id, "Zoe@x.test", Role::Admin), user(&f, id, "ada@x.test", Role::Member));
    let mut work = f.store.begin().await.unwrap();
    for user in [&zoe, &ada, &user(&f, elsewhere.account.id, "zoe@X.test", Role::Member)] {
        users::insert(&mut work, user).await.unwrap();
    }
    assert!(users::has_another_admin(&mut work, id, zoe.id).await.unwrap(), "the owner");
    users::set_role(&mut work, account.owner.id, Role::Devops, &Tags::default()).await.unwrap();
    assert!(!users::has_another_admin(&mut work, id, zoe.id).await.unwrap());
    work.commit().await.unwrap();

    let mut reader = f.store.reader();
    let team = users::list(&mut reader, id).await.unwrap();
    let emails: Vec<&str> = team.iter().map(|user| user.email.as_str()).collect();
    assert_eq!(emails, ["ada@x.test", "Team@acme.test", "Zoe@x.test"]);
    let found = users::find_by_email(&mut reader, id, "ZOE@x.TEST").await.unwrap();
    assert_eq!(found, Some(zoe.clone()));
    assert_eq!(users::find_everywhere(&mut reader, "zoe@x.test").await.unwrap().len(), 2);

    let mut work = f.store.begin().await.unwrap();
    let again = users::insert(&mut work, &user(&f, id, "zoE@x.test", Role::Member)).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
}

pub async fn a_removed_user_takes_their_keys_along(f: Fixture) {
    let account = f.account().await;
    let ada = user(&f, account.account.id, "ada@x.test", Role::Member);
    let secrets = [f.entropy.key(), f.entropy.key()];
    let mut work = f.store.begin().await.unwrap();
    users::insert(&mut work, &ada).await.unwrap();
    for secret in &secrets {
        apikeys::insert(&mut work, &key(&f, ada.id), secret).await.unwrap();
    }
    let owners = f.entropy.key();
    apikeys::insert(&mut work, &key(&f, account.owner.id), &owners).await.unwrap();
    users::set_password_hash(&mut work, ada.id, &Secret::new("$argon2id$x")).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    let hash = users::find_password_hash(&mut reader, ada.id).await.unwrap();
    assert_eq!(hash, Some(Secret::new("$argon2id$x")));
    assert_eq!(users::find_password_hash(&mut reader, account.owner.id).await.unwrap(), None);
    assert_eq!(apikeys::list(&mut reader, ada.id).await.unwrap().len(), 2);
    assert_eq!(apikeys::list_account(&mut reader, account.account.id).await.unwrap().len(), 3);

    let mut work = f.store.begin().await.unwrap();
    assert_eq!(users::remove(&mut work, ada.id).await.unwrap(), 2);
    work.commit().await.unwrap();
    for secret in &secrets {
        assert_eq!(apikeys::find(&mut reader, secret).await.unwrap(), None);
    }
    assert!(apikeys::find(&mut reader, &owners).await.unwrap().is_some());
}

pub async fn a_key_that_another_store_takes_back_is_gone_at_once(f: Fixture) {
    let account = f.account().await;
    let another = f.another().await;
    let mut reader = f.store.reader();
    for _ in 0..50 {
        let (key, secret) = (key(&f, account.owner.id), f.entropy.key());
        assert_eq!(apikeys::find(&mut reader, &secret).await.unwrap(), None);
        let mut work = another.begin().await.unwrap();
        apikeys::insert(&mut work, &key, &secret).await.unwrap();
        work.commit().await.unwrap();
        for _ in 0..2 {
            assert_eq!(apikeys::find(&mut reader, &secret).await.unwrap().as_ref(), Some(&key));
        }
        let mut work = another.begin().await.unwrap();
        assert!(apikeys::remove(&mut work, key.id).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!(apikeys::find(&mut reader, &secret).await.unwrap(), None);
    }
}

pub async fn the_last_use_of_a_key_never_goes_back(f: Fixture) {
    let account = f.account().await;
    let (key, secret) = (key(&f, account.owner.id), f.entropy.key());
    let used = async |at: Timestamp, from: Option<&str>| {
        let mut work = f.store.begin().await.unwrap();
        let gone = KeyId(f.entropy.uuid());
        let used = KeyUse { at, from: from.map(|it| it.parse().unwrap()) };
        apikeys::set_last_used(&mut work, &[(key.id, used), (gone, used)]).await.unwrap();
        work.commit().await.unwrap();
        let key = apikeys::find(&mut f.store.reader(), &secret).await.unwrap().unwrap();
        (key.last_used_at, key.last_used_from.map(|it| it.to_string()))
    };
    let mut work = f.store.begin().await.unwrap();
    apikeys::insert(&mut work, &key, &secret).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(used(now(), None).await, (Some(now()), None));
    let last = (Some(now() + LIFE), Some("2001:db8::7".to_owned()));
    assert_eq!(used(now() + LIFE, Some("2001:db8::7")).await, last);
    assert_eq!(used(now(), Some("192.0.2.7")).await, last);
}

pub async fn a_key_that_has_expired_is_known_for_a_while(f: Fixture) {
    let account = f.account().await;
    let secrets = [f.entropy.key(), f.entropy.key()];
    let keys = [
        ApiKey { expires_at: Some(now() + LIFE), ..key(&f, account.owner.id) },
        key(&f, account.owner.id),
    ];
    let mut work = f.store.begin().await.unwrap();
    for (key, secret) in keys.iter().zip(&secrets) {
        apikeys::insert(&mut work, key, secret).await.unwrap();
    }
    work.commit().await.unwrap();
    let month = SignedDuration::from_hours(24 * 30);
    let second = SignedDuration::from_secs(1);
    for (at, expected) in
        [(now() + LIFE, 2), (now() + LIFE + month - second, 2), (now() + LIFE + month, 1)]
    {
        let mut work = f.store.begin().await.unwrap();
        retention::forget(&mut work, at).await.unwrap();
        work.commit().await.unwrap();
        let mut reader = f.store.reader();
        let left = apikeys::list(&mut reader, account.owner.id).await.unwrap();
        assert_eq!(left.len(), expected, "{at}");
        assert!(left.contains(&keys[1]), "{at}");
    }
    assert!(keys[0].is_expired(now() + LIFE) && !keys[0].is_expired(now() + LIFE - second));
}

pub async fn an_invitation_is_found_by_its_token_until_it_expires(f: Fixture) {
    let account = f.account().await.account.id;
    let (mine, token) = (invitation(&f, account, "Ada@x.test"), f.entropy.key());
    let mut work = f.store.begin().await.unwrap();
    invitations::insert(&mut work, &mine, &token).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    let at = async |time: Timestamp| {
        invitations::find(&mut f.store.reader(), &token, time).await.unwrap()
    };
    let last_moment = now() + LIFE - SignedDuration::from_micros(1);
    assert_eq!(at(last_moment).await, Some(mine.clone()));
    assert_eq!(at(now() + LIFE).await, None);
    let wrong = f.entropy.key();
    assert_eq!(invitations::find(&mut reader, &wrong, now()).await.unwrap(), None);
    let waiting = invitations::find_by_email(&mut reader, account, "aDA@x.test").await.unwrap();
    assert_eq!(waiting, Some(mine.clone()));

    let mut work = f.store.begin().await.unwrap();
    let second = invitation(&f, account, "ADA@x.test");
    let refused = invitations::insert(&mut work, &second, &wrong).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    drop(work);
    let mut work = f.store.begin().await.unwrap();
    let later = Invitation {
        created_at: now() + LIFE,
        expires_at: now() + LIFE + LIFE,
        ..invitation(&f, account, "ADA@x.test")
    };
    invitations::insert(&mut work, &later, &wrong).await.unwrap();
    assert!(invitations::remove(&mut work, later.id).await.unwrap());
    assert!(!invitations::remove(&mut work, later.id).await.unwrap());
    work.commit().await.unwrap();

    let held = f.everything().await;
    let holds = |text: &str| held.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!holds(token.expose()), "only a hash of the token is kept");
}
