//! Texts that are good once for signing in, found by their hash. A user has one of each
//! purpose at a time.

use crate::db::{Query, Row, Run};
use crate::{Result, Work, hash_key};
use model::{LoginToken, LoginTokenId, Secret, Timestamp, UserId};

/// Takes the place of the one that the user has for the same purpose.
pub async fn insert(work: &mut Work, new: &LoginToken, token: &Secret) -> Result<()> {
    let old = Query::new("DELETE FROM login_tokens WHERE user_id = $1 AND purpose = $2")
        .bind(new.user_id.to_string())
        .bind(new.purpose.as_str());
    work.execute(old).await?;
    let query = Query::new(
        "INSERT INTO login_tokens (id, user_id, purpose, token_hash, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(new.id.to_string())
    .bind(new.user_id.to_string())
    .bind(new.purpose.as_str())
    .bind(hash_key(token))
    .bind(new.created_at)
    .bind(new.expires_at);
    work.execute(query).await.map(drop)
}

/// The one that this text is of, unless it has expired.
pub async fn find(
    run: &mut impl Run,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<LoginToken>> {
    let query = Query::new("SELECT * FROM login_tokens WHERE token_hash = $1 AND expires_at > $2")
        .bind(hash_key(token))
        .bind(now);
    run.fetch_one(query).await?.map(|row| login_token(&row)).transpose()
}

/// False if there is none; so of several at once one gets true.
pub async fn remove(work: &mut Work, id: LoginTokenId) -> Result<bool> {
    let query = Query::new("DELETE FROM login_tokens WHERE id = $1").bind(id.to_string());
    Ok(work.execute(query).await? == 1)
}

pub async fn remove_all(work: &mut Work, user: UserId) -> Result<()> {
    let query = Query::new("DELETE FROM login_tokens WHERE user_id = $1").bind(user.to_string());
    work.execute(query).await.map(drop)
}

/// Forgets those that have expired.
pub(crate) async fn forget(work: &mut Work, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM login_tokens WHERE expires_at <= $1").bind(now);
    work.execute(query).await.map(drop)
}

fn login_token(row: &Row) -> Result<LoginToken> {
    Ok(LoginToken {
        id: row.parse("id")?,
        user_id: row.parse("user_id")?,
        purpose: row.parse("purpose")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
    })
}
