//! The users of accounts: their teams.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work, login_tokens, second_factors, sessions};
use model::{AccountId, Role, Secret, Tags, User, UserId, email_key};

pub async fn insert(work: &mut Work, user: &User) -> Result<()> {
    let query = Query::new(
        "INSERT INTO users \
         (id, account_id, email, email_key, name, tfa_enabled, role, tags, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(user.id.to_string())
    .bind(user.account_id.to_string())
    .bind(user.email.as_str())
    .bind(email_key(&user.email))
    .bind(user.name.as_str())
    .bind(user.tfa_enabled)
    .bind(user.role.as_str())
    .bind(json(&user.tags))
    .bind(user.created_at);
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, id: UserId) -> Result<Option<User>> {
    let query = Query::new("SELECT * FROM users WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| user(&row)).transpose()
}

/// The member of a team with this e-mail, in whatever case it is written.
pub async fn find_by_email(
    run: &mut impl Run,
    account: AccountId,
    email: &str,
) -> Result<Option<User>> {
    let query = Query::new("SELECT * FROM users WHERE account_id = $1 AND email_key = $2")
        .bind(account.to_string())
        .bind(email_key(email));
    run.fetch_one(query).await?.map(|row| user(&row)).transpose()
}

/// Everybody with this e-mail, in whichever account.
pub async fn find_everywhere(run: &mut impl Run, email: &str) -> Result<Vec<User>> {
    let query = Query::new("SELECT * FROM users WHERE email_key = $1 ORDER BY created_at, id")
        .bind(email_key(email));
    run.fetch(query).await?.iter().map(user).collect()
}

/// An account's first admin.
pub async fn find_owner(run: &mut impl Run, account: AccountId) -> Result<Option<User>> {
    let query = Query::new(
        "SELECT * FROM users WHERE account_id = $1 AND role = 'admin' ORDER BY created_at, id",
    )
    .bind(account.to_string());
    run.fetch_one(query).await?.map(|row| user(&row)).transpose()
}

/// An account's team, by e-mail.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<User>> {
    let query = Query::new("SELECT * FROM users WHERE account_id = $1 ORDER BY email_key")
        .bind(account.to_string());
    run.fetch(query).await?.iter().map(user).collect()
}

/// Whether the account has an admin beside this user.
pub async fn has_another_admin(
    run: &mut impl Run,
    account: AccountId,
    user: UserId,
) -> Result<bool> {
    let query = Query::new(
        "SELECT id FROM users WHERE account_id = $1 AND role = 'admin' AND id <> $2 LIMIT 1",
    )
    .bind(account.to_string())
    .bind(user.to_string());
    Ok(run.fetch_one(query).await?.is_some())
}

pub async fn set_role(work: &mut Work, id: UserId, role: Role, tags: &Tags) -> Result<()> {
    let query = Query::new("UPDATE users SET role = $2, tags = $3 WHERE id = $1")
        .bind(id.to_string())
        .bind(role.as_str())
        .bind(json(tags));
    work.execute(query).await.map(drop)
}

pub async fn set_name(work: &mut Work, id: UserId, name: &str) -> Result<()> {
    let query =
        Query::new("UPDATE users SET name = $2 WHERE id = $1").bind(id.to_string()).bind(name);
    work.execute(query).await.map(drop)
}

/// Whether a login asks for a second factor.
pub async fn set_tfa_enabled(work: &mut Work, id: UserId, enabled: bool) -> Result<()> {
    let query = Query::new("UPDATE users SET tfa_enabled = $2 WHERE id = $1")
        .bind(id.to_string())
        .bind(enabled);
    work.execute(query).await.map(drop)
}

/// The hash is a PHC string of Argon2id; the password itself never gets here.
pub async fn set_password_hash(work: &mut Work, id: UserId, hash: &Secret) -> Result<()> {
    let query = Query::new("UPDATE users SET password_hash = $2 WHERE id = $1")
        .bind(id.to_string())
        .bind(hash.expose());
    work.execute(query).await.map(drop)
}

/// None for a user who has no password.
pub async fn find_password_hash(run: &mut impl Run, id: UserId) -> Result<Option<Secret>> {
    let query = Query::new("SELECT password_hash FROM users WHERE id = $1").bind(id.to_string());
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(row.text_or_none("password_hash")?.map(Secret::new))
}

/// Removes the user with every key of theirs, and every other way in. How many keys those were.
pub async fn remove(work: &mut Work, id: UserId) -> Result<u64> {
    let keys = Query::new("DELETE FROM apikeys WHERE user_id = $1").bind(id.to_string());
    let keys = work.execute(keys).await?;
    let answers = Query::new("DELETE FROM idempotency WHERE user_id = $1").bind(id.to_string());
    work.execute(answers).await?;
    sessions::remove_all(work, id, None).await?;
    login_tokens::remove_all(work, id).await?;
    second_factors::remove(work, id).await?;
    work.execute(Query::new("DELETE FROM users WHERE id = $1").bind(id.to_string())).await?;
    Ok(keys)
}

fn user(row: &Row) -> Result<User> {
    Ok(User {
        id: row.parse("id")?,
        account_id: row.parse("account_id")?,
        email: row.text("email")?,
        name: row.text("name")?,
        tfa_enabled: row.flag("tfa_enabled")?,
        role: row.parse("role")?,
        tags: row.json("tags")?,
        created_at: row.time("created_at")?,
    })
}
