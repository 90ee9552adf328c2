//! Accounts.

use crate::db::{Query, Row, Run};
use crate::{Error, Result, Work, users};
use model::{Account, AccountId, Timestamp, User};

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

pub async fn set_email(work: &mut Work, id: AccountId, email: &str) -> Result<()> {
    let query =
        Query::new("UPDATE accounts SET email = $2 WHERE id = $1").bind(id.to_string()).bind(email);
    work.execute(query).await.map(drop)
}

/// What an account has, of which there may be limits. Instances that are deleted count
/// until nothing is left of them, and so do their servers, disks and networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holdings {
    pub instances: i64,
    pub vpcs: i64,
    pub servers: i64,
    pub disk_gb: i64,
    pub keys: i64,
    /// With invitations that can still be taken up.
    pub users: i64,
}

pub async fn holdings(run: &mut impl Run, id: AccountId, now: Timestamp) -> Result<Holdings> {
    let query = Query::new(
        "SELECT \
         (SELECT COUNT(*) FROM instances WHERE account_id = $1) AS instances, \
         (SELECT COUNT(*) FROM vpcs WHERE account_id = $1) AS vpcs, \
         (SELECT COUNT(*) FROM servers WHERE instance_id IN \
         (SELECT id FROM instances WHERE account_id = $1)) AS servers, \
         (SELECT CAST(COALESCE(SUM(size_gb), 0) AS BIGINT) FROM disks WHERE instance_id IN \
         (SELECT id FROM instances WHERE account_id = $1)) AS disk_gb, \
         (SELECT COUNT(*) FROM apikeys WHERE user_id IN \
         (SELECT id FROM users WHERE account_id = $1)) AS keys, \
         (SELECT COUNT(*) FROM users WHERE account_id = $1) + \
         (SELECT COUNT(*) FROM invitations WHERE account_id = $1 AND expires_at > $2) AS users",
    );
    let row = run.fetch_one(query.bind(id.to_string()).bind(now)).await?;
    let row = row.ok_or(Error::Corrupt { what: "no counts", value: id.to_string() })?;
    Ok(Holdings {
        instances: row.int("instances")?,
        vpcs: row.int("vpcs")?,
        servers: row.int("servers")?,
        disk_gb: row.int("disk_gb")?,
        keys: row.int("keys")?,
        users: row.int("users")?,
    })
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
