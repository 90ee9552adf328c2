//! The journal of what was asked of instances.
//!
//! An action is written with the intent it raises, and ends with the write that
//! says that servers have reached it. Steps are for people: one that is missing
//! after a crash is written by the worker that takes the step again.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::condition::Note;
use model::{Action, ActionId, ActionKind, ActionStep, InstanceId, MoveProgress, Timestamp};

/// An action that waits for long says the same few things again and again: it
/// keeps its first steps, and whatever must not be missed.
const MOST_STEPS: i64 = 1000;
/// How many steps it has with those; beyond that the last one is written over.
const MOST_KEPT_STEPS: i64 = 2 * MOST_STEPS;
/// How many actions of an instance are kept that have ended; `GET actions` shows fewer.
pub const MOST_ENDED: i64 = 200;

/// What is asked, by whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAction<'a> {
    pub instance_id: InstanceId,
    pub kind: ActionKind,
    /// The numbers of the servers it is about; none: all of them.
    pub servers: &'a [u32],
    pub asked_by: &'a str,
    pub source: String,
    /// The intent that it raises.
    pub generation: i64,
}

pub async fn insert(work: &mut Work, action: &NewAction<'_>, now: Timestamp) -> Result<ActionId> {
    let id = work.next("actions").await?;
    let query = Query::new(
        "INSERT INTO actions (id, instance_id, kind, servers, asked_by, source, asked_at, \
         generation) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(id)
    .bind(action.instance_id.0)
    .bind(action.kind.as_str())
    .bind(json(&action.servers))
    .bind(action.asked_by)
    .bind(action.source.as_str())
    .bind(now)
    .bind(action.generation);
    work.execute(query).await?;
    forget_ended(work, action.instance_id).await?;
    Ok(ActionId(id))
}

/// Forgets the oldest that have ended, with their steps.
async fn forget_ended(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new(
        "SELECT id FROM actions WHERE instance_id = $1 AND ended_at IS NOT NULL \
         ORDER BY id DESC LIMIT 1 OFFSET $2",
    );
    let row = work.fetch_one(query.bind(instance.0).bind(MOST_ENDED)).await?;
    let Some(beyond) = row.map(|row| row.int("id")).transpose()? else { return Ok(()) };
    for all in [
        "DELETE FROM action_steps WHERE action_id IN (SELECT id FROM actions \
         WHERE instance_id = $1 AND ended_at IS NOT NULL AND id <= $2)",
        "DELETE FROM actions WHERE instance_id = $1 AND ended_at IS NOT NULL AND id <= $2",
    ] {
        work.execute(Query::new(all).bind(instance.0).bind(beyond)).await?;
    }
    Ok(())
}

/// An instance's last actions, newest first.
pub async fn list(run: &mut impl Run, instance: InstanceId, most: u32) -> Result<Vec<Action>> {
    let query =
        Query::new("SELECT * FROM actions WHERE instance_id = $1 ORDER BY id DESC LIMIT $2")
            .bind(instance.0)
            .bind(most);
    run.fetch(query).await?.iter().map(action).collect()
}

pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    id: ActionId,
) -> Result<Option<Action>> {
    let query = Query::new("SELECT * FROM actions WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id.0);
    run.fetch_one(query).await?.map(|row| action(&row)).transpose()
}

/// What has not ended yet, newest first.
pub async fn open(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Action>> {
    let query = Query::new(
        "SELECT * FROM actions WHERE instance_id = $1 AND ended_at IS NULL ORDER BY id DESC",
    );
    run.fetch(query.bind(instance.0)).await?.iter().map(action).collect()
}

/// How far replicas had moved when a change of servers ended.
pub async fn moved(run: &mut impl Run, id: ActionId) -> Result<Option<MoveProgress>> {
    let query = Query::new("SELECT progress FROM actions WHERE id = $1").bind(id.0);
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    row.text_or_none("progress")?.map(|_| row.json("progress")).transpose()
}

/// What was done and waited for, in order.
pub async fn steps(run: &mut impl Run, id: ActionId) -> Result<Vec<ActionStep>> {
    let query =
        Query::new("SELECT at, text FROM action_steps WHERE action_id = $1 ORDER BY number");
    let rows = run.fetch(query.bind(id.0)).await?;
    let step = |row: &Row| Ok(ActionStep { at: row.time("at")?, text: row.text("text")? });
    rows.iter().map(step).collect()
}

/// Adds a step that must not be missed to one action, unless it has said so before.
pub async fn note_once(work: &mut Work, id: ActionId, note: &Note, now: Timestamp) -> Result<()> {
    let query = Query::new("SELECT number FROM action_steps WHERE action_id = $1 AND note = $2")
        .bind(id.0)
        .bind(json(note));
    match work.fetch_one(query).await? {
        Some(_) => Ok(()),
        None => keep(work, id, note, now).await,
    }
}

/// Adds a step that must not be missed to one action, however much it has said, unless
/// that was the last it said.
pub async fn keep(work: &mut Work, id: ActionId, note: &Note, now: Timestamp) -> Result<()> {
    let (number, said) = last(work, id).await?;
    if said.as_ref() == Some(note) {
        return Ok(());
    }
    if number >= MOST_KEPT_STEPS {
        return write_over(work, id, number, note, now).await;
    }
    add(work, id, number + 1, note, now).await
}

/// Adds a step to one action that has not said too much. If it is what the last one
/// said, with other numbers of what is done or left, it takes that one's place.
pub async fn note_on(work: &mut Work, id: ActionId, note: &Note, now: Timestamp) -> Result<()> {
    let (number, said) = last(work, id).await?;
    match said {
        Some(said) if said == *note => Ok(()),
        Some(said) if said.is_like(note) => write_over(work, id, number, note, now).await,
        _ if number < MOST_STEPS => add(work, id, number + 1, note, now).await,
        _ => Ok(()),
    }
}

/// The last step of an action and its number. One of an earlier release is words alone.
async fn last(work: &mut Work, id: ActionId) -> Result<(i64, Option<Note>)> {
    let query = Query::new(
        "SELECT number, note FROM action_steps WHERE action_id = $1 \
         ORDER BY number DESC LIMIT 1",
    );
    let Some(row) = work.fetch_one(query.bind(id.0)).await? else { return Ok((0, None)) };
    let note = row.text_or_none("note")?.map(|_| row.json("note")).transpose()?;
    Ok((row.int("number")?, note))
}

async fn write_over(
    work: &mut Work,
    id: ActionId,
    number: i64,
    note: &Note,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(
        "UPDATE action_steps SET at = $3, text = $4, note = $5 \
         WHERE action_id = $1 AND number = $2",
    );
    let query = query.bind(id.0).bind(number).bind(now).bind(note.to_string()).bind(json(note));
    work.execute(query).await.map(drop)
}

async fn add(
    work: &mut Work,
    id: ActionId,
    number: i64,
    note: &Note,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(
        "INSERT INTO action_steps (action_id, number, at, text, note) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(id.0)
    .bind(number)
    .bind(now)
    .bind(note.to_string())
    .bind(json(note));
    work.execute(query).await.map(drop)
}

/// Asks that no more be begun.
pub async fn cancel(work: &mut Work, id: ActionId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE actions SET cancelled_at = $2 \
         WHERE id = $1 AND cancelled_at IS NULL AND ended_at IS NULL",
    )
    .bind(id.0)
    .bind(now);
    work.execute(query).await.map(drop)
}

/// Ends one action of which nothing was begun.
pub async fn end_one(work: &mut Work, id: ActionId, now: Timestamp) -> Result<()> {
    let query = Query::new("UPDATE actions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL");
    work.execute(query.bind(id.0).bind(now)).await.map(drop)
}

/// Ends what asked for larger disks, once the cloud has made all of them as large.
pub async fn end_disks(work: &mut Work, instance: InstanceId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE actions SET ended_at = $2 \
         WHERE instance_id = $1 AND kind = 'resize-disk' AND ended_at IS NULL \
         AND NOT EXISTS (SELECT 1 FROM disks WHERE instance_id = $1 AND made_gb < size_gb)",
    );
    work.execute(query.bind(instance.0).bind(now)).await.map(drop)
}

/// Ends one action because a later one replaces it.
pub async fn supersede(work: &mut Work, id: ActionId, by: ActionId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE actions SET superseded_by = $2, ended_at = $3 WHERE id = $1 AND ended_at IS NULL",
    );
    work.execute(query.bind(id.0).bind(by.0).bind(now)).await.map(drop)
}

