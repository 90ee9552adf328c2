//! Disks that are nearly full, and the quotas that were there before producers
//! were slowed down for it.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::{DiskGuard, InstanceId, ServerId, SlowedQuota};

/// By server.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<DiskGuard>> {
    let query = Query::new("SELECT * FROM disk_guards WHERE instance_id = $1 ORDER BY server_id");
    run.fetch(query.bind(instance.0)).await?.iter().map(guard).collect()
}

pub async fn find(run: &mut impl Run, server: ServerId) -> Result<Option<DiskGuard>> {
    let query = Query::new("SELECT * FROM disk_guards WHERE server_id = $1").bind(server.0);
    run.fetch_one(query).await?.as_ref().map(guard).transpose()
}

/// In place of what was known of the server.
pub async fn set(work: &mut Work, guard: &DiskGuard) -> Result<()> {
    remove(work, guard.server_id).await?;
    let query = Query::new(
        "INSERT INTO disk_guards (server_id, instance_id, level, since) VALUES ($1, $2, $3, $4)",
    )
    .bind(guard.server_id.0)
    .bind(guard.instance_id.0)
    .bind(guard.level.as_str())
    .bind(guard.since);
    work.execute(query).await.map(drop)
}

pub async fn remove(work: &mut Work, server: ServerId) -> Result<()> {
    let query = Query::new("DELETE FROM disk_guards WHERE server_id = $1").bind(server.0);
    work.execute(query).await.map(drop)
}

/// Whether producers are slowed down, and what is to be put back into Kafka once they
/// are let go.
pub async fn slowed(run: &mut impl Run, instance: InstanceId) -> Result<Option<Vec<SlowedQuota>>> {
    let query = Query::new("SELECT quotas FROM slowed_quotas WHERE instance_id = $1");
    run.fetch_one(query.bind(instance.0)).await?.map(|row| row.json("quotas")).transpose()
}

pub async fn set_slowed(
    work: &mut Work,
    instance: InstanceId,
    quotas: &[SlowedQuota],
) -> Result<()> {
    remove_slowed(work, instance).await?;
    let query = Query::new("INSERT INTO slowed_quotas (instance_id, quotas) VALUES ($1, $2)")
        .bind(instance.0)
        .bind(json(&quotas));
    work.execute(query).await.map(drop)
}

pub async fn remove_slowed(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM slowed_quotas WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

/// Everything of an instance.
pub(crate) async fn remove_all(work: &mut Work, instance: InstanceId) -> Result<()> {
    remove_slowed(work, instance).await?;
    let query = Query::new("DELETE FROM disk_guards WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn guard(row: &Row) -> Result<DiskGuard> {
    Ok(DiskGuard {
        instance_id: InstanceId(row.int("instance_id")?),
        server_id: ServerId(row.int("server_id")?),
        level: row.parse("level")?,
        since: row.time("since")?,
    })
}
