//! Invitations to teams, found by the hash of their token.
//!
//! An e-mail has one in an account at a time. One that has expired is as good
//! as none, and goes with the next that is made.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work, hash_key};
use model::{AccountId, Invitation, InvitationId, Secret, Timestamp, email_key};

/// Writes an invitation and forgets those that have expired.
pub async fn insert(work: &mut Work, new: &Invitation, token: &Secret) -> Result<()> {
    forget(work, new.created_at).await?;
    let query = Query::new(
        "INSERT INTO invitations \
         (id, account_id, email, email_key, role, tags, token_hash, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(new.id.to_string())
    .bind(new.account_id.to_string())
    .bind(new.email.as_str())
    .bind(email_key(&new.email))
    .bind(new.role.as_str())
    .bind(json(&new.tags))
    .bind(hash_key(token))
    .bind(new.created_at)
    .bind(new.expires_at);
    work.execute(query).await.map(drop)
}

/// Forgets links that have expired.
pub(crate) async fn forget(work: &mut Work, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM invitations WHERE expires_at <= $1").bind(now);
    work.execute(query).await.map(drop)
}

/// The invitation that a link is of, unless it has expired.
pub async fn find(
    run: &mut impl Run,
    token: &Secret,
    now: Timestamp,
) -> Result<Option<Invitation>> {
    let query = Query::new("SELECT * FROM invitations WHERE token_hash = $1 AND expires_at > $2")
        .bind(hash_key(token))
        .bind(now);
    run.fetch_one(query).await?.map(|row| invitation(&row)).transpose()
}

/// The invitation that waits for this e-mail, also an expired one.
pub async fn find_by_email(
    run: &mut impl Run,
    account: AccountId,
    email: &str,
) -> Result<Option<Invitation>> {
    let query = Query::new("SELECT * FROM invitations WHERE account_id = $1 AND email_key = $2")
        .bind(account.to_string())
        .bind(email_key(email));
    run.fetch_one(query).await?.map(|row| invitation(&row)).transpose()
}

/// False if there is none; so of several at once one gets true.
pub async fn remove(work: &mut Work, id: InvitationId) -> Result<bool> {
    let query = Query::new("DELETE FROM invitations WHERE id = $1").bind(id.to_string());
    Ok(work.execute(query).await? == 1)
}

fn invitation(row: &Row) -> Result<Invitation> {
    Ok(Invitation {
        id: row.parse("id")?,
        account_id: row.parse("account_id")?,
        email: row.text("email")?,
        role: row.parse("role")?,
        tags: row.json("tags")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
    })
}