/// Ends what raised no more than this intent, which has been reached. A change of servers
/// ends once its row is gone: a cluster may be stopped in the middle of it.
pub async fn end(
    work: &mut Work,
    instance: InstanceId,
    generation: i64,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(
        "UPDATE actions SET ended_at = $3 \
         WHERE instance_id = $1 AND generation <= $2 AND ended_at IS NULL \
         AND kind <> 'resize-disk' \
         AND id NOT IN (SELECT action_id FROM resizes WHERE instance_id = $1)",
    )
    .bind(instance.0)
    .bind(generation)
    .bind(now);
    work.execute(query).await.map(drop)
}

/// Forgets them with their instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new(
        "DELETE FROM action_steps WHERE action_id IN \
         (SELECT id FROM actions WHERE instance_id = $1)",
    );
    work.execute(query.bind(instance.0)).await?;
    let query = Query::new("DELETE FROM actions WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn action(row: &Row) -> Result<Action> {
    Ok(Action {
        id: ActionId(row.int("id")?),
        instance_id: InstanceId(row.int("instance_id")?),
        kind: row.parse::<ActionKind>("kind")?,
        servers: row.json("servers")?,
        asked_by: row.text("asked_by")?,
        source: row.text("source")?,
        asked_at: row.time("asked_at")?,
        generation: row.int("generation")?,
        cancelled_at: row.time_or_none("cancelled_at")?,
        ended_at: row.time_or_none("ended_at")?,
        superseded_by: row.int_or_none("superseded_by")?.map(ActionId),
    })
}
