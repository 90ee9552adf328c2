//! An account's bill for a month as far as it has come.

use crate::billing::meter;
use crate::{App, Error, Result};
use model::{AccountId, Bill, Month, Timestamp};
use store::{Run, history, invoices};

/// Made of what is known at `until`; whole once the month is over.
pub(super) async fn make(
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
