//! Issued invoices, and the customers that they name.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::{AccountId, Bill, Cents, Customer, Invoice, InvoiceId, Month, Timestamp};

/// An invoice without its lines, as lists show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvoiceSummary {
    pub id: InvoiceId,
    pub number: i64,
    pub account_id: AccountId,
    pub period: Month,
    pub total: Cents,
    pub account_name: String,
    pub paid: bool,
}

/// Saves a bill under the next number. That number is taken in this very
/// transaction, so one that fails leaves no gap.
pub async fn insert(
    work: &mut Work,
    account: AccountId,
    bill: &Bill,
    now: Timestamp,
) -> Result<Invoice> {
    let invoice = Invoice {
        id: InvoiceId(work.next("invoices").await?),
        number: work.next("invoice_numbers").await?,
        account_id: account,
        bill: bill.clone(),
        issued_at: now,
        paid_at: None,
    };
    let query = Query::new(
        "INSERT INTO invoices (id, number, account_id, period, total_cents, lines, customer, \
         seller, issued_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(invoice.id.0)
    .bind(invoice.number)
    .bind(account.to_string())
    .bind(bill.period.to_string())
    .bind(bill.total().0)
    .bind(json(&bill.lines))
    .bind(json(&bill.customer))
    .bind(json(&bill.seller))
    .bind(now);
    work.execute(query).await?;
    Ok(invoice)
}

pub async fn find(run: &mut impl Run, id: InvoiceId) -> Result<Option<Invoice>> {
    let query = Query::new("SELECT * FROM invoices WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| invoice(&row)).transpose()
}

pub async fn find_by_number(run: &mut impl Run, number: i64) -> Result<Option<Invoice>> {
    let query = Query::new("SELECT * FROM invoices WHERE number = $1").bind(number);
    run.fetch_one(query).await?.map(|row| invoice(&row)).transpose()
}

pub async fn find_by_period(
    run: &mut impl Run,
    account: AccountId,
    period: Month,
) -> Result<Option<Invoice>> {
    let query = Query::new("SELECT * FROM invoices WHERE account_id = $1 AND period = $2")
        .bind(account.to_string())
        .bind(period.to_string());
    run.fetch_one(query).await?.map(|row| invoice(&row)).transpose()
}

/// An account's invoices of these months, newest first.
pub async fn list(
    run: &mut impl Run,
    account: AccountId,
    from: Month,
    to: Month,
) -> Result<Vec<InvoiceSummary>> {
    let query = Query::new(
        "SELECT id, number, account_id, period, total_cents, customer, paid_at FROM invoices \
         WHERE account_id = $1 AND period >= $2 AND period <= $3 ORDER BY period DESC, number DESC",
    )
    .bind(account.to_string())
    .bind(from.to_string())
    .bind(to.to_string());
    run.fetch(query).await?.iter().map(summary).collect()
}

/// Every invoice of the installation, by number.
pub async fn list_all(run: &mut impl Run) -> Result<Vec<InvoiceSummary>> {
    let query = Query::new(
        "SELECT id, number, account_id, period, total_cents, customer, paid_at FROM invoices \
         ORDER BY number",
    );
    run.fetch(query).await?.iter().map(summary).collect()
}

/// Notes that an invoice was paid. False if it was before.
pub async fn set_paid(work: &mut Work, id: InvoiceId, at: Timestamp) -> Result<bool> {
    let query = Query::new("UPDATE invoices SET paid_at = $2 WHERE id = $1 AND paid_at IS NULL")
        .bind(id.0)
        .bind(at);
    Ok(work.execute(query).await? == 1)
}

/// Who an account's invoices are for, as they would be issued now.
pub async fn find_customer(run: &mut impl Run, account: AccountId) -> Result<Option<Customer>> {
    let query = Query::new("SELECT name, company, address, country FROM accounts WHERE id = $1")
        .bind(account.to_string());
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(Some(Customer {
        company: row.text("company")?,
        address: row.text("address")?,
        country: row.text("country")?,
        account_name: row.text("name")?,
    }))
}

pub async fn set_customer(work: &mut Work, account: AccountId, customer: &Customer) -> Result<()> {
    let query = Query::new(
        "UPDATE accounts SET name = $2, company = $3, address = $4, country = $5 WHERE id = $1",
    )
    .bind(account.to_string())
    .bind(customer.account_name.as_str())
    .bind(customer.company.as_str())
    .bind(customer.address.as_str())
    .bind(customer.country.as_str());
    work.execute(query).await.map(drop)
}

fn summary(row: &Row) -> Result<InvoiceSummary> {
    let customer: Customer = row.json("customer")?;
    Ok(InvoiceSummary {
        id: InvoiceId(row.int("id")?),
        number: row.int("number")?,
        account_id: row.parse("account_id")?,
        period: row.parse("period")?,
        total: Cents(row.int("total_cents")?),
        account_name: customer.account_name,
        paid: row.time_or_none("paid_at")?.is_some(),
    })
}

fn invoice(row: &Row) -> Result<Invoice> {
    Ok(Invoice {
        id: InvoiceId(row.int("id")?),
        number: row.int("number")?,
        account_id: row.parse("account_id")?,
        bill: Bill {
            period: row.parse("period")?,
            lines: row.json("lines")?,
            customer: row.json("customer")?,
            seller: row.json("seller")?,
        },
        issued_at: row.time("issued_at")?,
        paid_at: row.time_or_none("paid_at")?,
    })
}
