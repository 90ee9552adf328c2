//! What people want to be told of.

use crate::db::{Query, Row, Run, json};
use crate::{Error, Result, Work};
use model::{Alarm, AlarmId, AlarmSpec, AlarmType, InstanceId, RecipientId};

/// Writes it under the next id.
pub async fn insert(work: &mut Work, instance: InstanceId, what: AlarmSpec) -> Result<Alarm> {
    let next = Query::new(
        "UPDATE instances SET last_alarm = last_alarm + 1 WHERE id = $1 RETURNING last_alarm",
    );
    let row = work.fetch_one(next.bind(instance.0)).await?;
    let row = row.ok_or(Error::Corrupt { what: "instances", value: instance.to_string() })?;
    let id = AlarmId(row.int("last_alarm")?);
    let query = Query::new(
        "INSERT INTO alarms (instance_id, id, type, enabled, value_threshold, time_threshold, \
         consumer_group, recipients, reminder_interval) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    );
    work.execute(bound(query, instance, id, &what)).await?;
    Ok(Alarm { id, what })
}

/// None if there is no such alarm.
pub async fn update(
    work: &mut Work,
    instance: InstanceId,
    id: AlarmId,
    what: AlarmSpec,
) -> Result<Option<Alarm>> {
    let query = Query::new(
        "UPDATE alarms SET type = $3, enabled = $4, value_threshold = $5, time_threshold = $6, \
         consumer_group = $7, recipients = $8, reminder_interval = $9 \
         WHERE instance_id = $1 AND id = $2",
    );
    let updated = work.execute(bound(query, instance, id, &what)).await?;
    Ok((updated == 1).then_some(Alarm { id, what }))
}

/// All of an instance, by id.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Alarm>> {
    let query = Query::new("SELECT * FROM alarms WHERE instance_id = $1 ORDER BY id");
    run.fetch(query.bind(instance.0)).await?.iter().map(alarm).collect()
}

/// Those of a type in all instances that are switched on.
pub async fn enabled_of(run: &mut impl Run, kind: AlarmType) -> Result<Vec<(InstanceId, Alarm)>> {
    let query =
        Query::new("SELECT * FROM alarms WHERE type = $1 AND enabled ORDER BY instance_id, id");
    let rows = run.fetch(query.bind(kind.as_str())).await?;
    rows.iter().map(|row| Ok((InstanceId(row.int("instance_id")?), alarm(row)?))).collect()
}

pub async fn find(run: &mut impl Run, instance: InstanceId, id: AlarmId) -> Result<Option<Alarm>> {
    let query = Query::new("SELECT * FROM alarms WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id.0);
    run.fetch_one(query).await?.map(|row| alarm(&row)).transpose()
}

/// False if there is none.
pub async fn delete(work: &mut Work, instance: InstanceId, id: AlarmId) -> Result<bool> {
    let query = Query::new("DELETE FROM alarms WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id.0);
    Ok(work.execute(query).await? == 1)
}

/// Takes a recipient who is gone out of every list. An alarm that named nobody
/// else is told to everybody from then on. Of each that named them, what it was and
/// the alarm that it is.
pub async fn forget_recipient(
    work: &mut Work,
    instance: InstanceId,
    gone: RecipientId,
) -> Result<Vec<(AlarmSpec, Alarm)>> {
    let mut changed = Vec::new();
    for alarm in list(work, instance).await? {
        if !alarm.what.recipients.contains(&gone) {
            continue;
        }
        let left: Vec<RecipientId> =
            alarm.what.recipients.iter().copied().filter(|id| *id != gone).collect();
        let query =
            Query::new("UPDATE alarms SET recipients = $3 WHERE instance_id = $1 AND id = $2")
                .bind(instance.0)
                .bind(alarm.id.0)
                .bind(json(&left));
        work.execute(query).await?;
        let after = AlarmSpec { recipients: left, ..alarm.what.clone() };
        changed.push((alarm.what, Alarm { id: alarm.id, what: after }));
    }
    Ok(changed)
}

/// With the instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM alarms WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn bound(query: Query, instance: InstanceId, id: AlarmId, what: &AlarmSpec) -> Query {
    query
        .bind(instance.0)
        .bind(id.0)
        .bind(what.kind.as_str())
        .bind(what.enabled)
        .bind(what.value_threshold)
        .bind(what.time_threshold)
        .bind(what.group.clone())
        .bind(json(&what.recipients))
        .bind(what.reminder_interval)
}

fn alarm(row: &Row) -> Result<Alarm> {
    let id = AlarmId(row.int("id")?);
    let what = AlarmSpec {
        kind: row.parse("type")?,
        enabled: row.flag("enabled")?,
        value_threshold: row.int_or_none("value_threshold")?,
        time_threshold: row.int_or_none("time_threshold")?,
        group: row.text_or_none("consumer_group")?,
        recipients: row.json("recipients")?,
        reminder_interval: row.int_or_none("reminder_interval")?,
    };
    Ok(Alarm { id, what })
}
