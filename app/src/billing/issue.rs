//! Closing months: an invoice for each account that has something to pay.
//!
//! Takes no input and reads the world anew each time, so it does not matter how
//! long it was not done, how often it is done, or by how many control planes.
//! One account's month is one transaction: the invoice, its number, its audit
//! line and the note that the month is closed happen together or not at all.

use super::make_bill;
use crate::{App, Error, Result};
use model::{AccountId, Invoice, Month};
use std::collections::HashSet;
use std::error::Error as _;
use store::{audit, history, invoices};

/// Closes every month of every account that is over; how many invoices that
/// made. Older months come first, so that numbers are in the order of months.
/// An account that can't be billed does not hold the others up.
pub async fn issue_due(app: &App) -> Result<usize> {
    let mut issued = 0;
    let mut failed = HashSet::new();
    loop {
        let mut due = history::due(&mut app.store().reader(), app.now()).await?;
        due.retain(|(_, account)| !failed.contains(account));
        let Some((first, _)) = due.first().copied() else { return Ok(issued) };
        for (period, account) in due.into_iter().take_while(|(period, _)| *period == first) {
            match close(app, account, period).await {
                Ok(invoice) => issued += usize::from(invoice.is_some()),
                Err(error @ Error::Away(_)) => return Err(error),
                Err(error) => {
                    let cause = error.source().map(ToString::to_string);
                    tracing::error!(%account, %period, cause, "a month can't be billed: {error}");
                    failed.insert(account);
                }
            }
        }
    }
}

/// None if there was nothing to pay, or another control plane has closed it in
/// the meantime.
async fn close(app: &App, account: AccountId, period: Month) -> Result<Option<Invoice>> {
    let mut work = app.store().begin().await?;
    // No other transaction writes from here on, so none closes it now, or adds to it.
    if history::billed_until(&mut work, account).await? >= period.end() {
        return Ok(None);
    }
    let bill = make_bill(app, &mut work, account, period, period.end()).await?;
    let mut invoice = None;
    if !bill.lines.is_empty() {
        let now = app.now();
        let issued = invoices::insert(&mut work, account, &bill, now).await?;
        let extras = [
            ("number", issued.number.to_string()),
            ("period", period.to_string()),
            ("total", bill.total().to_string()),
        ];
        audit::insert_system(&mut work, account, now, "invoice.issue", &extras).await?;
        invoice = Some(issued);
    }
    history::set_billed_until(&mut work, account, period.end()).await?;
    work.commit().await?;
    if let Some(Invoice { number, .. }) = &invoice {
        tracing::info!(%account, %period, number, "invoice issued");
    }
    Ok(invoice)
}
