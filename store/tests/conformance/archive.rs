//! Lines that leave the store for an archive, and what is done to either; and lines
//! beyond a budget.

use crate::chain::{found, line, seal, verify};
use crate::fixture::*;
use model::*;
use store::chain::archive::{self, Archive, Pruned, Reading, Section, Unjoined, Unsound};
use store::*;

fn month(text: &str) -> Month {
    text.parse().unwrap()
}

/// Sealed lines, so many of each month.
async fn chained(f: &Fixture, months: &[(&str, usize)]) -> AccountId {
    let account = f.account().await.account.id;
    let mut work = f.store.begin().await.unwrap();
    for (text, count) in months {
        for n in 0..*count {
            let at = month(text).start() + LIFE;
            audit::insert(&mut work, &AuditLine { at, ..line(account, n) }).await.unwrap();
        }
    }
    work.commit().await.unwrap();
    while seal(&f.store, account, 1000).await > 0 {}
    account
}

/// The archive's text, as of now.
async fn text(f: &Fixture, account: AccountId, before: &str) -> Vec<String> {
    let mut reader = f.store.reader();
    let start = month(before).start();
    let section = archive::section_before(&mut reader, account, start).await.unwrap().unwrap();
    let mut text =
        vec![archive::title(month(before)), archive::section_title(f.store.master_key(), &section)];
    let mut after = section.after.place;
    while let Some((lines, last)) = archive::page(&mut reader, &section, after).await.unwrap() {
        text.extend(lines);
        after = last;
    }
    text
}

fn read(key: &MasterKey, text: &[String]) -> std::result::Result<Archive, Unsound> {
    let mut reading = Reading::new(key);
    text.iter().try_for_each(|line| reading.line(line))?;
    reading.finish()
}

async fn prune(f: &Fixture, section: &Section) -> Pruned {
    let mut work = f.store.begin().await.unwrap();
    let pruned = archive::prune(&mut work, section).await.unwrap();
    work.commit().await.unwrap();
    pruned
}

/// Archives and prunes; the section that left.
async fn leave(f: &Fixture, account: AccountId, before: &str) -> Section {
    let archive = read(f.store.master_key(), &text(f, account, before).await).unwrap();
    let section = archive.sections[0].clone();
    assert_eq!(prune(f, &section).await, Pruned::All);
    section
}

async fn places(f: &Fixture, account: AccountId) -> usize {
    audit::list(&mut f.store.reader(), account).await.unwrap().len()
}

pub async fn archived_lines_leave_the_store_and_the_chain_is_whole(f: Fixture) {
    let account = chained(&f, &[("2026-01", 5), ("2026-02", 4), ("2026-03", 3)]).await;
    let other = chained(&f, &[("2026-01", 2)]).await;
    let mut reader = f.store.reader();
    let january = month("2026-01").start();
    assert_eq!(archive::section_before(&mut reader, account, january).await.unwrap(), None);

    let first = leave(&f, account, "2026-02").await;
    assert_eq!((first.after.place, first.last.place, first.lines()), (0, 5, 5));
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.archived, verdict.head.length, verdict.broken), (5, 12, None));
    assert_eq!(places(&f, account).await, 7);
    assert_eq!(places(&f, other).await, 2, "another account's log is left alone");
    let february = month("2026-02").start();
    assert_eq!(archive::section_before(&mut reader, account, february).await.unwrap(), None);

    // The chain goes on, also from where nothing is left.
    let second = leave(&f, account, "2026-04").await;
    assert_eq!((second.after.place, second.last.place), (5, 12));
    assert_eq!(found(&f, account).await, ("whole", 0));
    crate::chain::write(&f.store, account, 13).await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    assert_eq!(seal(&f.store, account, 10).await, 1);
    let verdict = verify(&f, account).await;
    assert_eq!((verdict.archived, verdict.head.length, verdict.broken), (12, 13, None));

    let joined = async |sections: &[&Section]| {
        let sections: Vec<Section> = sections.iter().map(|it| (*it).clone()).collect();
        archive::check_joined(&mut f.store.reader(), account, &sections).await.unwrap()
    };
    assert_eq!(joined(&[&second, &first]).await, None);
    assert_eq!(joined(&[&second]).await, Some(Unjoined::Missing { first: 1, last: 5 }));
    assert_eq!(joined(&[&first]).await, Some(Unjoined::Missing { first: 6, last: 12 }));
    assert_eq!(joined(&[]).await, Some(Unjoined::Missing { first: 1, last: 12 }));
    let mut odd = second.clone();
    odd.last.hash = "x".into();
    assert_eq!(joined(&[&first, &odd]).await, Some(Unjoined::NotOurs { last: 12 }));
}

