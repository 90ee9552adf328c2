//! Taking one instance back from an earlier store of the same installation.
//!
//! Sealed values are bound to their row and to the master key, both of which
//! stay the same, so the rows are copied as they are.

use crate::db::Query;
use crate::work::NEXT;
use crate::{AuditLine, Error, MasterKey, Result, audit};
use model::InstanceId;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, Sqlite, Transaction};
use std::path::Path;

/// In the order in which rows refer to each other. Both stores have had the
/// same migrations, so their columns stand in the same order.
const COPIES: [&str; 18] = [
    "INSERT INTO vpcs SELECT * FROM earlier.vpcs WHERE id = \
     (SELECT vpc_id FROM earlier.instances WHERE id = $1) AND id NOT IN (SELECT id FROM vpcs)",
    "INSERT INTO instances SELECT * FROM earlier.instances WHERE id = $1",
    "INSERT INTO servers SELECT * FROM earlier.servers WHERE instance_id = $1",
    "INSERT INTO listeners SELECT * FROM earlier.listeners WHERE server_id IN \
     (SELECT id FROM earlier.servers WHERE instance_id = $1)",
    "INSERT INTO disks SELECT * FROM earlier.disks WHERE instance_id = $1",
    "INSERT INTO authorities SELECT * FROM earlier.authorities WHERE instance_id = $1",
    "INSERT INTO certificates SELECT * FROM earlier.certificates WHERE instance_id = $1",
    "INSERT INTO ssl_users SELECT * FROM earlier.ssl_users WHERE instance_id = $1",
    "INSERT INTO disk_guards SELECT * FROM earlier.disk_guards WHERE instance_id = $1",
    "INSERT INTO slowed_quotas SELECT * FROM earlier.slowed_quotas WHERE instance_id = $1",
    "INSERT INTO acls SELECT * FROM earlier.acls WHERE instance_id = $1",
    "INSERT INTO recipients SELECT * FROM earlier.recipients WHERE instance_id = $1",
    "INSERT INTO alarms SELECT * FROM earlier.alarms WHERE instance_id = $1",
    // One that is open goes on: people who heard that it began hear that it is over.
    "INSERT INTO incidents SELECT * FROM earlier.incidents WHERE instance_id = $1",
    "INSERT INTO actions SELECT * FROM earlier.actions WHERE instance_id = $1",
    "INSERT INTO action_steps SELECT * FROM earlier.action_steps WHERE action_id IN \
     (SELECT id FROM earlier.actions WHERE instance_id = $1)",
    "INSERT INTO resizes SELECT * FROM earlier.resizes WHERE instance_id = $1",
    // What it was since the backup is paid for as well.
    "INSERT INTO instance_history SELECT * FROM earlier.instance_history WHERE instance_id = $1 \
     AND id NOT IN (SELECT id FROM instance_history)",
];

/// Copies everything of an instance from `earlier` into `store` and writes the
/// audit line, or nothing. Both are up to date, and nobody else uses them.
pub async fn adopt(
    store: &Path,
    earlier: &Path,
    id: InstanceId,
    key: &MasterKey,
    line: &AuditLine,
) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(store).foreign_keys(true);
    let mut connection = options.connect().await?;
    let adopted = copy_all(&mut connection, earlier, id, key, line).await;
    connection.close().await?;
    adopted
}

async fn copy_all(
    connection: &mut SqliteConnection,
    earlier: &Path,
    id: InstanceId,
    key: &MasterKey,
    line: &AuditLine,
) -> Result<()> {
    let attach = sqlx::query("ATTACH $1 AS earlier").bind(earlier.to_string_lossy().into_owned());
    attach.execute(&mut *connection).await?;
    let mut open = connection.begin_with("BEGIN IMMEDIATE").await?;
    check_account(&mut open, id).await?;
    for copy in COPIES {
        sqlx::query(copy).bind(id.0).execute(&mut *open).await?;
    }
    // The engine looks at it first of all, and tells its agents anew.
    let due = sqlx::query("UPDATE instances SET due_at = 0 WHERE id = $1");
    due.bind(id.0).execute(&mut *open).await?;
    let next = Query::new(NEXT).bind("audit").sqlite().fetch_one(&mut *open).await?;
    let insert = audit::insertion(key, next.try_get("value")?, line);
    insert.sqlite().execute(&mut *open).await?;
    Ok(open.commit().await?)
}

async fn check_account(open: &mut Transaction<'_, Sqlite>, id: InstanceId) -> Result<()> {
    let query = sqlx::query(
        "SELECT 1 FROM accounts WHERE id = (SELECT account_id FROM earlier.instances WHERE id = $1)",
    );
    match query.bind(id.0).fetch_optional(&mut **open).await? {
        Some(_) => Ok(()),
        None => Err(Error::NoAccount(id)),
    }
}
