//! Disks.

use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{Disk, DiskId, DiskState, InstanceId, ServerId};

pub async fn insert(work: &mut Work, disk: &Disk) -> Result<()> {
    let query = Query::new(
        "INSERT INTO disks (id, instance_id, server_id, size_gb, made_gb, directory_id, founding, \
         state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(disk.id.to_string())
    .bind(disk.instance_id.0)
    .bind(disk.server_id.0)
    .bind(disk.size_gb)
    .bind(disk.made_gb)
    .bind(disk.directory_id.as_str())
    .bind(disk.founding)
    .bind(disk.state.as_str());
    work.execute(query).await.map(drop)
}

pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Disk>> {
    let query = Query::new("SELECT * FROM disks WHERE instance_id = $1 ORDER BY server_id")
        .bind(instance.0);
    run.fetch(query).await?.iter().map(disk).collect()
}

/// Every disk on record, on whatever host.
pub async fn ids(run: &mut impl Run) -> Result<Vec<DiskId>> {
    let rows = run.fetch(Query::new("SELECT id FROM disks ORDER BY id")).await?;
    rows.iter().map(|row| row.parse("id")).collect()
}

/// Moves a disk one state on. A disk that is elsewhere stays where it is, and
/// the answer is false.
pub async fn advance(work: &mut Work, id: DiskId, from: DiskState, to: DiskState) -> Result<bool> {
    let query = Query::new("UPDATE disks SET state = $3 WHERE id = $1 AND state = $2")
        .bind(id.to_string())
        .bind(from.as_str())
        .bind(to.as_str());
    Ok(work.execute(query).await? == 1)
}

/// Asks for so many gigabytes on every server. No disk becomes smaller.
pub async fn grow(work: &mut Work, instance: InstanceId, size_gb: u32) -> Result<()> {
    let query = Query::new("UPDATE disks SET size_gb = $2 WHERE instance_id = $1 AND size_gb < $2");
    work.execute(query.bind(instance.0).bind(size_gb)).await.map(drop)
}

/// Notes what the cloud has made of a disk.
pub async fn set_made_gb(work: &mut Work, id: DiskId, made_gb: u32) -> Result<()> {
    let query = Query::new("UPDATE disks SET made_gb = $2 WHERE id = $1 AND made_gb < $2");
    work.execute(query.bind(id.to_string()).bind(made_gb)).await.map(drop)
}

pub async fn remove(work: &mut Work, id: DiskId) -> Result<()> {
    let query = Query::new("DELETE FROM disks WHERE id = $1").bind(id.to_string());
    work.execute(query).await.map(drop)
}

fn disk(row: &Row) -> Result<Disk> {
    Ok(Disk {
        id: row.parse("id")?,
        instance_id: InstanceId(row.int("instance_id")?),
        server_id: ServerId(row.int("server_id")?),
        size_gb: row.number("size_gb")?,
        made_gb: row.number("made_gb")?,
        directory_id: row.text("directory_id")?,
        founding: row.flag("founding")?,
        state: row.parse("state")?,
    })
}