pub async fn whatever_is_done_to_an_archive_is_found(f: Fixture) {
    let account = chained(&f, &[("2026-01", 5), ("2026-02", 1)]).await;
    let text = text(&f, account, "2026-02").await;
    let key = f.store.master_key();
    assert_eq!(text.len(), 2 + 5);
    assert!(read(key, &text).is_ok());
    let check = |what: &str, change: &dyn Fn(&mut Vec<String>), expected: &str| {
        let mut changed = text.clone();
        change(&mut changed);
        let said = read(key, &changed).unwrap_err().to_string();
        assert!(said.contains(expected), "{what}: {said}");
    };
    check("another text", &|it| it[4] = it[4].replace("id=2", "id=9"), "was changed after");
    check("another user", &|it| it[4] = it[4].replace("acme", "evil"), "was changed after");
    check("another mark", &|it| it[4] = it[5].clone(), "the line at place 3 is missing");
    check("one removed", &|it| drop(it.remove(3)), "the line at place 2 is missing");
    check("the last removed", &|it| drop(it.pop()), "up to place 5 are missing");
    check("one twice", &|it| it.push(it[6].clone()), "line 8 can't be read");
    check("half a line", &|it| it[6].truncate(40), "line 7 can't be read");
    check("no title", &|it| drop(it.remove(0)), "no archive");
    check("no section", &|it| drop(it.remove(1)), "line 2 can't be read");
    check("a newer one", &|it| it[0] = it[0].replace("\"version\":1", "\"version\":2"), "newer");
    check(
        "a shorter section",
        &|it| it[1] = it[1].replace("\"place\":5", "\"place\":4"),
        "line 2 was not sealed",
    );
    check("empty", &|it| it.clear(), "no archive");
    let said = read(&master_key(2), &text).unwrap_err();
    assert_eq!(said, Unsound::NotSealed(2), "of another installation");
}

pub async fn whatever_is_done_to_the_start_of_a_chain_is_found(f: Fixture) {
    let account = chained(&f, &[("2026-01", 5), ("2026-02", 4)]).await;
    f.raw("CREATE TABLE kept AS SELECT * FROM audit").await;
    leave(&f, account, "2026-02").await;
    f.raw("CREATE TABLE started AS SELECT id, audit_start_sealed FROM accounts").await;
    let back = "UPDATE accounts SET audit_start_sealed = \
                (SELECT audit_start_sealed FROM started WHERE started.id = accounts.id)";
    f.raw("UPDATE accounts SET audit_start_sealed = NULL").await;
    assert_eq!(found(&f, account).await, ("removed", 1));
    f.raw("UPDATE accounts SET audit_start_sealed = 'x'").await;
    assert_eq!(found(&f, account).await, ("start", 0));
    // That of another account is no start of this one.
    let other = chained(&f, &[("2026-01", 1)]).await;
    leave(&f, other, "2026-02").await;
    f.raw(&format!(
        "UPDATE accounts SET audit_start_sealed = \
         (SELECT audit_start_sealed FROM accounts WHERE id = '{other}')"
    ))
    .await;
    assert_eq!(found(&f, account).await, ("start", 0));
    f.raw(back).await;
    assert_eq!(found(&f, account).await, ("whole", 0));
    f.raw("INSERT INTO audit SELECT * FROM kept WHERE place = 3").await;
    assert_eq!(found(&f, account).await, ("inserted", 3), "an archived line comes back");
    f.raw("DELETE FROM audit WHERE place = 3").await;
    f.raw("DELETE FROM audit WHERE place = 6").await;
    assert_eq!(found(&f, account).await, ("removed", 6));
    f.raw("DELETE FROM audit; DELETE FROM audit_chains").await;
    assert_eq!(found(&f, account).await, ("removed", 6), "the account's row knows both");
}

