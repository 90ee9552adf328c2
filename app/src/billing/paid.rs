//! Invoices as the operator sees them: of all accounts, and whether they were
//! paid. The operator does this, so it takes no caller.

use crate::{App, Error, Result, Source, audit};
use model::Invoice;
use store::{InvoiceSummary, invoices};

/// What became of a payment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payment {
    pub invoice: Invoice,
    /// It was noted before; nothing has changed.
    pub already: bool,
}

/// Notes that the invoice with this number was paid.
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
