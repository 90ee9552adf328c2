//! Accounts and their users.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::{Account, AccountId, User, UserId};

/// An account is made together with its first user.
#[derive(Clone, Debug)]
pub struct NewAccount {
    pub account: Account,
    pub owner: User,
}

pub async fn insert(work: &mut Work, new: &NewAccount) -> Result<()> {
    let Account { id, name, email, created_at } = &new.account;
    let query =
        Query::new("INSERT INTO accounts (id, name, email, created_at) VALUES ($1, $2, $3, $4)")
            .bind(id.to_string())
            .bind(name.as_str())
            .bind(email.as_str())
            .bind(*created_at);
    work.execute(query).await?;
    insert_user(work, &new.owner).await
}

pub async fn insert_user(work: &mut Work, user: &User) -> Result<()> {
    let query = Query::new(
        "INSERT INTO users (id, account_id, email, email_key, role, tags, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(user.id.to_string())
    .bind(user.account_id.to_string())
    .bind(user.email.as_str())
    .bind(user.email.to_lowercase())
    .bind(user.role.as_str())
    .bind(json(&user.tags))
    .bind(user.created_at);
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, id: AccountId) -> Result<Option<Account>> {
    let query = Query::new("SELECT * FROM accounts WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| account(&row)).transpose()
}

pub async fn find_user(run: &mut impl Run, id: UserId) -> Result<Option<User>> {
    let query = Query::new("SELECT * FROM users WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| user(&row)).transpose()
}

/// An account's first admin.
pub async fn find_owner(run: &mut impl Run, account: AccountId) -> Result<Option<User>> {
    let query = Query::new(
        "SELECT * FROM users WHERE account_id = $1 AND role = 'admin' ORDER BY created_at, id",
    )
    .bind(account.to_string());
    run.fetch_one(query).await?.map(|row| user(&row)).transpose()
}

/// All accounts, oldest first.
pub async fn list(run: &mut impl Run) -> Result<Vec<Account>> {
    let rows = run.fetch(Query::new("SELECT * FROM accounts ORDER BY created_at, id")).await?;
    rows.iter().map(account).collect()
}

fn account(row: &Row) -> Result<Account> {
    Ok(Account {
        id: row.parse("id")?,
        name: row.text("name")?,
        email: row.text("email")?,
        created_at: row.time("created_at")?,
    })
}

fn user(row: &Row) -> Result<User> {
    Ok(User {
        id: row.parse("id")?,
        account_id: row.parse("account_id")?,
        email: row.text("email")?,
        role: row.parse("role")?,
        tags: row.json("tags")?,
        created_at: row.time("created_at")?,
    })
}
