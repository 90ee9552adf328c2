//! The chain of the audit log, sealed by several and broken by hand.

use crate::fixture::*;
use model::*;
use store::chain::{Broken, Verdict};
use store::*;

pub fn line(account_id: AccountId, n: usize) -> AuditLine {
    AuditLine {
        account_id,
        at: now(),
        event: "instance.update".into(),
        source: "customer-api 192.0.2.7".into(),
        user: "team@acme.test".into(),
        extras: format!("id={n}"),
    }
}

pub async fn write(store: &Store, account: AccountId, n: usize) {
    let mut work = store.begin().await.unwrap();
    audit::insert(&mut work, &line(account, n)).await.unwrap();
    work.commit().await.unwrap();
}

pub async fn seal(store: &Store, account: AccountId, limit: u32) -> usize {
    let mut work = store.begin().await.unwrap();
    let sealed = chain::seal(&mut work, account, limit).await.unwrap();
    work.commit().await.unwrap();
    sealed
}

pub async fn verify(f: &Fixture, account: AccountId) -> Verdict {
    chain::verify(&mut f.store.reader(), account).await.unwrap()
}

/// What was found, and at which id or place.
pub async fn found(f: &Fixture, account: AccountId) -> (&'static str, i64) {
    match verify(f, account).await.broken {
        None => ("whole", 0),
        Some(Broken::Changed(line)) => ("changed", line.id),
        Some(Broken::Inserted(line)) => ("inserted", line.id),
        Some(Broken::Moved(line)) => ("moved", line.id),
        Some(Broken::Removed { first, .. }) => ("removed", first),
        Some(Broken::Head) => ("head", 0),
        Some(Broken::Start) => ("start", 0),
        Some(Broken::Empty) => ("empty", 0),
    }
}

/// A chain of ten lines, ids 1 to 10, with one more that waits.
async fn chained(f: &Fixture) -> AccountId {
    let account = f.account().await.account.id;
    for n in 1..=11 {
        write(&f.store, account, n).await;
    }
    assert_eq!(seal(&f.store, account, 4).await, 4);
    assert_eq!(seal(&f.store, account, 6).await, 6);
    account
}

pub async fn a_chain_is_sealed_in_pieces_and_whole(f: Fixture) {
    let account = chained(&f).await;
    let other = f.account().await.account.id;
    write(&f.store, other, 1).await;
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.head.length, verdict.unsealed, verdict.broken), (10, 1, None));
    let mut waiting = chain::unsealed_accounts(&mut f.store.reader()).await.unwrap();
    waiting.sort_unstable();
    let mut expected = [account, other];
    expected.sort_unstable();
    assert_eq!(waiting, expected);
    for account in expected {
        assert_eq!(seal(&f.store, account, 100).await, 1);
        assert_eq!(seal(&f.store, account, 100).await, 0);
        assert_eq!(verify(&f, account).await.unsealed, 0);
    }
    assert_eq!(chain::unsealed_accounts(&mut f.store.reader()).await.unwrap(), []);
    assert_eq!(verify(&f, other).await.head.length, 1, "each account has its own");
}

pub async fn whatever_is_done_to_a_sealed_line_is_found_and_named(f: Fixture) {
    let account = chained(&f).await;
    // Each is undone before the next.
    let check = async |how: &str, undo: &str, expected: (&'static str, i64)| {
        f.raw(how).await;
        assert_eq!(found(&f, account).await, expected, "{how}");
        f.raw(undo).await;
        assert_eq!(found(&f, account).await, ("whole", 0), "{undo}");
    };
    for (column, value) in [
        ("event", "'instance.read'"),
        ("source", "'cli'"),
        ("user_email", "'eve@acme.test'"),
        ("extras", "'id=77'"),
        ("at", "at + 1"),
    ] {
        check(
            &format!("CREATE TABLE kept AS SELECT * FROM audit; UPDATE audit SET {column} = {value} WHERE id = 5"),
            &format!("UPDATE audit SET {column} = (SELECT {column} FROM kept WHERE id = 5) WHERE id = 5; DROP TABLE kept"),
            ("changed", 5),
        )
        .await;
    }
    check(
        "CREATE TABLE kept AS SELECT * FROM audit WHERE id = 5; DELETE FROM audit WHERE id = 5",
        "INSERT INTO audit SELECT * FROM kept; DROP TABLE kept",
        ("removed", 5),
    )
    .await;
    check(
        "CREATE TABLE kept AS SELECT * FROM audit WHERE id IN (9, 10); \
         DELETE FROM audit WHERE id IN (9, 10)",
        "INSERT INTO audit SELECT * FROM kept; DROP TABLE kept",
        ("removed", 9),
    )
    .await;
    // Two lines change places, with or without their hashes.
    let places = "UPDATE audit SET place = -3 WHERE id = 3; \
                  UPDATE audit SET place = 3 WHERE id = 6; UPDATE audit SET place = 6 WHERE id = 3";
    let back = "UPDATE audit SET place = -3 WHERE id = 6; \
                UPDATE audit SET place = 3 WHERE id = 3; UPDATE audit SET place = 6 WHERE id = 6";
    check(places, back, ("moved", 6)).await;
    let texts = "UPDATE audit SET extras = CASE id WHEN 3 THEN 'id=6' ELSE 'id=3' END \
                 WHERE id IN (3, 6)";
    let back = "UPDATE audit SET extras = CASE id WHEN 3 THEN 'id=3' ELSE 'id=6' END \
                WHERE id IN (3, 6)";
    check(texts, back, ("changed", 3)).await;
    let ids = "UPDATE audit SET id = -3 WHERE id = 3; UPDATE audit SET id = 3 WHERE id = 6; \
               UPDATE audit SET id = 6 WHERE id = -3";
    let back = "UPDATE audit SET id = -3 WHERE id = 6; UPDATE audit SET id = 6 WHERE id = 3; \
                UPDATE audit SET id = 3 WHERE id = -3";
    check(ids, back, ("inserted", 6)).await;
    let hash = "CREATE TABLE kept AS SELECT * FROM audit; UPDATE audit SET hash = 'x' WHERE id = 4";
    let back = "UPDATE audit SET hash = (SELECT hash FROM kept WHERE id = 4) WHERE id = 4; \
                DROP TABLE kept";
    check(hash, back, ("moved", 4)).await;
}

