//! One month of an account's audit log, in pages: a month can be larger than
//! memory.

use crate::{App, Asked, Caller, Result, Right};
use model::{AccountId, Month, Timestamp};
use store::audit::{self, Cursor};
use store::{AuditLine, Reader};

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

pub async fn export(caller: &Caller, app: &App, wanted: Asked<Wanted>) -> Result<Export> {
    caller.may(Right::SeeAuditLog)?;
    let (wanted, mut problems) = wanted.open()?;
    let given = wanted.timestamp.and_then(|text| problems.take("timestamp", text.parse::<Month>()));
    problems.finish()?;
    let mut reader = app.store().reader();
    let account_id = caller.account_id;
    let month = match given {
        Some(month) => Some(month),
        None => audit::latest_month(&mut reader, account_id).await?,
    };
    let to = month.map_or(Timestamp::MIN, Month::end);
    Ok(Export { reader, account_id, after: month.map(Cursor::before), to })
}

impl Export {
    /// The next lines; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<AuditLine>>> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let page = audit::page(&mut self.reader, self.account_id, after, self.to, PAGE).await?;
        let (lines, next) = page;
        self.after = next;
        Ok(Some(lines))
    }
}
