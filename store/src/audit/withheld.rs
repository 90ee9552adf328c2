//! Lines within a budget of bytes a day, and counts of those beyond it.

use super::{AuditLine, insert};
use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{AccountId, Timestamp};

/// What a line takes beside its texts: ids, mark, hash and indexes.
const OVERHEAD: usize = 300;
const MICROSECONDS_A_DAY: i64 = 24 * 3600 * 1_000_000;

/// Lines of one event and user that were not written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withheld {
    pub event: String,
    pub user: String,
    pub lines: i64,
    /// The times of the first and the last of them.
    pub since: Timestamp,
    pub until: Timestamp,
}

/// Writes the line while its share has written no more than `most` bytes on that day;
/// counts it otherwise.
pub async fn insert_within(
    work: &mut Work,
    line: &AuditLine,
    share: &str,
    most: i64,
) -> Result<()> {
    if spend(work, line, share).await? <= most {
        return insert(work, line).await;
    }
    let query = Query::new(
        "INSERT INTO audit_withheld (account_id, event, user_email, lines, since, until) \
         VALUES ($1, $2, $3, 1, $4, $4) ON CONFLICT (account_id, event, user_email) \
         DO UPDATE SET lines = audit_withheld.lines + 1, until = $4",
    )
    .bind(line.account_id.to_string())
    .bind(line.event.as_str())
    .bind(line.user.as_str())
    .bind(line.at);
    work.execute(query).await.map(drop)
}

/// Adds the line to what its share has written on its day; how much that is then.
async fn spend(work: &mut Work, line: &AuditLine, share: &str) -> Result<i64> {
    let texts = [&line.event, &line.source, &line.user, &line.extras];
    let bytes = OVERHEAD + texts.iter().map(|text| text.len()).sum::<usize>();
    let query = Query::new(
        "INSERT INTO audit_spent (account_id, share, day, bytes) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account_id, share) DO UPDATE SET day = $3, \
         bytes = CASE WHEN audit_spent.day = $3 THEN audit_spent.bytes + $4 ELSE $4 END \
         RETURNING bytes",
    )
    .bind(line.account_id.to_string())
    .bind(share)
    .bind(line.at.as_microsecond().div_euclid(MICROSECONDS_A_DAY))
    .bind(i64::try_from(bytes).unwrap_or(i64::MAX));
    work.fetch_one(query).await?.map_or(Ok(0), |row| row.int("bytes"))
}

/// Accounts with lines that were first withheld before that.
pub async fn withheld_before(run: &mut impl Run, time: Timestamp) -> Result<Vec<AccountId>> {
    let query = Query::new(
        "SELECT DISTINCT account_id FROM audit_withheld WHERE since < $1 ORDER BY account_id",
    );
    let rows = run.fetch(query.bind(time)).await?;
    rows.iter().map(|row| row.parse("account_id")).collect()
}

/// All that was withheld of an account, by event and user. It is counted anew from then on.
pub async fn take_withheld(work: &mut Work, account: AccountId) -> Result<Vec<Withheld>> {
    let query = Query::new("DELETE FROM audit_withheld WHERE account_id = $1 RETURNING *");
    let rows = work.fetch(query.bind(account.to_string())).await?;
    let mut withheld = rows.iter().map(withheld).collect::<Result<Vec<Withheld>>>()?;
    withheld.sort_by(|a, b| (&a.event, &a.user).cmp(&(&b.event, &b.user)));
    Ok(withheld)
}

fn withheld(row: &Row) -> Result<Withheld> {
    Ok(Withheld {
        event: row.text("event")?,
        user: row.text("user_email")?,
        lines: row.int("lines")?,
        since: row.time("since")?,
        until: row.time("until")?,
    })
}
