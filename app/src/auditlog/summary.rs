//! One line an hour of what was beyond an account's budget. Takes no caller: it is a task.

use crate::{App, Result, audit};
use model::{AccountId, SignedDuration, Timestamp};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Writes the summaries of hours that are over; of how many accounts. The counts go in the
/// transaction of the line, so that none is told twice.
pub async fn summarise_due(app: &App) -> Result<usize> {
    let begin = beginning_of_hour(app.now());
    let mut reader = app.store().reader();
    let accounts = store::audit::withheld_outside(&mut reader, begin, begin + HOUR).await?;
    for account in &accounts {
        summarise(app, *account).await?;
    }
    Ok(accounts.len())
}

async fn summarise(app: &App, account: AccountId) -> Result<()> {
    let mut work = app.store().begin().await?;
    let withheld = store::audit::take_withheld(&mut work, account).await?;
    if withheld.is_empty() {
        return Ok(());
    }
    let extras = audit::summary_extras(&withheld);
    audit::summary(&mut work, account, app.now(), &extras).await?;
    Ok(work.commit().await?)
}

fn beginning_of_hour(time: Timestamp) -> Timestamp {
    let hour = HOUR.as_secs();
    Timestamp::from_second(time.as_second().div_euclid(hour) * hour).unwrap_or(time)
}
