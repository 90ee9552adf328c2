//! The audit log as its account reads it, the tasks that seal it and sum up what is beyond
//! its budget, and what the operator does with it.

mod archive;
mod sealing;

pub use archive::{Archived, prune, write_archive};
pub use sealing::{Verified, seal_due, verify};
pub use store::AuditLine;
pub use store::chain::archive::{Archive, Reading, Section, Unsound};

use crate::{App, Asked, Caller, Result, Right};
use model::{AccountId, Month, SignedDuration, Timestamp};
use store::Reader;
use store::audit::Cursor;

const PAGE: u32 = 500;

/// Which month, as sent; none: the latest that has lines.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub timestamp: Option<String>,
}

/// Lines that are still to be read, oldest first.
pub struct Export {
    reader: Reader,
    account_id: AccountId,
    /// Where the next page begins; none at the end.
    after: Option<Cursor>,
    to: Timestamp,
}

/// One month of an account's audit log, in pages: a month can be larger than
/// memory.
pub async fn export(caller: &Caller, app: &App, wanted: Asked<Wanted>) -> Result<Export> {
    caller.may(Right::SeeAuditLog)?;
    let (wanted, mut problems) = wanted.open()?;
    let given = wanted.timestamp.and_then(|text| problems.take("timestamp", text.parse::<Month>()));
    problems.finish()?;
    let mut reader = app.store().reader();
    let account_id = caller.account_id;
    let month = match given {
        Some(month) => Some(month),
        None => store::audit::latest_month(&mut reader, account_id).await?,
    };
    let to = month.map_or(Timestamp::MIN, Month::end);
    Ok(Export { reader, account_id, after: month.map(Cursor::before), to })
}

impl Export {
    /// The next lines; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<AuditLine>>> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let page =
            store::audit::page(&mut self.reader, self.account_id, after, self.to, PAGE).await?;
        let (lines, next) = page;
        self.after = next;
        Ok(Some(lines))
    }
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Writes the summaries of hours that are over; of how many accounts. The counts go in the
/// transaction of the line, so that none is told twice.
pub async fn summarise_due(app: &App) -> Result<usize> {
    let begin = beginning_of_hour(app.now());
    let mut reader = app.store().reader();
    let accounts = store::audit::withheld_before(&mut reader, begin).await?;
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
    store::audit::insert_summary(&mut work, account, app.now(), &withheld).await?;
    Ok(work.commit().await?)
}

fn beginning_of_hour(time: Timestamp) -> Timestamp {
    let hour = HOUR.as_secs();
    Timestamp::from_second(time.as_second().div_euclid(hour) * hour).unwrap_or(time)
}