const INSERT: &str = "INSERT INTO audit (id, account_id, at, event, source, user_email, extras, \
                      mark_sealed, place, hash) SELECT";

pub async fn a_line_from_elsewhere_is_found_sealed_or_not(f: Fixture) {
    let account = chained(&f).await;
    let rest = "account_id, at, event, source, user_email, extras";
    // As any writer would, with nothing or with what another line carries.
    for mark in ["NULL", "mark_sealed"] {
        f.raw(&format!("{INSERT} 90, {rest}, {mark}, NULL, NULL FROM audit WHERE id = 2")).await;
        assert_eq!(found(&f, account).await, ("inserted", 90), "waiting, {mark}");
        seal(&f.store, account, 100).await;
        assert_eq!(found(&f, account).await, ("inserted", 90), "sealed, {mark}");
        assert_eq!(verify(&f, account).await.unsealed, 0);
        f.raw("DELETE FROM audit WHERE id = 90").await;
        assert_eq!(found(&f, account).await.0, "removed");
        // A new account, since this chain has its scar.
        f.raw(
            "DELETE FROM audit; DELETE FROM audit_chains; \
             UPDATE accounts SET audit_head_sealed = NULL; \
             DELETE FROM sequences WHERE name = 'audit'",
        )
        .await;
        for n in 1..=11 {
            write(&f.store, account, n).await;
        }
        seal(&f.store, account, 10).await;
    }
    // Between two others, which move up.
    f.raw("UPDATE audit SET place = -place - 1 WHERE place > 5; UPDATE audit SET place = -place WHERE place < 0")
        .await;
    f.raw(&format!("{INSERT} 90, {rest}, NULL, 6, hash FROM audit WHERE id = 2")).await;
    assert_eq!(found(&f, account).await, ("inserted", 90));
    f.raw("DELETE FROM audit WHERE id = 90").await;
    assert_eq!(found(&f, account).await, ("removed", 6));
    f.raw("UPDATE audit SET place = -place + 1 WHERE place > 6; UPDATE audit SET place = -place WHERE place < 0")
        .await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    // Behind the end.
    f.raw(&format!("{INSERT} 90, {rest}, NULL, 11, hash FROM audit WHERE id = 2")).await;
    assert_eq!(found(&f, account).await, ("inserted", 90));
}

pub async fn a_chain_that_was_made_anew_does_not_end_as_it_did(f: Fixture) {
    let account = chained(&f).await;
    let sql = "UPDATE audit_chains SET head_sealed = 'x'";
    f.raw(sql).await;
    assert_eq!(found(&f, account).await.0, "head");
    f.raw("DELETE FROM audit_chains").await;
    assert_eq!(found(&f, account).await.0, "head", "the account's row knows it");
    f.raw("UPDATE accounts SET audit_head_sealed = 'x'").await;
    assert_eq!(found(&f, account).await.0, "head");
    f.raw("UPDATE accounts SET audit_head_sealed = NULL").await;
    assert_eq!(found(&f, account).await, ("inserted", 1), "no end, so none was sealed");
}

/// However much of the log is taken away, and of what is known of its end with it.
pub async fn an_emptied_log_is_missed_and_goes_on_where_it_was(f: Fixture) {
    let account = chained(&f).await;
    let said = async || verify(&f, account).await.broken.map(|broken| broken.to_string());
    f.raw("CREATE TABLE kept AS SELECT * FROM audit WHERE place > 6; DELETE FROM audit WHERE place > 6")
        .await;
    let expected = "the lines at places 7 to 10 are missing (the log ended with place 10)";
    assert_eq!(said().await.as_deref(), Some(expected));
    f.raw("INSERT INTO audit SELECT * FROM kept WHERE place <> 8; DROP TABLE kept").await;
    let named = said().await.unwrap();
    assert!(named.starts_with("the line at place 8 is missing; the next is line 9 "), "{named}");

    f.raw("DELETE FROM audit; DELETE FROM audit_chains").await;
    let expected = "the lines at places 1 to 10 are missing (the log ended with place 10)";
    assert_eq!(said().await.as_deref(), Some(expected));
    // What is written next does not make it look like a new one.
    write(&f.store, account, 12).await;
    assert_eq!(seal(&f.store, account, 100).await, 1);
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.head.length, verdict.unsealed), (11, 0));
    let named = verdict.broken.unwrap().to_string();
    assert!(named.starts_with("the lines at places 1 to 10 are missing; the next is "), "{named}");

    f.raw(
        "DELETE FROM audit; DELETE FROM audit_chains; UPDATE accounts SET audit_head_sealed = NULL",
    )
    .await;
    assert_eq!(found(&f, account).await.0, "empty");
}

