//! Histories and invoices: kept beyond the instance, numbered without a gap.

use crate::fixture::*;
use model::*;
use store::*;

pub fn entry(instance: &Instance, at: &str, change: HistoryChange) -> HistoryEntry {
    HistoryEntry {
        instance_id: instance.id,
        account_id: instance.account_id,
        at: at.parse().unwrap(),
        change,
        name: instance.name.clone(),
        plan: instance.plan.clone(),
        price: Cents(9900),
        tags: instance.tags.clone(),
    }
}

fn bill(period: &str) -> Bill {
    let period: Month = period.parse().unwrap();
    let line = InvoiceLine {
        instance_id: InstanceId(7),
        amount: Cents(110),
        from: period.start(),
        to: period.end(),
        name: "orders".into(),
        plan: "mouse-1".into(),
        tags: vec!["a".into()],
    };
    let customer = Customer { account_name: "Acme".into(), ..Customer::default() };
    let seller = Seller { company: "Host & Sons".into(), ..Seller::default() };
    Bill { period, lines: vec![line.clone(), line], customer, seller }
}

async fn insert_entry(store: &Store, entry: &HistoryEntry) {
    let mut work = store.begin().await.unwrap();
    history::insert(&mut work, entry).await.unwrap();
    work.commit().await.unwrap();
}

pub async fn a_history_outlives_its_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    let created = entry(&instance, "2026-09-03T10:00:00.25Z", HistoryChange::Created);
    let renamed = HistoryEntry {
        name: InstanceName::parse("neu ☃ '\"").unwrap(),
        ..entry(&instance, "2026-09-04T00:00:00Z", HistoryChange::Changed)
    };
    let deleted = entry(&instance, "2026-10-02T00:00:00Z", HistoryChange::Deleted);
    for entry in [&created, &renamed, &deleted] {
        insert_entry(&f.store, entry).await;
    }
    let mut work = f.store.begin().await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();

    let mut reader = f.store.reader();
    let list = async |reader: &mut Reader, month: &str| {
        let month: Month = month.parse().unwrap();
        history::list(reader, account, month.start(), month.end()).await.unwrap()
    };
    assert_eq!(list(&mut reader, "2026-08").await, []);
    // Another name in the same month takes the place of the first.
    let named = HistoryEntry { name: renamed.name, ..created };
    assert_eq!(list(&mut reader, "2026-09").await, std::slice::from_ref(&named));
    // What it was at the beginning of the month, and not how it came to that.
    assert_eq!(list(&mut reader, "2026-10").await, [named, deleted.clone()]);
    assert_eq!(list(&mut reader, "2026-11").await, [], "it was gone before");
    assert_eq!(history::last(&mut reader, instance.id).await.unwrap(), Some(deleted));
}

pub async fn time_never_runs_back_in_a_history_nor_into_a_closed_month(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let at = async || history::last(&mut f.store.reader(), instance.id).await.unwrap().unwrap().at;
    let created = entry(&instance, "2026-11-30T23:59:58Z", HistoryChange::Created);
    insert_entry(&f.store, &created).await;
    // Another control plane, whose clock is behind.
    insert_entry(&f.store, &entry(&instance, "2026-11-30T23:59:50Z", HistoryChange::Changed)).await;
    assert_eq!(at().await, created.at);
    let december: Month = "2026-12".parse().unwrap();
    let mut work = f.store.begin().await.unwrap();
    history::set_billed_until(&mut work, account, december.start()).await.unwrap();
    work.commit().await.unwrap();
    insert_entry(&f.store, &entry(&instance, "2026-11-30T23:59:59Z", HistoryChange::Deleted)).await;
    assert_eq!(at().await, december.start());
}

/// However often an instance is renamed, its history has one entry a month for it.
pub async fn names_and_tags_make_one_entry_a_month(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    insert_entry(&f.store, &entry(&instance, "2026-09-03T10:00:00Z", HistoryChange::Created)).await;
    for n in 0..50 {
        let renamed = HistoryEntry {
            name: InstanceName::parse(format!("name {n}")).unwrap(),
            ..entry(
                &instance,
                &format!("2026-{:02}-04T00:00:{n:02}Z", 9 + n / 25),
                HistoryChange::Changed,
            )
        };
        insert_entry(&f.store, &renamed).await;
    }
    let dearer = HistoryEntry {
        price: Cents(19_900),
        ..entry(&instance, "2026-10-05T00:00:00Z", HistoryChange::Changed)
    };
    insert_entry(&f.store, &dearer).await;
    let october: Month = "2026-10".parse().unwrap();
    let mut reader = f.store.reader();
    let list = history::list(&mut reader, account, Month::FIRST.start(), october.end());
    let names: Vec<(String, Cents)> =
        list.await.unwrap().into_iter().map(|it| (it.name.to_string(), it.price)).collect();
    let expected = [
        ("name 24".to_owned(), Cents(9900)),
        ("name 49".to_owned(), Cents(9900)),
        (instance.name.to_string(), Cents(19_900)),
    ];
    assert_eq!(names, expected, "another price is another entry");
}

