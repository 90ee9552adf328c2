//! Changes of how many servers an instance has, at most one an instance.

use crate::db::{Query, Row, Run, Value, json};
use crate::{Result, Work};
use model::{ActionId, InstanceId, MoveProgress, Resize, ResizeMemory};

/// Writes a new one. A conflict means that the instance has one that has not ended.
pub async fn begin(work: &mut Work, resize: &Resize) -> Result<()> {
    let query = Query::new(
        "INSERT INTO resizes (instance_id, action_id, nodes_before, nodes_after, \
         raise_replication, accept_single_copy, undo, removing, progress, memory) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(resize.instance_id.0)
    .bind(resize.action_id.0)
    .bind(resize.from)
    .bind(resize.to)
    .bind(resize.raise_replication)
    .bind(resize.accept_single_copy)
    .bind(resize.undo)
    .bind(resize.removing)
    .bind(resize.progress.map_or(Value::Text(None), |progress| json(&progress)))
    .bind(json(&resize.memory));
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, instance: InstanceId) -> Result<Option<Resize>> {
    let query = Query::new("SELECT * FROM resizes WHERE instance_id = $1").bind(instance.0);
    run.fetch_one(query).await?.as_ref().map(resize).transpose()
}

/// Has it undone: joining servers leave, leaving ones are members again, and how far replicas
/// have moved is counted anew. False, and nothing is changed, if that was asked before, or a
/// server has begun to go.
pub async fn undo(work: &mut Work, instance: InstanceId) -> Result<bool> {
    let query = Query::new(
        "UPDATE resizes SET undo = TRUE, progress = NULL \
         WHERE instance_id = $1 AND NOT undo AND NOT removing",
    );
    if work.execute(query.bind(instance.0)).await? == 0 {
        return Ok(false);
    }
    let query = Query::new(
        "UPDATE servers SET membership = CASE membership WHEN 'joining' THEN 'leaving' \
         ELSE 'member' END WHERE instance_id = $1",
    );
    work.execute(query.bind(instance.0)).await?;
    Ok(true)
}

/// Notes that servers begin to go, so that it can't be undone any more. False if it is
/// undone meanwhile as it was not when `undo` was read.
pub async fn set_removing(work: &mut Work, instance: InstanceId, undo: bool) -> Result<bool> {
    let query =
        Query::new("UPDATE resizes SET removing = TRUE WHERE instance_id = $1 AND undo = $2");
    Ok(work.execute(query.bind(instance.0).bind(undo)).await? == 1)
}

pub async fn set_progress(
    work: &mut Work,
    instance: InstanceId,
    progress: &MoveProgress,
) -> Result<()> {
    let query = Query::new("UPDATE resizes SET progress = $2 WHERE instance_id = $1");
    work.execute(query.bind(instance.0).bind(json(progress))).await.map(drop)
}

/// Saves what has to be put back, before the effect that makes it so.
pub async fn set_memory(
    work: &mut Work,
    instance: InstanceId,
    memory: &ResizeMemory,
) -> Result<()> {
    let query = Query::new("UPDATE resizes SET memory = $2 WHERE instance_id = $1");
    work.execute(query.bind(instance.0).bind(json(memory))).await.map(drop)
}

/// It is over: joining servers are members, and its action keeps how far replicas have moved.
/// False if it is undone meanwhile as it was not when `undo` was read.
pub async fn end(work: &mut Work, instance: InstanceId, undo: bool) -> Result<bool> {
    let query = Query::new(
        "UPDATE actions SET progress = (SELECT progress FROM resizes WHERE instance_id = $1) \
         WHERE id IN (SELECT action_id FROM resizes WHERE instance_id = $1 AND undo = $2)",
    );
    work.execute(query.bind(instance.0).bind(undo)).await?;
    let query = Query::new("DELETE FROM resizes WHERE instance_id = $1 AND undo = $2");
    if work.execute(query.bind(instance.0).bind(undo)).await? == 0 {
        return Ok(false);
    }
    let query = Query::new(
        "UPDATE servers SET membership = 'member' \
         WHERE instance_id = $1 AND membership = 'joining'",
    );
    work.execute(query.bind(instance.0)).await?;
    Ok(true)
}

/// Forgets it with its instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM resizes WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn resize(row: &Row) -> Result<Resize> {
    let progress = row.text_or_none("progress")?;
    Ok(Resize {
        instance_id: InstanceId(row.int("instance_id")?),
        action_id: ActionId(row.int("action_id")?),
        from: row.number("nodes_before")?,
        to: row.number("nodes_after")?,
        raise_replication: row.flag("raise_replication")?,
        accept_single_copy: row.flag("accept_single_copy")?,
        undo: row.flag("undo")?,
        removing: row.flag("removing")?,
        progress: progress.map(|_| row.json("progress")).transpose()?,
        memory: row.json("memory")?,
    })
}