/// A store whose ends are beside the log alone, as they were once.
pub async fn the_end_of_an_older_chain_is_taken_over(f: Fixture) {
    let account = chained(&f).await;
    f.raw("UPDATE accounts SET audit_head_sealed = NULL").await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    assert_eq!(seal(&f.store, account, 100).await, 1);
    assert_eq!(found(&f, account).await, ("whole", 0));
    f.raw("DELETE FROM audit; DELETE FROM audit_chains").await;
    assert_eq!(found(&f, account).await, ("removed", 1));
}

/// Lines from before there were marks are sealed like all others.
pub async fn lines_of_an_older_store_are_sealed(f: Fixture) {
    let account = f.account().await.account.id;
    for n in 1..=3 {
        write(&f.store, account, n).await;
    }
    f.raw("UPDATE audit SET mark_sealed = NULL").await;
    write(&f.store, account, 4).await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    assert_eq!(seal(&f.store, account, 100).await, 4);
    assert_eq!(found(&f, account).await, ("whole", 0));
    f.raw("UPDATE audit SET extras = '' WHERE id = 2").await;
    assert_eq!(found(&f, account).await, ("changed", 2));
}

/// Two control planes seal while others write: every line once, in one order.
pub async fn several_seal_and_write_at_once(f: Fixture) {
    let account = f.account().await.account.id;
    let writers = (0..4).map(|writer| {
        let store = f.store.clone();
        tokio::spawn(async move {
            for n in 0..15 {
                write(&store, account, writer * 100 + n).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let other = f.another().await;
    let sealers = [f.store.clone(), other].map(|store| {
        tokio::spawn(async move {
            let mut sealed = 0;
            while chain::head(&mut store.reader(), account)
                .await
                .unwrap()
                .is_none_or(|head| head.length < 60)
            {
                sealed += seal(&store, account, 3).await;
            }
            sealed
        })
    });
    let mut total = 0;
    for sealer in sealers {
        total +=
            tokio::time::timeout(std::time::Duration::from_mins(1), sealer).await.unwrap().unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(total, 60, "each was sealed once");
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.head.length, verdict.unsealed, verdict.broken), (60, 0, None));
}

/// A line whose transaction took its number early and committed late.
pub async fn a_late_line_is_sealed_once_behind_the_others(f: Fixture) {
    let account = f.account().await.account.id;
    for n in 1..=3 {
        write(&f.store, account, n).await;
    }
    f.raw("UPDATE audit SET account_id = account_id, place = 99 WHERE id = 2").await;
    assert_eq!(seal(&f.store, account, 100).await, 2);
    f.raw("UPDATE audit SET place = NULL WHERE id = 2").await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    write(&f.store, account, 4).await;
    assert_eq!(seal(&f.store, account, 100).await, 2);
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.head.length, verdict.unsealed, verdict.broken), (4, 0, None));
}

pub async fn a_month_is_read_in_pages(f: Fixture) {
    let account = f.account().await.account.id;
    let other = f.account().await.account.id;
    let november: Month = "2026-11".parse().unwrap();
    let mut work = f.store.begin().await.unwrap();
    // Five at one moment, and neighbours just outside.
    let inside = [november.start(), now(), now(), now(), now(), now(), november.end() - LIFE];
    let outside = [november.start() - LIFE, november.end()];
    for (n, at) in inside.into_iter().chain(outside).enumerate() {
        audit::insert(&mut work, &AuditLine { at, ..line(account, n) }).await.unwrap();
    }
    audit::insert(&mut work, &line(other, 0)).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    for limit in [1, 2, 3, 7, 100] {
        let mut after = Some(audit::Cursor::before(november));
        let mut read = Vec::new();
        while let Some(cursor) = after {
            let page = audit::page(&mut reader, account, cursor, november.end(), limit).await;
            let (lines, next) = page.unwrap();
            read.extend(lines.into_iter().map(|line| line.extras));
            after = next;
        }
        assert_eq!(read, (0..7).map(|n| format!("id={n}")).collect::<Vec<_>>(), "{limit}");
    }
    let latest = audit::latest_month(&mut reader, account).await.unwrap();
    assert_eq!(latest, Some(november.next()));
    let nobody = AccountId(f.entropy.uuid());
    assert_eq!(audit::latest_month(&mut reader, nobody).await.unwrap(), None);
}