pub async fn months_are_due_in_their_order(f: Fixture) {
    let time = |text: &str| text.parse::<Timestamp>().unwrap();
    let (late, early, none) = (f.account().await, f.account().await, f.account().await);
    let due = async |now: &str| {
        let due = history::due(&mut f.store.reader(), time(now)).await.unwrap();
        due.into_iter().map(|(month, id)| (month.to_string(), id)).collect::<Vec<_>>()
    };
    assert_eq!(due("2030-01-01T00:00:00Z").await, []);
    let [late, early, _] = [late, early, none].map(|new| new.account.id);
    let (second, ..) = f.instance(late, 9000).await;
    let (first, ..) = f.instance(early, 9010).await;
    insert_entry(&f.store, &entry(&second, "2026-10-31T23:59:59Z", HistoryChange::Created)).await;
    insert_entry(&f.store, &entry(&first, "2026-09-30T00:00:00Z", HistoryChange::Created)).await;
    assert_eq!(due("2026-09-30T23:59:59Z").await, []);
    assert_eq!(due("2026-10-01T00:00:00Z").await, [("2026-09".into(), early)]);
    let expected = [("2026-09".to_owned(), early), ("2026-10".to_owned(), late)];
    assert_eq!(due("2026-11-01T00:00:00Z").await, expected);

    let mut work = f.store.begin().await.unwrap();
    history::set_billed_until(&mut work, early, time("2026-10-01T00:00:00Z")).await.unwrap();
    work.commit().await.unwrap();
    let october = due("2026-11-01T00:00:00Z").await;
    assert!(october.iter().all(|(month, _)| month == "2026-10") && october.len() == 2);
}

pub async fn an_invoice_is_numbered_without_a_gap_and_stays(f: Fixture) {
    let account = f.account().await.account.id;
    let issue = async |period: &str, commit: bool| {
        let mut work = f.store.begin().await.unwrap();
        let issued = invoices::insert(&mut work, account, &bill(period), now()).await;
        if commit {
            work.commit().await.unwrap();
        }
        issued
    };
    let first = issue("2026-09", true).await.unwrap();
    assert_eq!(issue("2026-10", false).await.unwrap().number, 2, "and dropped");
    let twice = issue("2026-09", false).await;
    assert!(matches!(twice, Err(Error::Conflict(_))), "{twice:?}");
    let second = issue("2026-10", true).await.unwrap();
    assert_eq!((first.number, second.number), (1, 2));

    let mut reader = f.store.reader();
    assert_eq!(invoices::find(&mut reader, second.id).await.unwrap(), Some(second.clone()));
    let found = invoices::find_by_number(&mut reader, 1).await.unwrap();
    assert_eq!(found, Some(first.clone()));
    let month = |text: &str| text.parse::<Month>().unwrap();
    let found = invoices::find_by_period(&mut reader, account, month("2026-10")).await.unwrap();
    assert_eq!(found, Some(second.clone()));
    let listed = invoices::list(&mut reader, account, month("0001-01"), month("9999-12")).await;
    let listed: Vec<i64> = listed.unwrap().iter().map(|found| found.number).collect();
    assert_eq!(listed, [2, 1], "newest first");
    let listed = invoices::list(&mut reader, account, month("2026-09"), month("2026-09")).await;
    assert_eq!(listed.unwrap()[0].total, Cents(220));

    for expected in [true, false] {
        let mut work = f.store.begin().await.unwrap();
        assert_eq!(invoices::set_paid(&mut work, first.id, now()).await.unwrap(), expected);
        work.commit().await.unwrap();
    }
    let paid = invoices::find(&mut reader, first.id).await.unwrap();
    assert_eq!(paid, Some(Invoice { paid_at: Some(now()), ..first }));
    let all = invoices::list_all(&mut reader).await.unwrap();
    assert_eq!(
        all.iter().map(|it| (it.number, it.paid)).collect::<Vec<_>>(),
        [(1, true), (2, false)]
    );
}

pub async fn a_customer_is_told_by_the_account(f: Fixture) {
    let account = f.account().await.account.id;
    let mut work = f.store.begin().await.unwrap();
    let customer = invoices::find_customer(&mut work, account).await.unwrap().unwrap();
    assert_eq!(customer, Customer { account_name: "Acme".into(), ..Customer::default() });
    let customer = Customer { company: "Acme GmbH".into(), country: "DE".into(), ..customer };
    invoices::set_customer(&mut work, account, &customer).await.unwrap();
    work.commit().await.unwrap();
    let found = invoices::find_customer(&mut f.store.reader(), account).await.unwrap();
    assert_eq!(found, Some(customer));
}

/// Instances from before histories were kept are billed since their create.
pub async fn an_older_store_gets_its_histories(f: Fixture) {
    let account = f.account().await.account.id;
    let (old, ..) = f.instance(account, 9000).await;
    let (gone, ..) = f.instance(account, 9010).await;
    let mut work = f.store.begin().await.unwrap();
    let at: Timestamp = "2026-11-20T00:00:00Z".parse().unwrap();
    instances::set_deleted(&mut work, gone.id, at).await.unwrap();
    work.commit().await.unwrap();
    // What the migration finds and does.
    let migration = include_str!("../../migrations/0007_billing.sql");
    let backfill = migration.split_once("-- Of instances that are there").unwrap().1;
    let backfill = backfill.split_once("-- Issued invoices").unwrap().0;
    let (_, statements) = backfill.split_once("INSERT").unwrap();
    f.raw(&format!("INSERT{statements}")).await;

    let plans = history::unpriced(&mut f.store.reader()).await.unwrap();
    assert_eq!(plans, [PlanName("mouse-1".into())]);
    let mut work = f.store.begin().await.unwrap();
    history::set_missing_price(&mut work, &plans[0], Cents(9900)).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(history::unpriced(&mut reader).await.unwrap(), []);
    let created = |instance: &Instance| HistoryEntry {
        at: instance.created_at,
        ..entry(instance, "2026-11-01T00:00:00Z", HistoryChange::Created)
    };
    let deleted = entry(&gone, "2026-11-20T00:00:00Z", HistoryChange::Deleted);
    let found = history::list(&mut reader, account, now(), at + LIFE).await.unwrap();
    assert_eq!(found, [created(&old), created(&gone), deleted]);
    // New entries get numbers of their own.
    insert_entry(&f.store, &entry(&old, "2026-11-21T00:00:00Z", HistoryChange::Changed)).await;
}