pub async fn pruning_can_be_broken_off_anywhere_and_repeated(f: Fixture) {
    let account = chained(&f, &[("2026-01", 2500), ("2026-02", 1)]).await;
    let first = text(&f, account, "2026-02").await;
    let section = read(f.store.master_key(), &first).unwrap().sections[0].clone();
    for expected in [1501, 501] {
        assert_eq!(prune(&f, &section).await, Pruned::Some);
        assert_eq!(places(&f, account).await, expected);
        assert_eq!(found(&f, account).await, ("whole", 0));
        let sections = [section.clone()];
        let joined = archive::check_joined(&mut f.store.reader(), account, &sections).await;
        assert_eq!(joined.unwrap(), None, "the archive has more than is gone");
    }
    // A second archive of what is left does not hinder the first, nor the other way round.
    let second = read(f.store.master_key(), &text(&f, account, "2026-02").await).unwrap();
    assert_eq!(second.sections[0].lines(), 500);
    assert_eq!(prune(&f, &section).await, Pruned::All);
    assert_eq!(prune(&f, &section).await, Pruned::Before);
    assert_eq!(prune(&f, &second.sections[0]).await, Pruned::Before);
    assert_eq!(found(&f, account).await, ("whole", 0));
    assert_eq!(places(&f, account).await, 1);
    // One of another chain, or with a gap before it, removes nothing.
    let mut odd = section.clone();
    odd.last = store::chain::Point { place: 2501, ..odd.last };
    assert_eq!(prune(&f, &odd).await, Pruned::NotOurs);
    let last = leave(&f, account, "2026-03").await;
    assert_eq!(last.after.place, 2500);
}

pub async fn a_line_that_came_late_stays_with_its_neighbours(f: Fixture) {
    let account = chained(&f, &[("2026-01", 2), ("2026-02", 1), ("2026-01", 1)]).await;
    let section = leave(&f, account, "2026-02").await;
    assert_eq!(section.last.place, 2);
    assert_eq!(places(&f, account).await, 2);
    assert_eq!(leave(&f, account, "2026-03").await.last.place, 4);
    assert_eq!(found(&f, account).await, ("whole", 0));
}

pub async fn lines_beyond_a_share_are_counted_and_others_are_not(f: Fixture) {
    let account = f.account().await.account.id;
    let write = async |share: &str, at: Timestamp, n: usize| {
        let mut work = f.store.begin().await.unwrap();
        let line = AuditLine { at, event: format!("{share}.x"), ..line(account, n) };
        audit::insert_within(&mut work, &line, share, 2000).await.unwrap();
        work.commit().await.unwrap();
    };
    for n in 0..20 {
        write("acl", now(), n).await;
    }
    write("team", now(), 1).await;
    let written = places(&f, account).await;
    assert!((4..8).contains(&written), "{written}");
    let (hour, later) = (SignedDuration::from_hours(1), now() + SignedDuration::from_hours(2));
    let due =
        async |from: Timestamp| audit::withheld_before(&mut f.store.reader(), from).await.unwrap();
    assert_eq!(due(now()).await, []);
    assert_eq!(due(later).await, [account]);
    let mut work = f.store.begin().await.unwrap();
    set_back::look_again(&mut work, HostId(f.entropy.uuid()), now() - hour).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(due(now()).await, [account], "a clock was set back");
    let mut work = f.store.begin().await.unwrap();
    let withheld = audit::take_withheld(&mut work, account).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(withheld.len(), 1);
    let Withheld { event, lines, .. } = &withheld[0];
    assert_eq!((event.as_str(), *lines), ("acl.x", 21 - i64::try_from(written).unwrap()));
    assert_eq!(due(later).await, []);
    // The next day has a budget of its own.
    write("acl", now() + SignedDuration::from_hours(24), 1).await;
    assert_eq!(places(&f, account).await, written + 1);
}
