//! Customer keys, found by their hash.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work, hash_key};
use model::{AccountId, ApiKey, KeyId, Secret, SignedDuration, Timestamp, UserId};
use std::net::IpAddr;

/// How long a key that has expired is listed.
const EXPIRED: SignedDuration = SignedDuration::from_hours(24 * 30);

/// That a key was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyUse {
    pub at: Timestamp,
    pub from: Option<IpAddr>,
}

pub async fn insert(work: &mut Work, key: &ApiKey, secret: &Secret) -> Result<()> {
    let query = Query::new(
        "INSERT INTO apikeys (id, user_id, hash, role, tags, comment, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(key.id.to_string())
    .bind(key.user_id.to_string())
    .bind(hash_key(secret))
    .bind(key.role.as_str())
    .bind(json(&key.tags))
    .bind(key.comment.as_str())
    .bind(key.created_at)
    .bind(key.expires_at);
    work.execute(query).await.map(drop)
}

/// Also one that has expired.
pub async fn find(run: &mut impl Run, secret: &Secret) -> Result<Option<ApiKey>> {
    let query = Query::new("SELECT * FROM apikeys WHERE hash = $1").bind(hash_key(secret));
    run.fetch_one(query).await?.map(|row| apikey(&row)).transpose()
}

pub async fn find_by_id(run: &mut impl Run, id: KeyId) -> Result<Option<ApiKey>> {
    let query = Query::new("SELECT * FROM apikeys WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| apikey(&row)).transpose()
}

/// A user's keys, oldest first.
pub async fn list(run: &mut impl Run, user: UserId) -> Result<Vec<ApiKey>> {
    let query = Query::new("SELECT * FROM apikeys WHERE user_id = $1 ORDER BY created_at, id")
        .bind(user.to_string());
    run.fetch(query).await?.iter().map(apikey).collect()
}

/// The keys of everybody in an account, oldest first.
pub async fn list_account(run: &mut impl Run, account: AccountId) -> Result<Vec<ApiKey>> {
    let query = Query::new(
        "SELECT apikeys.* FROM apikeys JOIN users ON users.id = apikeys.user_id \
         WHERE users.account_id = $1 ORDER BY apikeys.created_at, apikeys.id",
    )
    .bind(account.to_string());
    run.fetch(query).await?.iter().map(apikey).collect()
}

/// False if there is no such key; so of several at once one gets true.
pub async fn remove(work: &mut Work, id: KeyId) -> Result<bool> {
    let query = Query::new("DELETE FROM apikeys WHERE id = $1").bind(id.to_string());
    Ok(work.execute(query).await? == 1)
}

/// Notes when keys were last used. Those that are gone since are left out.
pub async fn set_last_used(work: &mut Work, used: &[(KeyId, KeyUse)]) -> Result<()> {
    for (id, KeyUse { at, from }) in used {
        let query = Query::new(
            "UPDATE apikeys SET last_used_at = $2, last_used_from = $3 \
             WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)",
        );
        let from = from.map(|address| address.to_string());
        work.execute(query.bind(id.to_string()).bind(*at).bind(from)).await?;
    }
    Ok(())
}

/// Forgets keys that have expired long ago.
pub(crate) async fn forget(work: &mut Work, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM apikeys WHERE expires_at <= $1").bind(now - EXPIRED);
    work.execute(query).await.map(drop)
}

fn apikey(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.parse("id")?,
        user_id: row.parse("user_id")?,
        role: row.parse("role")?,
        tags: row.json("tags")?,
        comment: row.text("comment")?,
        created_at: row.time("created_at")?,
        expires_at: row.time_or_none("expires_at")?,
        last_used_at: row.time_or_none("last_used_at")?,
        last_used_from: row.parse_or_none("last_used_from")?,
    })
}
