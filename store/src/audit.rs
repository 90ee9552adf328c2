//! The audit log: one line for every change, in the change's own transaction.
//! A line beyond its account's budget is counted instead ([`insert_within_budget`]).
//!
//! The writer of a line marks it with the master key, so that one put there by
//! other means is known. Lines are sealed into their account's chain later
//! ([`crate::chain`]), so that writers don't wait for each other.

use crate::db::{Query, Row, Run};
use crate::{MasterKey, Result, Work, chain};
use model::{AccountId, Month, Timestamp};
use serde::{Deserialize, Serialize};

mod budget;
mod extras;
mod withheld;

pub use budget::insert_within_budget;
pub use extras::{join_extras, split_extras};
pub use withheld::{Withheld, insert_within, take_withheld, withheld_before};

/// Who the control plane itself is.
const SYSTEM: &str = "system@localhost";
/// Where lines of the control plane itself come from.
const SYSTEM_SOURCE: &str = "system";
/// The most bytes of the extras of a line.
pub const MOST_EXTRAS: usize = 2048;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditLine {
    pub account_id: AccountId,
    pub at: Timestamp,
    /// `<noun>.<verb>`, such as `instance.create`.
    pub event: String,
    /// The kind of caller and its address.
    pub source: String,
    pub user: String,
    /// `k=v; k=v`; never a secret.
    pub extras: String,
}

pub async fn insert(work: &mut Work, line: &AuditLine) -> Result<()> {
    let id = work.next("audit").await?;
    let query = insertion(work.master_key(), id, line);
    work.execute(query).await.map(drop)
}

/// The line of something that nobody asked for.
pub async fn insert_system(
    work: &mut Work,
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> Result<()> {
    insert_within_budget(work, &system_line(account_id, at, event, extras)).await
}

/// The line that says how many lines were beyond the budget. It is no part of the budget.
pub async fn insert_summary(
    work: &mut Work,
    account_id: AccountId,
    at: Timestamp,
    withheld: &[Withheld],
) -> Result<()> {
    let extras = budget::summary_extras(withheld);
    insert(work, &system_line(account_id, at, "audit.summary", &extras)).await
}

fn system_line(
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> AuditLine {
    let (source, user) = (SYSTEM_SOURCE.into(), SYSTEM.into());
    let extras = join_extras(extras, MOST_EXTRAS);
    AuditLine { account_id, at, event: event.into(), source, user, extras }
}

pub(crate) fn insertion(key: &MasterKey, id: i64, line: &AuditLine) -> Query {
    Query::new(
        "INSERT INTO audit (id, account_id, at, event, source, user_email, extras, mark_sealed) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id)
    .bind(line.account_id.to_string())
    .bind(line.at)
    .bind(line.event.as_str())
    .bind(line.source.as_str())
    .bind(line.user.as_str())
    .bind(line.extras.as_str())
    .bind(chain::mark(key, id, line))
}

/// An account's lines, oldest first.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<AuditLine>> {
    let query = Query::new("SELECT * FROM audit WHERE account_id = $1 ORDER BY at, id")
        .bind(account.to_string());
    run.fetch(query).await?.iter().map(line).collect()
}

/// Behind which line a page begins. Time comes first: it is what people sort by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor {
    at: Timestamp,
    id: i64,
}

impl Cursor {
    /// Before everything of the month.
    pub fn before(month: Month) -> Self {
        Self { at: month.start(), id: 0 }
    }
}

/// The next lines of an account in time, up to `limit` of them and before `to`,
/// and where the page after them begins; none if there is nothing more.
pub async fn page(
    run: &mut impl Run,
    account: AccountId,
    after: Cursor,
    to: Timestamp,
    limit: u32,
) -> Result<(Vec<AuditLine>, Option<Cursor>)> {
    let query = Query::new(
        "SELECT * FROM audit WHERE account_id = $1 AND at >= $2 AND at < $4 \
         AND (at > $2 OR id > $3) ORDER BY at, id LIMIT $5",
    )
    .bind(account.to_string())
    .bind(after.at)
    .bind(after.id)
    .bind(to)
    .bind(limit);
    let rows = run.fetch(query).await?;
    let next = match rows.last() {
        Some(last) if rows.len() == limit as usize => {
            Some(Cursor { at: last.time("at")?, id: last.int("id")? })
        }
        _ => None,
    };
    Ok((rows.iter().map(line).collect::<Result<_>>()?, next))
}

/// The latest month that an account has lines in.
pub async fn latest_month(run: &mut impl Run, account: AccountId) -> Result<Option<Month>> {
    let query = Query::new("SELECT at FROM audit WHERE account_id = $1 ORDER BY at DESC LIMIT 1")
        .bind(account.to_string());
    let row = run.fetch_one(query).await?;
    row.map(|row| Ok(Month::containing(row.time("at")?))).transpose()
}

pub(crate) fn line(row: &Row) -> Result<AuditLine> {
    Ok(AuditLine {
        account_id: row.parse("account_id")?,
        at: row.time("at")?,
        event: row.text("event")?,
        source: row.text("source")?,
        user: row.text("user_email")?,
        extras: row.text("extras")?,
    })
}
