//! Names of Kafka users that are being given out, and the numbers of their rights.

use crate::fixture::*;
use model::*;
use store::ssl_users::{Held, Purpose};
use store::*;

async fn hold(f: &Fixture, instance: InstanceId, name: &str, purpose: Purpose) -> Option<Held> {
    let name = UserName::parse(name).unwrap();
    let mut work = f.store.begin().await.unwrap();
    let held = ssl_users::hold(&mut work, instance, &name, purpose, f.now(), LIFE).await.unwrap();
    work.commit().await.unwrap();
    held
}

async fn let_go(f: &Fixture, held: &Held) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let was_held = ssl_users::let_go(&mut work, held).await.unwrap();
    work.commit().await.unwrap();
    was_held
}

pub async fn a_name_is_held_by_one_until_let_go(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let bob = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
    for purpose in [Purpose::User, Purpose::Certificate] {
        assert_eq!(hold(&f, instance.id, "bob", purpose).await, None);
        let free = [(instance.id, "Bob"), (other.id, "bob")];
        for (instance, name) in free {
            let held = hold(&f, instance, name, purpose).await.unwrap();
            assert!(let_go(&f, &held).await);
        }
    }
    assert!(let_go(&f, &bob).await);
    assert!(!let_go(&f, &bob).await, "once");

    let first = hold(&f, instance.id, "bob", Purpose::Certificate).await.unwrap();
    let second = hold(&f, instance.id, "bob", Purpose::Certificate).await.unwrap();
    assert_eq!(hold(&f, instance.id, "bob", Purpose::User).await, None);
    assert!(let_go(&f, &first).await);
    assert_eq!(hold(&f, instance.id, "bob", Purpose::User).await, None, "there is another");
    assert!(let_go(&f, &second).await);
    assert!(hold(&f, instance.id, "bob", Purpose::User).await.is_some());
}

pub async fn who_died_holds_a_name_for_its_time_alone(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let late = hold(&f, instance.id, "bob", Purpose::Certificate).await.unwrap();
    f.pass(50).await;
    assert_eq!(hold(&f, instance.id, "bob", Purpose::User).await, None);
    f.pass(11).await;
    let next = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
    assert!(!let_go(&f, &late).await, "it finds out");
    assert_eq!(hold(&f, instance.id, "bob", Purpose::User).await, None, "and took nothing away");
    assert!(let_go(&f, &next).await);
}

pub async fn what_nobody_knows_is_kept_in_mind_for_an_hour(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let held = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
    assert!(!held.after_unknown);
    let mut work = f.store.begin().await.unwrap();
    ssl_users::leave_unknown(&mut work, &held).await.unwrap();
    work.commit().await.unwrap();
    for purpose in [Purpose::User, Purpose::Certificate] {
        assert_eq!(hold(&f, instance.id, "bob", purpose).await, None, "held for its time");
    }
    f.pass(61).await;
    let other = hold(&f, instance.id, "eve", Purpose::User).await.unwrap();
    assert!(!other.after_unknown);
    for seconds in [0, 3500] {
        f.pass(seconds).await;
        let again = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
        assert!(again.after_unknown, "after {seconds} s");
        assert!(let_go(&f, &again).await);
    }
    f.pass(3600).await;
    let late = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
    assert!(!late.after_unknown);

    let mut work = f.store.begin().await.unwrap();
    ssl_users::leave_unknown(&mut work, &late).await.unwrap();
    let name = UserName::parse("bob").unwrap();
    ssl_users::forget_unknown(&mut work, instance.id, &name).await.unwrap();
    work.commit().await.unwrap();
    assert!(!hold(&f, instance.id, "bob", Purpose::User).await.unwrap().after_unknown);
}

pub async fn a_held_name_goes_with_its_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    let held = hold(&f, instance.id, "bob", Purpose::User).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();
    assert!(!let_go(&f, &held).await);
}

pub async fn numbers_of_rights_are_retired_by_how_they_begin(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let all = ["User:a_b: reads", "User:a_b: writes", "User:a_b.c: reads", "User:axb: reads"];
    let give = async |instance: InstanceId| {
        let mut work = f.store.begin().await.unwrap();
        for says in all {
            acls::give(&mut work, instance, says, "{}", now()).await.unwrap();
        }
        work.commit().await.unwrap();
        let numbers = acls::list(&mut f.store.reader(), instance).await.unwrap();
        let number = |says: &str| numbers.iter().find(|it| it.says == says).unwrap().id;
        all.map(number)
    };
    assert_eq!((give(instance.id).await, give(other.id).await), ([1, 2, 3, 4], [1, 2, 3, 4]));
    let mut work = f.store.begin().await.unwrap();
    acls::retire_all(&mut work, instance.id, "User:a_b: ").await.unwrap();
    work.commit().await.unwrap();
    assert_eq!((give(instance.id).await, give(other.id).await), ([5, 6, 3, 4], [1, 2, 3, 4]));
}

/// Rights that are given and taken all day would otherwise be more rows every day.
pub async fn of_retired_numbers_the_highest_is_kept(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let ids = async |instance: InstanceId| {
        let numbers = acls::list(&mut f.store.reader(), instance).await.unwrap();
        numbers.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    let give = async |instance: InstanceId, all: &[&str]| {
        let mut work = f.store.begin().await.unwrap();
        for says in all {
            acls::give(&mut work, instance, says, "{}", now()).await.unwrap();
        }
        work.commit().await.unwrap();
    };
    let retire = async |instance: InstanceId, id: i64| {
        let mut work = f.store.begin().await.unwrap();
        acls::retire(&mut work, instance, id).await.unwrap();
        work.commit().await.unwrap();
    };
    let all = ["User:a: reads", "User:b: reads", "User:c: reads", "User:c: writes"];
    give(instance.id, &all).await;
    give(other.id, &all).await;
    retire(other.id, 1).await;
    retire(instance.id, 4).await;
    retire(instance.id, 2).await;
    assert_eq!(ids(instance.id).await, [1, 3, 4], "2 was lower than 4");
    for id in 5..9 {
        give(instance.id, &all[3..]).await;
        assert_eq!(ids(instance.id).await, [1, 3, id - 1, id]);
        retire(instance.id, id).await;
        assert_eq!(ids(instance.id).await, [1, 3, id]);
    }
    let mut work = f.store.begin().await.unwrap();
    acls::retire_all(&mut work, instance.id, "User:").await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(ids(instance.id).await, [8]);
    give(instance.id, &all[..1]).await;
    assert_eq!(ids(instance.id).await, [8, 9], "none is given twice");
    assert_eq!(ids(other.id).await, [1, 2, 3, 4], "of another instance nothing is gone");
}
