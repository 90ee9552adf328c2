//! The task that issues invoices: after any downtime, killed anywhere, by
//! several at once, on both databases.

use crate::histories::account;
use crate::recompute;
use crate::world::{CLI, World, numbers};
use app::billing::{CustomerChanges, issue_due, paid, update_customer};
use model::{AccountId, HistoryEntry, Invoice, Month, SignedDuration, Timestamp};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use store::Location;

const START: &str = "2024-01-01T00:00:00Z";
const END: &str = "2026-01-01T00:00:00Z";

macro_rules! on_both {
    ($($test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::world::World::sqlite(super::START).await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::world::World::postgres(super::START).await).await;
            })*
        }
    };
}

on_both! {
    two_years_of_months_month_by_month_or_at_once,
    killed_anywhere_it_ends_the_same,
    a_failed_transaction_leaves_no_gap_and_holds_nobody_up,
    several_control_planes_issue_each_invoice_once,
    an_issued_invoice_never_changes,
}

/// Random accounts with histories that are over before 2026.
async fn accounts(world: &World, count: usize) -> Vec<(AccountId, Vec<HistoryEntry>)> {
    let mut runner = TestRunner::deterministic();
    let limit: Timestamp = END.parse().unwrap();
    let mut made = Vec::new();
    while made.len() < count {
        let entries = account().new_tree(&mut runner).unwrap().current();
        let begins = entries.iter().map(|entry| entry.at).min().unwrap();
        if begins < START.parse().unwrap() || entries.iter().any(|entry| entry.at >= limit) {
            continue;
        }
        // Older accounts come first.
        world.clock.advance(SignedDuration::from_secs(1));
        let id = world.account(&format!("Account {}", made.len())).await;
        made.push((id, world.write(id, &entries).await));
    }
    made
}

fn expect_recomputed(
    invoices: &[Invoice],
    accounts: &[(AccountId, Vec<HistoryEntry>)],
    end: Month,
) {
    let mut expected = Vec::new();
    let mut month: Month = "2024-01".parse().unwrap();
    while month < end {
        for (account, entries) in accounts {
            let lines = recompute::lines(entries, numbers(month), i64::MAX);
            if !lines.is_empty() {
                expected.push((month, *account, lines));
            }
        }
        month = month.next();
    }
    let issued: Vec<_> = invoices
        .iter()
        .map(|it| (it.bill.period, it.account_id, recompute::plain(&it.bill.lines)))
        .collect();
    for (issued, expected) in issued.iter().zip(&expected) {
        assert_eq!(issued, expected);
    }
    assert_eq!(issued.len(), expected.len());
    let issued: Vec<i64> = invoices.iter().map(|invoice| invoice.number).collect();
    assert_eq!(issued, (1..).take(invoices.len()).collect::<Vec<i64>>(), "without a gap");
}

async fn expect_audited(world: &World, invoices: &[Invoice]) {
    let mut reader = world.app.store().reader();
    for account in store::accounts::list(&mut reader).await.unwrap() {
        let lines = store::audit::list(&mut reader, account.id).await.unwrap();
        let lines = lines.iter().filter(|line| line.event == "invoice.issue");
        let said: Vec<String> =
            lines.map(|line| format!("{} {} {}", line.source, line.user, line.extras)).collect();
        let expected = invoices.iter().filter(|it| it.account_id == account.id).map(|it| {
            let Invoice { number, bill, .. } = it;
            let (period, total) = (bill.period, bill.total());
            format!("system system@localhost number={number}; period={period}; total={total}")
        });
        assert_eq!(said, expected.collect::<Vec<_>>());
    }
}

