//! What accounts pay: metered from histories, billed by the month, frozen when
//! the month is over.

mod customer;
mod issue;
mod meter;
mod period;

pub use customer::{CustomerChanges, update_customer};
pub use issue::issue_due;
pub use meter::lines;
pub use period::{Period, period};
pub use store::InvoiceSummary;

use crate::{App, Asked, Caller, Error, Result, Right, Source, audit};
use model::{AccountId, Bill, Catalogue, Cents, Invoice, InvoiceId, Month, Timestamp};
use store::{Run, history, invoices};

/// Which months of issued invoices, both inclusive; as sent.
#[derive(Clone, Debug, Default)]
pub struct Months {
    pub from: Option<String>,
    pub to: Option<String>,
}

/// Issued invoices, as the account's own people read them, newest first.
pub async fn list(
    caller: &Caller,
    app: &App,
    months: Asked<Months>,
) -> Result<Vec<InvoiceSummary>> {
    caller.may(Right::SeeInvoices)?;
    let (months, mut problems) = months.open()?;
    let mut month = |field: &str, text: Option<String>| {
        text.and_then(|text| problems.take(field, text.parse::<Month>()))
    };
    let (from, to) = (month("from", months.from), month("to", months.to));
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        problems.add("from", "must not be after to");
    }
    problems.finish()?;
    let from = from.unwrap_or(Month::FIRST);
    let to = to.unwrap_or(Month::LAST);
    Ok(invoices::list(&mut app.store().reader(), caller.account_id, from, to).await?)
}

/// One of the account's own. `None` stands for a path segment that is no id.
pub async fn read(caller: &Caller, app: &App, id: Option<InvoiceId>) -> Result<Invoice> {
    caller.may(Right::SeeInvoices)?;
    let id = id.ok_or(Error::NotFound)?;
    let found = invoices::find(&mut app.store().reader(), id).await?;
    found.filter(|invoice| invoice.account_id == caller.account_id).ok_or(Error::NotFound)
}

/// What became of a payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payment {
    pub invoice: Invoice,
    /// It was noted before; nothing has changed.
    pub already: bool,
}

/// Notes that the invoice with this number was paid. The operator does this, so it takes no
/// caller.
pub async fn paid(source: Source, app: &App, number: i64) -> Result<Payment> {
    let now = app.now();
    let mut work = app.store().begin().await?;
    let Some(invoice) = invoices::find_by_number(&mut work, number).await? else {
        return Err(Error::Refused(format!("There is no invoice with the number {number}")));
    };
    if !invoices::set_paid(&mut work, invoice.id, now).await? {
        return Ok(Payment { invoice, already: true });
    }
    let period = invoice.bill.period.to_string();
    let extras = [("number", number.to_string()), ("period", period)];
    audit::operator(&mut work, source, invoice.account_id, now, "invoice.paid", &extras).await?;
    work.commit().await?;
    Ok(Payment { invoice: Invoice { paid_at: Some(now), ..invoice }, already: false })
}

/// Every invoice of the installation, by number.
pub async fn list_all(app: &App) -> Result<Vec<InvoiceSummary>> {
    Ok(invoices::list_all(&mut app.store().reader()).await?)
}

/// An account's bill for a month as far as it has come: made of what is known at `until`; whole once the month is over.
async fn make_bill(
    app: &App,
    run: &mut impl Run,
    account: AccountId,
    period: Month,
    until: Timestamp,
) -> Result<Bill> {
    let to = until.min(period.end());
    let entries = history::list(run, account, period.start(), to).await?;
    let customer = invoices::find_customer(run, account).await?.ok_or(Error::NotFound)?;
    Ok(Bill {
        period,
        lines: meter::lines(&entries, period, to),
        customer,
        seller: app.settings.seller.clone(),
    })
}

/// Gives entries without a price, from before histories were kept, the catalogue's. Done before anything is
/// billed; does nothing the second time.
pub async fn settle_prices(app: &App) -> Result<()> {
    if history::unpriced(&mut app.store().reader()).await?.is_empty() {
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    for plan in history::unpriced(&mut work).await? {
        let built_in = Catalogue::built_in();
        let offered = app.catalogue.plan(&plan.0).or_else(|| built_in.plan(&plan.0));
        if offered.is_none() {
            tracing::error!(%plan, "no catalogue knows its price; instances on it are billed 0");
        }
        let price = offered.map_or(Cents(0), |plan| plan.price_cents(None));
        history::set_missing_price(&mut work, &plan, price).await?;
    }
    Ok(work.commit().await?)
}
