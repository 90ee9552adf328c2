//! What client authorities have signed, and what of it is revoked.

use crate::fixture::*;
use model::*;
use store::*;

const YEAR: SignedDuration = SignedDuration::from_hours(24 * 397);

fn certificate(number: u8, cn: &str, issued_at: Timestamp) -> Certificate {
    Certificate {
        serial: format!("{number:02x}").repeat(16).parse().unwrap(),
        cn: UserName::parse(cn).unwrap(),
        issued_at,
        expires_at: issued_at + YEAR,
        revoked_at: None,
    }
}

async fn issue(f: &Fixture, instance: InstanceId, certificates: &[&Certificate]) {
    let mut work = f.store.begin().await.unwrap();
    for certificate in certificates {
        certificates::insert(&mut work, instance, certificate).await.unwrap();
    }
    work.commit().await.unwrap();
}

async fn revoke(f: &Fixture, instance: InstanceId, serial: &Serial, at: Timestamp) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let revoked = certificates::revoke(&mut work, instance, serial, at).await.unwrap();
    work.commit().await.unwrap();
    revoked
}

pub async fn a_certificate_is_issued_until_it_is_revoked(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let late = now() + SignedDuration::from_secs(1);
    let (first, second) = (certificate(0xb1, "orders", now()), certificate(0xa2, "orders", late));
    issue(&f, instance.id, &[&second, &first]).await;

    let mut reader = f.store.reader();
    let listed = certificates::list(&mut reader, instance.id).await.unwrap();
    assert_eq!(listed, [first.clone(), second.clone()]);
    assert_eq!(certificates::list(&mut reader, other.id).await.unwrap(), []);
    let found = certificates::find(&mut reader, instance.id, &first.serial).await.unwrap();
    assert_eq!(found, Some(first.clone()));
    assert_eq!(certificates::find(&mut reader, other.id, &first.serial).await.unwrap(), None);
    let counted = async |at: Timestamp| {
        let count = certificates::count(&mut f.store.reader(), instance.id, at).await.unwrap();
        (count.good, count.revoked)
    };
    assert_eq!(counted(now()).await, (2, 0));
    assert_eq!(counted(now() + YEAR).await, (1, 0));

    let issued_at = async |instance: InstanceId, cn: &str, at: Timestamp| {
        certificates::is_issued(&mut f.store.reader(), instance, cn, at).await.unwrap()
    };
    let issued = async |instance: InstanceId, cn: &str| issued_at(instance, cn, late).await;
    let hour = SignedDuration::from_hours(1);
    assert!(issued_at(instance.id, "orders", second.expires_at + hour).await, "somewhere");
    assert!(!issued_at(instance.id, "orders", second.expires_at + hour * 25).await, "nowhere");
    assert!(issued(instance.id, "orders").await);
    assert!(!issued(instance.id, "Orders").await && !issued(other.id, "orders").await);
    assert!(!revoke(&f, other.id, &first.serial, late).await, "it is not that one's");
    assert!(revoke(&f, instance.id, &first.serial, late).await);
    assert!(!revoke(&f, instance.id, &first.serial, late + YEAR).await, "once");
    assert!(issued(instance.id, "orders").await, "there is another one");
    assert_eq!(counted(late).await, (1, 1));
    assert!(revoke(&f, instance.id, &second.serial, late).await);
    assert!(!issued(instance.id, "orders").await);
    let listed = certificates::list(&mut reader, instance.id).await.unwrap();
    assert_eq!(listed[0], Certificate { revoked_at: Some(late), ..first });
}

pub async fn revoked_ones_are_told_until_nobody_could_use_them(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let late = now() + SignedDuration::from_hours(48);
    let (first, second) = (certificate(0xb1, "orders", now()), certificate(0xa2, "orders", late));
    let good = certificate(0xc3, "payments", now());
    issue(&f, instance.id, &[&first, &second, &good]).await;
    revoke(&f, instance.id, &first.serial, late).await;
    revoke(&f, instance.id, &second.serial, late).await;
    let told = async |at: Timestamp| {
        certificates::revoked(&mut f.store.reader(), instance.id, at).await.unwrap()
    };
    let (first_serial, second_serial) = (first.serial.as_str(), second.serial.as_str());
    assert_eq!(told(late).await, [second_serial, first_serial]);
    let hour = SignedDuration::from_hours(1);
    assert_eq!(told(first.expires_at + hour).await.len(), 2, "a broker's clock may be late");
    assert_eq!(told(first.expires_at + hour * 25).await, [second_serial]);
    assert_eq!(told(second.expires_at + hour * 25).await, Vec::<String>::new());

    // A revoked one is forgotten when no broker could take it for good, and not before.
    let left = async |at: Timestamp| {
        let mut work = f.store.begin().await.unwrap();
        certificates::forget_expired(&mut work, instance.id, at).await.unwrap();
        work.commit().await.unwrap();
        told(late).await
    };
    assert_eq!(left(first.expires_at + hour).await, [second_serial, first_serial]);
    assert_eq!(left(first.expires_at + hour * 25).await, [second_serial]);
    let listed = certificates::list(&mut f.store.reader(), instance.id).await.unwrap();
    assert_eq!(listed.len(), 1, "the good one has expired with the first");
}

pub async fn they_go_with_their_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    issue(&f, instance.id, &[&certificate(0xb1, "orders", now())]).await;
    let mut work = f.store.begin().await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();
    let left = certificates::list(&mut f.store.reader(), instance.id).await.unwrap();
    assert_eq!(left, []);
}

pub async fn of_each_name_the_last_certificate_counts_until_it_ends(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let day = SignedDuration::from_hours(24);
    let (orders, replaced) = (certificate(1, "orders", now()), certificate(2, "replaced", now()));
    let (again, revoked) =
        (certificate(3, "replaced", now() + day * 90), certificate(4, "revoked", now()));
    let later = certificate(5, "later", now() + day);
    issue(&f, instance.id, &[&later, &orders, &replaced, &again, &revoked]).await;
    assert!(revoke(&f, instance.id, &revoked.serial, now()).await);
    let ending = async |at: Timestamp| {
        let mut reader = f.store.reader();
        certificates::ending(&mut reader, instance.id, at, at + day * 30).await.unwrap()
    };
    let end = orders.expires_at;
    assert_eq!(ending(end - day * 32).await, []);
    let both = [("orders".to_owned(), end), ("later".to_owned(), end + day)];
    assert_eq!(ending(end - day * 29).await, both);
    assert_eq!(ending(end).await, both[1..], "one that has ended is past");
    assert_eq!(ending(end + day).await, []);
}