async fn two_years_of_months_month_by_month_or_at_once(world: World) {
    let accounts = accounts(&world, 12).await;
    let mut month: Month = "2024-01".parse().unwrap();
    // The first year is issued as it passes, day by day.
    let mut issued = 0;
    while month < "2025-01".parse().unwrap() {
        let to = |at: Timestamp| at.duration_since(world.now());
        world.clock.advance(to(month.end() - SignedDuration::from_micros(1)));
        issued += issue_due(&world.app).await.unwrap();
        let of_month = world.invoices().await.iter().any(|it| it.bill.period == month);
        assert!(!of_month, "{month} is not over");
        world.clock.advance(to(month.end()));
        issued += issue_due(&world.app).await.unwrap();
        assert_eq!(issue_due(&world.app).await.unwrap(), 0, "nothing is issued twice");
        month = month.next();
    }
    let first_year = world.invoices().await;
    assert_eq!(first_year.len(), issued);
    assert!(issued > 12, "{issued}");
    expect_recomputed(&first_year, &accounts, month);
    // Nobody was there in the second.
    world.clock.advance(SignedDuration::from_hours(24 * 370));
    issued += issue_due(&world.app).await.unwrap();
    let invoices = world.invoices().await;
    assert_eq!(invoices.len(), issued);
    assert_eq!(invoices[..first_year.len()], first_year);
    expect_recomputed(&invoices, &accounts, "2026-01".parse().unwrap());
    expect_audited(&world, &invoices).await;
}

/// Gives up on a future after it was polled so often, as a kill would.
async fn cut<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

async fn killed_anywhere_it_ends_the_same(world: World) {
    let accounts = accounts(&world, 6).await;
    world.advance_to(END);
    let (mut kills, mut polls) = (0, 1);
    loop {
        // Each life is a control plane of its own, a little longer than the last.
        let plane = world.another("Host & Sons").await;
        let done = cut(Box::pin(issue_due(&plane)), polls).await;
        plane.store().close().await;
        if let Some(done) = done {
            done.unwrap();
            break;
        }
        kills += 1;
        polls += 1 + polls / 20;
        assert!(kills < 5000, "it never ends");
    }
    assert!(kills > 20, "{kills}");
    let invoices = world.invoices().await;
    expect_recomputed(&invoices, &accounts, "2026-01".parse().unwrap());
    expect_audited(&world, &invoices).await;
}

async fn a_failed_transaction_leaves_no_gap_and_holds_nobody_up(world: World) {
    let accounts = accounts(&world, 4).await;
    world.advance_to(END);
    // The last statement of one account's transactions fails, after its
    // invoice has got a number.
    let unlucky = accounts[1].0;
    let (make, drop) = match world.at {
        Location::Sqlite(_) => (
            format!(
                "CREATE TRIGGER unlucky BEFORE UPDATE OF billed_until ON accounts \
                 WHEN NEW.id = '{unlucky}' BEGIN SELECT RAISE(ABORT, 'no luck'); END"
            ),
            "DROP TRIGGER unlucky",
        ),
        Location::Postgres(_) => (
            format!(
                "ALTER TABLE accounts ADD CONSTRAINT unlucky \
                 CHECK (id <> '{unlucky}' OR billed_until = 0)"
            ),
            "ALTER TABLE accounts DROP CONSTRAINT unlucky",
        ),
    };
    world.raw(&make).await;
    issue_due(&world.app).await.unwrap();
    let others: Vec<_> = accounts.iter().filter(|(id, _)| *id != unlucky).cloned().collect();
    let before = world.invoices().await;
    assert!(!before.is_empty());
    expect_recomputed(&before, &others, "2026-01".parse().unwrap());

    world.raw(drop).await;
    let late = issue_due(&world.app).await.unwrap();
    let invoices = world.invoices().await;
    assert_eq!(invoices.len(), before.len() + late);
    assert!(late > 0 && invoices[before.len()..].iter().all(|it| it.account_id == unlucky));
    let issued: Vec<i64> = invoices.iter().map(|invoice| invoice.number).collect();
    assert_eq!(issued, (1..).take(invoices.len()).collect::<Vec<i64>>());
}

