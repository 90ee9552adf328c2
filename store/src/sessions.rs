//! Sessions of people at the console, found by the hash of what their browser shows.

use crate::db::{Query, Row, Run};
use crate::{Result, Work, hash_key};
use model::{Secret, Session, SessionId, Timestamp, UserId};

/// How many are looked at together that have ended by themselves.
const BATCH: u32 = 500;

pub async fn insert(work: &mut Work, new: &Session, token: &Secret) -> Result<()> {
    let query = Query::new(
        "INSERT INTO sessions \
         (id, user_id, token_hash, by_link, started_at, last_seen_at, address, browser) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(new.id.to_string())
    .bind(new.user_id.to_string())
    .bind(hash_key(token))
    .bind(new.by_link)
    .bind(new.started_at)
    .bind(new.last_seen_at)
    .bind(new.address.map(|address| address.to_string()))
    .bind(new.browser.as_str());
    work.execute(query).await.map(drop)
}

/// Also one that is over.
pub async fn find(run: &mut impl Run, token: &Secret) -> Result<Option<Session>> {
    let query = Query::new("SELECT * FROM sessions WHERE token_hash = $1").bind(hash_key(token));
    run.fetch_one(query).await?.map(|row| session(&row)).transpose()
}

pub async fn find_by_id(run: &mut impl Run, id: SessionId) -> Result<Option<Session>> {
    let query = Query::new("SELECT * FROM sessions WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| session(&row)).transpose()
}

/// A user's, the one that was seen last first.
pub async fn list(run: &mut impl Run, user: UserId) -> Result<Vec<Session>> {
    let query = Query::new(
        "SELECT * FROM sessions WHERE user_id = $1 \
         ORDER BY last_seen_at DESC, started_at DESC, id",
    )
    .bind(user.to_string());
    run.fetch(query).await?.iter().map(session).collect()
}

/// Some of those that have ended by themselves.
pub async fn list_over(run: &mut impl Run, now: Timestamp) -> Result<Vec<Session>> {
    let query = Query::new(
        "SELECT * FROM sessions WHERE last_seen_at <= $1 OR started_at <= $2 \
         ORDER BY last_seen_at LIMIT $3",
    )
    .bind(now - Session::IDLE)
    .bind(now - Session::LIFE)
    .bind(BATCH);
    run.fetch(query).await?.iter().map(session).collect()
}

/// False if there is none; so of several at once one gets true.
pub async fn remove(work: &mut Work, id: SessionId) -> Result<bool> {
    let query = Query::new("DELETE FROM sessions WHERE id = $1").bind(id.to_string());
    Ok(work.execute(query).await? == 1)
}

/// Removes those of a user but for one. How many those were.
pub async fn remove_all(work: &mut Work, user: UserId, but: Option<SessionId>) -> Result<u64> {
    let query = Query::new("DELETE FROM sessions WHERE user_id = $1 AND id <> $2")
        .bind(user.to_string())
        .bind(but.map(|id| id.to_string()).unwrap_or_default());
    work.execute(query).await
}

/// Notes when people were last seen. Sessions that have ended since are left out.
pub async fn set_last_seen(work: &mut Work, seen: &[(SessionId, Timestamp)]) -> Result<()> {
    for (id, at) in seen {
        let query =
            Query::new("UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2");
        work.execute(query.bind(id.to_string()).bind(*at)).await?;
    }
    Ok(())
}

fn session(row: &Row) -> Result<Session> {
    Ok(Session {
        id: row.parse("id")?,
        user_id: row.parse("user_id")?,
        by_link: row.flag("by_link")?,
        started_at: row.time("started_at")?,
        last_seen_at: row.time("last_seen_at")?,
        address: row.parse_or_none("address")?,
        browser: row.text("browser")?,
    })
}
