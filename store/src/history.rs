//! What instances were, and since when: written in the transaction of each
//! change and kept when the instance is gone. Within a month that is not closed, another
//! name or other tags replace those of the last entry, because bills tell the last ones.

use crate::db::{Query, Row, Run, json};
use crate::{Error, Result, Work};
use model::{
    AccountId, Cents, HistoryChange, HistoryEntry, InstanceId, InstanceName, Month, PlanName,
    Timestamp,
};

/// Adds an entry. Clocks of several control planes differ, and a transaction
/// may wait while a month is closed: the entry is then put where the one before
/// it, or the last closed month, ends.
pub async fn insert(work: &mut Work, entry: &HistoryEntry) -> Result<()> {
    let last = last(work, entry.instance_id).await?;
    let closed = billed_until(work, entry.account_id).await?;
    let at = entry.at.max(last.as_ref().map_or(closed, |last| last.at.max(closed)));
    if last.is_some_and(|last| is_label_of(entry, &last, at)) {
        return set_last_labels(work, entry).await;
    }
    let id = work.next("instance_history").await?;
    let query = Query::new(
        "INSERT INTO instance_history \
         (id, instance_id, account_id, at, change, name, plan, price_cents, tags) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(id)
    .bind(entry.instance_id.0)
    .bind(entry.account_id.to_string())
    .bind(at)
    .bind(entry.change.as_str())
    .bind(entry.name.as_str())
    .bind(entry.plan.0.as_str())
    .bind(entry.price.0)
    .bind(json(&entry.tags));
    work.execute(query).await.map(drop)
}

/// Whether an entry says nothing new to a bill but what the instance is called.
fn is_label_of(entry: &HistoryEntry, last: &HistoryEntry, at: Timestamp) -> bool {
    entry.change == HistoryChange::Changed
        && last.change != HistoryChange::Deleted
        && (&entry.plan, entry.price) == (&last.plan, last.price)
        && Month::containing(at) == Month::containing(last.at)
}

async fn set_last_labels(work: &mut Work, entry: &HistoryEntry) -> Result<()> {
    let query = Query::new(
        "UPDATE instance_history SET name = $2, tags = $3 \
         WHERE id = (SELECT MAX(id) FROM instance_history WHERE instance_id = $1)",
    )
    .bind(entry.instance_id.0)
    .bind(entry.name.as_str())
    .bind(json(&entry.tags));
    work.execute(query).await.map(drop)
}

/// How many instances the account has made since then.
pub async fn created_since(
    run: &mut impl Run,
    account: AccountId,
    since: Timestamp,
) -> Result<i64> {
    let query = Query::new(
        "SELECT COUNT(*) AS created FROM instance_history \
         WHERE account_id = $1 AND at > $2 AND change = 'created'",
    );
    let row = run.fetch_one(query.bind(account.to_string()).bind(since)).await?;
    row.map_or(Ok(0), |row| row.int("created"))
}

/// The instance as its history has it now.
pub async fn last(run: &mut impl Run, id: InstanceId) -> Result<Option<HistoryEntry>> {
    let query = Query::new(
        "SELECT * FROM instance_history WHERE instance_id = $1 ORDER BY id DESC LIMIT 1",
    )
    .bind(id.0);
    run.fetch_one(query).await?.map(|row| entry(&row)).transpose()
}

/// Everything that a bill for the time between the two is made of: of instances
/// that were not gone before, what they were at its beginning and every entry
/// since, by instance, oldest first.
pub async fn list(
    run: &mut impl Run,
    account: AccountId,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<HistoryEntry>> {
    let query = Query::new(
        "SELECT * FROM instance_history WHERE account_id = $1 AND at < $3 AND instance_id NOT IN \
         (SELECT instance_id FROM instance_history \
          WHERE account_id = $1 AND at < $2 AND change = 'deleted') \
         AND (at >= $2 OR id IN \
         (SELECT MAX(id) FROM instance_history \
          WHERE account_id = $1 AND at < $2 GROUP BY instance_id)) \
         ORDER BY instance_id, id",
    )
    .bind(account.to_string())
    .bind(from)
    .bind(to);
    run.fetch(query).await?.iter().map(entry).collect()
}

/// Until when the account's months are closed.
pub async fn billed_until(run: &mut impl Run, account: AccountId) -> Result<Timestamp> {
    let query =
        Query::new("SELECT billed_until FROM accounts WHERE id = $1").bind(account.to_string());
    let row = run.fetch_one(query).await?;
    row.map_or(Ok(Timestamp::UNIX_EPOCH), |row| row.time("billed_until"))
}

pub async fn set_billed_until(work: &mut Work, account: AccountId, at: Timestamp) -> Result<()> {
    let query = Query::new("UPDATE accounts SET billed_until = $2 WHERE id = $1")
        .bind(account.to_string())
        .bind(at);
    work.execute(query).await.map(drop)
}

/// Accounts with a month to close that is over at `now`, and the first of these
/// months; earlier months first, then older accounts.
pub async fn due(run: &mut impl Run, now: Timestamp) -> Result<Vec<(Month, AccountId)>> {
    let query = Query::new(
        "SELECT id, billed_until, \
         (SELECT MIN(at) FROM instance_history WHERE account_id = accounts.id) AS first_at \
         FROM accounts WHERE billed_until < $1 ORDER BY created_at, id",
    )
    .bind(Month::containing(now).start());
    let mut due = Vec::new();
    for row in run.fetch(query).await? {
        if let Some(first) = row.time_or_none("first_at")? {
            let month = Month::containing(first.max(row.time("billed_until")?));
            if month.end() <= now {
                due.push((month, row.parse("id")?));
            }
        }
    }
    due.sort_by_key(|(month, _)| *month);
    Ok(due)
}

/// Plans of entries that were made without knowing prices.
pub async fn unpriced(run: &mut impl Run) -> Result<Vec<PlanName>> {
    let query = Query::new("SELECT DISTINCT plan FROM instance_history WHERE price_cents IS NULL");
    run.fetch(query).await?.iter().map(|row| Ok(PlanName(row.text("plan")?))).collect()
}

pub async fn set_missing_price(work: &mut Work, plan: &PlanName, price: Cents) -> Result<()> {
    let query = Query::new(
        "UPDATE instance_history SET price_cents = $2 WHERE plan = $1 AND price_cents IS NULL",
    )
    .bind(plan.0.as_str())
    .bind(price.0);
    work.execute(query).await.map(drop)
}

fn entry(row: &Row) -> Result<HistoryEntry> {
    let id = row.int("id")?;
    Ok(HistoryEntry {
        instance_id: InstanceId(row.int("instance_id")?),
        account_id: row.parse("account_id")?,
        at: row.time("at")?,
        change: row.parse("change")?,
        name: InstanceName::parse(row.text("name")?)
            .map_err(|_| Error::Corrupt { what: "a name in a history", value: id.to_string() })?,
        plan: PlanName(row.text("plan")?),
        price: Cents(row.int("price_cents")?),
        tags: row.json("tags")?,
    })
}
