//! Which addresses outside a team may be mailed, and how much.

use crate::fixture::*;
use model::MailStanding as Standing;
use model::*;
use send_counts::Limit;
use store::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

async fn standing(f: &Fixture, account: AccountId, email: &str) -> Standing {
    mail_consents::standing(&mut f.store.reader(), account, email).await.unwrap()
}

async fn ask(f: &Fixture, account: AccountId, email: &str, at: Timestamp) -> Secret {
    let token = f.entropy.key();
    let mut work = f.store.begin().await.unwrap();
    mail_consents::ask(&mut work, account, email, &token, at).await.unwrap();
    work.commit().await.unwrap();
    token
}

async fn find(f: &Fixture, token: &Secret) -> Option<mail_consents::Consent> {
    mail_consents::find(&mut f.store.reader(), token).await.unwrap()
}

async fn confirm(f: &Fixture, token: &Secret) {
    let consent = find(f, token).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    mail_consents::confirm(&mut work, &consent, now()).await.unwrap();
    work.commit().await.unwrap();
}

async fn add_recipient(f: &Fixture, instance: InstanceId, email: &str) {
    let new = NewRecipient {
        kind: RecipientType::Email,
        value: Secret::new(email),
        name: String::new(),
        options: RecipientOptions::default(),
    };
    let mut work = f.store.begin().await.unwrap();
    recipients::insert(&mut work, instance, &new).await.unwrap();
    work.commit().await.unwrap();
}

pub async fn an_address_outside_the_team_is_asked_once_by_account(f: Fixture) {
    let (one, other) = (f.account().await.account.id, f.account().await.account.id);
    assert_eq!(standing(&f, one, "TEAM@acme.test").await, Standing::Team);
    assert_eq!(standing(&f, one, "ada@x.test").await, Standing::Unasked);
    let first = ask(&f, one, "Ada@x.test", now()).await;
    assert_eq!(standing(&f, one, "ada@X.test").await, Standing::Asked(now()));
    assert_eq!(standing(&f, other, "ada@x.test").await, Standing::Unasked);
    let second = ask(&f, one, "ada@x.test", now() + DAY).await;
    assert_eq!(standing(&f, one, "ada@x.test").await, Standing::Asked(now() + DAY));
    assert_eq!(find(&f, &first).await, None, "a new link replaces the old one");
    confirm(&f, &second).await;
    assert_eq!(standing(&f, one, "ADA@x.test").await, Standing::Confirmed);
    assert_eq!(standing(&f, other, "ada@x.test").await, Standing::Unasked);
    let held = f.everything().await;
    let holds = |text: &str| held.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!holds(second.expose()), "only a hash of the token is kept");
}

pub async fn who_refuses_mail_gets_none_until_they_agree(f: Fixture) {
    let (one, other) = (f.account().await.account.id, f.account().await.account.id);
    let token = ask(&f, one, "ada+kafka@x.test", now()).await;
    let consent = find(&f, &token).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    mail_consents::block(&mut work, &consent, now()).await.unwrap();
    mail_consents::block(&mut work, &consent, now()).await.unwrap();
    work.commit().await.unwrap();
    for (account, email) in
        [(one, "ada+kafka@x.test"), (other, "Ada@x.test"), (other, "ada+b@x.test")]
    {
        assert_eq!(standing(&f, account, email).await, Standing::Blocked, "{email}");
    }
    assert_eq!(standing(&f, one, "team@acme.test").await, Standing::Team);
    confirm(&f, &token).await;
    assert_eq!(standing(&f, one, "ada+kafka@x.test").await, Standing::Confirmed);
    assert_eq!(standing(&f, other, "ada@x.test").await, Standing::Unasked);
}

pub async fn an_address_that_is_no_recipient_any_more_is_forgotten(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    add_recipient(&f, instance.id, "Kept@x.test").await;
    let kept = ask(&f, account, "kept@x.test", now()).await;
    let gone = ask(&f, account, "gone@x.test", now()).await;
    confirm(&f, &gone).await;
    ask(&f, account, "other@x.test", now() + 29 * DAY).await;
    assert_eq!(standing(&f, account, "gone@x.test").await, Standing::Confirmed);
    ask(&f, account, "another@x.test", now() + 30 * DAY).await;
    assert!(find(&f, &kept).await.is_some());
    assert_eq!(standing(&f, account, "gone@x.test").await, Standing::Unasked);
    assert_eq!(standing(&f, account, "other@x.test").await, Standing::Asked(now() + 29 * DAY));
}

pub async fn recipients_of_an_older_store_count_as_confirmed(f: Fixture) {
    let account = f.account().await.account.id;
    let other = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    for email in ["Ada@x.test", "ada@X.test", "team@ACME.test"] {
        add_recipient(&f, instance.id, email).await;
    }
    let migration = include_str!("../../migrations/0022_mail_consents.sql");
    let (_, backfill) = migration.split_once("INSERT INTO mail_consents").unwrap();
    f.raw(&format!("INSERT INTO mail_consents{backfill}")).await;
    assert_eq!(standing(&f, account, "ada@x.test").await, Standing::Confirmed);
    assert_eq!(standing(&f, other, "ada@x.test").await, Standing::Unasked);
    let found = recipients::find_by_email(&mut f.store.reader(), account, "ADA@x.test").await;
    let found: Vec<i64> = found.unwrap().into_iter().map(|(_, id)| id.0).collect();
    assert_eq!(found, [1, 2]);
}

pub async fn messages_are_counted_by_window_and_against_all_limits_or_none(f: Fixture) {
    let (one, other) = (f.account().await.account.id, f.account().await.account.id);
    let hour = SignedDuration::from_hours(1);
    let limits = |account: AccountId, email: &str| {
        let of_account = Limit::of_account("tests", account, 2, hour);
        [of_account, Limit::of_mailbox("tests", email, 3, DAY)]
    };
    let spend = async |limits: &[Limit], at: Timestamp| {
        let mut work = f.store.begin().await.unwrap();
        let exceeded = send_counts::spend(&mut work, limits, at).await.unwrap();
        work.commit().await.unwrap();
        exceeded.map(|it| (it.limit.most(), it.until))
    };
    let minute = SignedDuration::from_mins(1);
    assert_eq!(spend(&limits(one, "ada@x.test"), now()).await, None);
    assert_eq!(spend(&limits(one, "ada+1@x.test"), now() + minute).await, None);
    let over = spend(&limits(one, "ada@x.test"), now() + 2 * minute).await;
    assert_eq!(over, Some((2, now() + hour)), "the account's limit is reached");
    assert_eq!(spend(&limits(other, "ADA@x.test"), now() + 3 * minute).await, None);
    let over = spend(&limits(other, "ada+2@x.test"), now() + 4 * minute).await;
    assert_eq!(over, Some((3, now() + DAY)), "the mailbox's, of all accounts together");
    // What was refused was counted by neither, and what did not go out is given back.
    assert_eq!(spend(&limits(other, "bob@x.test"), now() + 5 * minute).await, None);
    assert!(spend(&limits(other, "bob@x.test"), now() + 6 * minute).await.is_some());
    let mut work = f.store.begin().await.unwrap();
    send_counts::give_back(&mut work, &limits(other, "bob@x.test")).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(spend(&limits(other, "bob@x.test"), now() + 6 * minute).await, None);
    assert_eq!(spend(&limits(one, "eve@x.test"), now() + hour).await, None, "another hour");
    let unlimited = [Limit::of_account("x", one, 0, hour)];
    for _ in 0..3 {
        assert_eq!(spend(&unlimited, now()).await, None);
    }
}
