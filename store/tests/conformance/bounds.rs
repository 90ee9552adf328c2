//! What keeps tables from growing: retention, and limits on what is kept.

use crate::fixture::*;
use model::condition::Note;
use model::*;
use sqlx::{Connection, Row, SqliteConnection};
use std::collections::BTreeSet;
use store::*;

const DAY: SignedDuration = SignedDuration::from_hours(24);

async fn forget(f: &Fixture, now: Timestamp) {
    let mut work = f.store.begin().await.unwrap();
    retention::forget(&mut work, now).await.unwrap();
    work.commit().await.unwrap();
}

pub async fn what_is_too_old_is_forgotten(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let expires_at = now() + DAY;
    let serial: Serial = "0a".repeat(16).parse().unwrap();
    let certificate = Certificate {
        serial: serial.clone(),
        cn: UserName::parse("ada").unwrap(),
        issued_at: now(),
        expires_at,
        revoked_at: None,
    };
    let host = HostId(f.entropy.uuid());
    let mut work = f.store.begin().await.unwrap();
    certificates::insert(&mut work, instance.id, &certificate).await.unwrap();
    hosts::set_seen(&mut work, host, "left", now()).await.unwrap();
    let begun = incidents::begin(&mut work, instance.id, AlarmId(1), "", now(), None).await;
    let begun = begun.unwrap().unwrap();
    let over = Incident { resolved_at: Some(now()), ..begun.clone() };
    assert!(incidents::advance(&mut work, &begun, &over).await.unwrap());
    work.commit().await.unwrap();

    let left = async || {
        let mut reader = f.store.reader();
        let certificate = certificates::find(&mut reader, instance.id, &serial).await.unwrap();
        let hosts = hosts::list(&mut reader).await.unwrap();
        let incident = incidents::find(&mut reader, begun.id).await.unwrap();
        let is_known = hosts.iter().any(|it| it.id == host);
        (certificate.is_some(), is_known, incident.is_some())
    };
    forget(&f, now() + DAY * 89).await;
    assert_eq!(left().await, (true, true, true));
    forget(&f, now() + DAY * 90 + LIFE).await;
    assert_eq!(left().await, (true, false, false), "it has expired 89 days ago");
    forget(&f, expires_at + DAY * 90 + LIFE).await;
    assert_eq!(left().await, (false, false, false));
}

pub async fn actions_that_have_ended_are_kept_up_to_a_number(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let begun = Note::CancelledBy { email: "ada".into() };
    let mut ids = Vec::new();
    for n in 0..actions::MOST_ENDED + 20 {
        let action = NewAction {
            instance_id: instance.id,
            kind: ActionKind::ClusterStop,
            servers: &[],
            asked_by: "a@x.test",
            source: "cli".into(),
            generation: n,
        };
        let id = actions::insert(&mut work, &action, now()).await.unwrap();
        actions::keep(&mut work, id, &begun, now()).await.unwrap();
        // The first one goes on, however many come after it.
        if n > 0 {
            actions::end_one(&mut work, id, now()).await.unwrap();
        }
        ids.push(id);
    }
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    let kept = actions::list(&mut reader, instance.id, 1000).await.unwrap();
    let most = usize::try_from(actions::MOST_ENDED).unwrap();
    assert_eq!(kept.len(), most + 2, "with the one that goes on, and the last");
    assert_eq!(kept.last().unwrap().id, ids[0]);
    assert_eq!(actions::steps(&mut reader, ids[0]).await.unwrap().len(), 1);
    assert_eq!(actions::steps(&mut reader, ids[1]).await.unwrap(), []);
}

pub async fn of_one_instance_so_many_messages_wait(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9010).await;
    let mut work = f.store.begin().await.unwrap();
    let new = NewRecipient {
        kind: RecipientType::Email,
        value: Secret::new("ada@x.test"),
        name: "ada".into(),
        options: RecipientOptions::default(),
    };
    for (of, count) in [(&other, 1), (&instance, notifications::MOST + 5)] {
        let id = recipients::insert(&mut work, of.id, &new).await.unwrap();
        let recipient = recipients::find(&mut work, of.id, id).await.unwrap().unwrap();
        for _ in 0..count {
            let told = Notification::test(f.entropy.uuid(), of.id, "orders");
            notifications::insert(&mut work, &recipient, told, now()).await.unwrap();
        }
    }
    work.commit().await.unwrap();
    let mut waiting = Vec::new();
    let mut work = f.store.begin().await.unwrap();
    for due in outbox::due(&mut work, 1, f.now()).await.unwrap() {
        let first = outbox::take(&mut work, &due, "x", f.now(), LIFE).await.unwrap().unwrap();
        let behind = outbox::behind(&mut work, &first, 5000).await.unwrap().len();
        waiting.push((due.instance.unwrap(), i64::try_from(behind).unwrap() + 1));
    }
    waiting.sort_unstable();
    assert_eq!(waiting, [(instance.id, notifications::MOST), (other.id, 1)]);
    let recipients = recipients::list(&mut work, instance.id).await.unwrap();
    let status = recipients[0].last_status.clone().unwrap();
    assert_eq!((status.ok, status.message.contains("1000 messages")), (false, true));
}

pub async fn numbers_of_acls_that_are_gone_can_be_forgotten(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    for n in 1..=9 {
        acls::give(&mut work, instance.id, &format!("rule {n}"), "{}", now()).await.unwrap();
    }
    let there = BTreeSet::from(["rule 2".to_owned(), "rule 5".to_owned()]);
    acls::retire_others(&mut work, instance.id, &there).await.unwrap();
    let ids: Vec<i64> =
        acls::list(&mut work, instance.id).await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(ids, [2, 5, 9], "the highest says which numbers were given");
    acls::give(&mut work, instance.id, "rule 1", "{}", now()).await.unwrap();
    assert_eq!(acls::list(&mut work, instance.id).await.unwrap().last().unwrap().id, 10);
}

/// docs/operations.md tells the bound and the growth of every table there is.
#[tokio::test]
async fn every_table_is_documented_with_its_bound() {
    let f = Fixture::sqlite().await;
    let Location::Sqlite(path) = &f.at else { panic!("a file") };
    let history = MetricsHistory::open(&f.at).await.unwrap();
    let mut there = BTreeSet::new();
    for path in [path.clone(), path.with_file_name("metrics.db")] {
        let url = format!("sqlite://{}", path.display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        let rows = sqlx::query(
            "SELECT name FROM sqlite_master WHERE type = 'table' \
             AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%'",
        );
        let rows = rows.fetch_all(&mut connection).await.unwrap();
        there.extend(rows.iter().map(|row| row.get::<String, _>("name")));
    }
    history.close().await;
    let docs = include_str!("../../../docs/operations.md");
    let (_, section) = docs.split_once("## What grows, and its bounds").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut told = BTreeSet::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        assert!(told.insert(cells[0].trim_matches('`').to_owned()), "twice: {row}");
    }
    assert_eq!(told, there, "each table needs a row with its bound in docs/operations.md");
}
