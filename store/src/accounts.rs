//! Accounts.

use crate::db::{Query, Row, Run};
use crate::{Result, Work, users};
use model::{Account, AccountId, User};

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
    users::insert(work, &new.owner).await
}

pub async fn find(run: &mut impl Run, id: AccountId) -> Result<Option<Account>> {
    let query = Query::new("SELECT * FROM accounts WHERE id = $1").bind(id.to_string());
    run.fetch_one(query).await?.map(|row| account(&row)).transpose()
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