async fn several_control_planes_issue_each_invoice_once(world: World) {
    let accounts = accounts(&world, 8).await;
    world.advance_to(END);
    let mut planes = Vec::new();
    for _ in 0..3 {
        let app = world.another("Host & Sons").await;
        planes.push(tokio::spawn(async move { issue_due(&app).await.unwrap() }));
    }
    let mut issued = 0;
    for plane in planes {
        issued += plane.await.unwrap();
    }
    let invoices = world.invoices().await;
    assert_eq!(invoices.len(), issued, "each was issued by one of them");
    let mut sorted = invoices.clone();
    sorted.sort_by_key(|it| it.bill.period);
    let order = |it: &Invoice| accounts.iter().position(|(id, _)| *id == it.account_id);
    sorted.sort_by_key(|it| (it.bill.period, order(it)));
    for (number, invoice) in (1..).zip(&mut sorted) {
        // In which order several of them take accounts is up to chance.
        invoice.number = number;
    }
    expect_recomputed(&sorted, &accounts, "2026-01".parse().unwrap());
    let issued: Vec<i64> = invoices.iter().map(|invoice| invoice.number).collect();
    assert_eq!(issued, (1..).take(invoices.len()).collect::<Vec<i64>>(), "without a gap");
    expect_audited(&world, &invoices).await;
}

async fn an_issued_invoice_never_changes(world: World) {
    let accounts = accounts(&world, 2).await;
    let account = accounts[0].0;
    let changes =
        CustomerChanges { company: Some("Acme GmbH".into()), ..CustomerChanges::default() };
    update_customer(CLI, &world.app, account, changes).await.unwrap();
    world.advance_to(END);
    issue_due(&world.app).await.unwrap();
    let invoices = world.invoices().await;
    let first = invoices.iter().find(|it| it.account_id == account).unwrap();
    assert_eq!(first.bill.customer.company, "Acme GmbH");
    assert_eq!(first.bill.seller.company, "Host & Sons");

    // Another seller, customer and price from here on, and a late change.
    let other = world.another("New owner").await;
    let changes = CustomerChanges {
        company: Some(String::new()),
        account_name: Some("Renamed".into()),
        ..CustomerChanges::default()
    };
    update_customer(CLI, &other, account, changes).await.unwrap();
    let late = HistoryEntry { price: model::Cents(1), ..accounts[0].1.last().unwrap().clone() };
    let mut work = other.store().begin().await.unwrap();
    store::history::insert(&mut work, &late).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(issue_due(&other).await.unwrap(), 0);
    assert_eq!(world.invoices().await, invoices);

    let payment = paid(CLI, &other, first.number).await.unwrap();
    assert!(!payment.already);
    world.clock.advance(SignedDuration::from_hours(1));
    assert!(paid(CLI, &other, first.number).await.unwrap().already);
    let again = world.invoices().await;
    let found = again.iter().find(|it| it.number == first.number).unwrap();
    assert_eq!(*found, Invoice { paid_at: payment.invoice.paid_at, ..first.clone() });
    let missing = paid(CLI, &other, 4711).await.unwrap_err().to_string();
    assert_eq!(missing, "There is no invoice with the number 4711");
    let mut reader = world.app.store().reader();
    let lines = store::audit::list(&mut reader, account).await.unwrap();
    let said: Vec<String> = lines
        .iter()
        .filter(|line| ["invoice.paid", "account.update"].contains(&line.event.as_str()))
        .map(|line| format!("{} {} {} {}", line.event, line.source, line.user, line.extras))
        .collect();
    let paid = format!(
        "invoice.paid cli operator@localhost number={}; period={}",
        first.number, first.bill.period
    );
    assert_eq!(said.len(), 3, "{said:?}");
    assert_eq!(
        said[0],
        "account.update cli operator@localhost account_name=Account 0; company=Acme GmbH; \
         address=; country="
    );
    assert_eq!(said[2], paid);
}
