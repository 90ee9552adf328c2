//! The operator's hold on the engine: of one instance, or of all. Either one
//! stops every step; nothing else changes.

use crate::db::{Query, Run};
use crate::{Result, Work, instances};
use model::condition;
use model::{AccountId, InstanceId, Timestamp};

/// An instance as the operator of the engine sees it, also one that is being
/// torn down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    pub id: InstanceId,
    pub name: String,
    /// By itself; all may be paused beside that.
    pub paused: bool,
    pub status: String,
}

/// Whether all instances are paused at once.
pub async fn is_all_paused(run: &mut impl Run) -> Result<bool> {
    let query = Query::new("SELECT one FROM installation WHERE paused");
    Ok(run.fetch_one(query).await?.is_some())
}

/// Pauses or resumes one instance. False if there is none with that id.
pub async fn set(work: &mut Work, id: InstanceId, paused: bool, now: Timestamp) -> Result<bool> {
    let query =
        Query::new("UPDATE instances SET paused = $2 WHERE id = $1").bind(id.0).bind(paused);
    let found = work.execute(query).await? == 1;
    if found {
        // Also of a pause: the status is to say so now.
        instances::wake(work, id, now).await?;
    }
    Ok(found)
}

/// Pauses or resumes all. Instances that are paused by themselves stay so.
pub async fn set_all(work: &mut Work, paused: bool, now: Timestamp) -> Result<()> {
    work.execute(Query::new("UPDATE installation SET paused = $1").bind(paused)).await?;
    for watched in list(work).await? {
        instances::wake(work, watched.id, now).await?;
    }
    Ok(())
}

/// Accounts that a pause of all concerns.
pub async fn accounts(run: &mut impl Run) -> Result<Vec<AccountId>> {
    let query = Query::new("SELECT DISTINCT account_id FROM instances ORDER BY account_id");
    run.fetch(query).await?.iter().map(|row| row.parse("account_id")).collect()
}

/// Every instance of every account, by id.
pub async fn list(run: &mut impl Run) -> Result<Vec<Watched>> {
    let query =
        Query::new("SELECT id, name, paused, status, conditions FROM instances ORDER BY id");
    let rows = run.fetch(query).await?;
    rows.iter()
        .map(|row| {
            Ok(Watched {
                id: InstanceId(row.int("id")?),
                name: row.text("name")?,
                paused: row.flag("paused")?,
                status: condition::status(&instances::conditions(row)?),
            })
        })
        .collect()
}
