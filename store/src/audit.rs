//! The audit log: one line for every change, in the change's own transaction.

use crate::db::{Query, Run};
use crate::{Result, Work};
use model::{AccountId, Timestamp};

#[derive(Clone, PartialEq, Eq, Debug)]
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
    let query = Query::new(
        "INSERT INTO audit (id, account_id, at, event, source, user_email, extras) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(id)
    .bind(line.account_id.to_string())
    .bind(line.at)
    .bind(line.event.as_str())
    .bind(line.source.as_str())
    .bind(line.user.as_str())
    .bind(line.extras.as_str());
    work.execute(query).await.map(drop)
}

/// An account's lines, oldest first.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<AuditLine>> {
    let query = Query::new("SELECT * FROM audit WHERE account_id = $1 ORDER BY at, id")
        .bind(account.to_string());
    let rows = run.fetch(query).await?;
    rows.iter()
        .map(|row| {
            Ok(AuditLine {
                account_id: row.parse("account_id")?,
                at: row.time("at")?,
                event: row.text("event")?,
                source: row.text("source")?,
                user: row.text("user_email")?,
                extras: row.text("extras")?,
            })
        })
        .collect()
}
