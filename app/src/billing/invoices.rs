//! Issued invoices, as the account's own people read them.

use crate::{App, Asked, Caller, Error, Result, Right};
use model::{Invoice, InvoiceId, Month};
use store::{InvoiceSummary, invoices};

/// Which months, both inclusive; as sent.
#[derive(Clone, Debug, Default)]
pub struct Months {
    pub from: Option<String>,
    pub to: Option<String>,
}

/// Newest first.
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
