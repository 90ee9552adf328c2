//! What alarms have seen.
//!
//! Of one alarm and one server there is at most one that is not over. A control
//! plane that moves one says what it was before; if it was moved meanwhile,
//! nothing happens, so of several control planes one tells people.

use crate::db::{Query, Row, Run};
use crate::{Error, Result, Work};
use model::{AlarmId, AlarmType, Incident, IncidentId, InstanceId, SignedDuration, Timestamp};

/// How long an alarm remembers.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 90);
/// And how much.
const MOST: i64 = 1000;

/// Begins one. None if there is one already.
pub async fn begin(
    work: &mut Work,
    instance: InstanceId,
    alarm: AlarmId,
    about: &str,
    since: Timestamp,
    value: Option<f64>,
) -> Result<Option<Incident>> {
    let id = IncidentId(work.next("incidents").await?);
    let query = Query::new(
        "INSERT INTO incidents (id, instance_id, alarm_id, about, since, value, message) \
         VALUES ($1, $2, $3, $4, $5, $6, '') ON CONFLICT DO NOTHING",
    )
    .bind(id.0)
    .bind(instance.0)
    .bind(alarm.0)
    .bind(about)
    .bind(since)
    .bind(value.map(|value| value.to_string()));
    if work.execute(query).await? == 0 {
        return Ok(None);
    }
    find(work, id).await
}

/// Whether one of it ended at that time or later: then it was judged already.
pub async fn was_over_at(
    run: &mut impl Run,
    instance: InstanceId,
    alarm: AlarmId,
    about: &str,
    at: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "SELECT id FROM incidents WHERE instance_id = $1 AND alarm_id = $2 AND about = $3 \
         AND resolved_at >= $4 LIMIT 1",
    )
    .bind(instance.0)
    .bind(alarm.0)
    .bind(about)
    .bind(at);
    Ok(run.fetch_one(query).await?.is_some())
}

/// It waits for its time, and held until then.
pub async fn note_seen(work: &mut Work, id: IncidentId, at: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE incidents SET seen_at = $2 WHERE id = $1 AND triggered_at IS NULL \
         AND COALESCE(seen_at, -1) < $2",
    );
    work.execute(query.bind(id.0).bind(at)).await.map(drop)
}

/// Writes what it has become, if it still is what it was. False otherwise.
pub async fn advance(work: &mut Work, was: &Incident, is: &Incident) -> Result<bool> {
    let query = Query::new(
        "UPDATE incidents SET triggered_at = $2, reminded_at = $3, clear_since = $4, \
         resolved_at = $5, value = $6, message = $7 \
         WHERE id = $1 AND resolved_at IS NULL \
         AND COALESCE(triggered_at, -1) = $8 AND COALESCE(reminded_at, -1) = $9 \
         AND COALESCE(clear_since, -1) = $10",
    )
    .bind(was.id.0)
    .bind(is.triggered_at)
    .bind(is.reminded_at)
    .bind(is.clear_since)
    .bind(is.resolved_at)
    .bind(is.value.map(|value| value.to_string()))
    .bind(is.message.as_str())
    .bind(or_none(was.triggered_at))
    .bind(or_none(was.reminded_at))
    .bind(or_none(was.clear_since));
    Ok(work.execute(query).await? == 1)
}

/// It went before its time. False if it was triggered meanwhile.
pub async fn forget(work: &mut Work, was: &Incident) -> Result<bool> {
    let query = Query::new("DELETE FROM incidents WHERE id = $1 AND triggered_at IS NULL");
    Ok(work.execute(query.bind(was.id.0)).await? == 1)
}

pub async fn find(run: &mut impl Run, id: IncidentId) -> Result<Option<Incident>> {
    let query = Query::new("SELECT * FROM incidents WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| incident(&row)).transpose()
}

/// Those of an instance that are not over.
pub async fn open(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Incident>> {
    let query = Query::new(
        "SELECT * FROM incidents WHERE instance_id = $1 AND resolved_at IS NULL ORDER BY id",
    );
    run.fetch(query.bind(instance.0)).await?.iter().map(incident).collect()
}

/// What is open and about something by a name that no server of the instance has, but for those
/// that leave it and shall run no more.
pub async fn of_no_server(run: &mut impl Run) -> Result<Vec<Incident>> {
    let query = Query::new(
        "SELECT * FROM incidents WHERE resolved_at IS NULL AND about <> '' AND NOT EXISTS \
         (SELECT 1 FROM servers WHERE servers.instance_id = incidents.instance_id \
         AND servers.name = incidents.about \
         AND (servers.membership <> 'leaving' OR servers.stopped = FALSE)) ORDER BY id",
    );
    run.fetch(query).await?.iter().map(incident).collect()
}

/// Those of alarms of one type that are not over, of all instances.
pub async fn open_of(run: &mut impl Run, kind: AlarmType) -> Result<Vec<Incident>> {
    let query = Query::new(
        "SELECT incidents.* FROM incidents JOIN alarms \
         ON alarms.instance_id = incidents.instance_id AND alarms.id = incidents.alarm_id \
         WHERE alarms.type = $1 AND incidents.resolved_at IS NULL ORDER BY incidents.id",
    );
    run.fetch(query.bind(kind.as_str())).await?.iter().map(incident).collect()
}

/// What people were told of an alarm, the latest first.
pub async fn history(
    run: &mut impl Run,
    instance: InstanceId,
    alarm: AlarmId,
    most: u32,
) -> Result<Vec<Incident>> {
    let query = Query::new(
        "SELECT * FROM incidents WHERE instance_id = $1 AND alarm_id = $2 \
         AND triggered_at IS NOT NULL ORDER BY id DESC LIMIT $3",
    )
    .bind(instance.0)
    .bind(alarm.0)
    .bind(most);
    run.fetch(query).await?.iter().map(incident).collect()
}

/// Forgets what is long over, and what is too much.
pub async fn tidy(
    work: &mut Work,
    instance: InstanceId,
    alarm: AlarmId,
    now: Timestamp,
) -> Result<()> {
    let old = Query::new(
        "DELETE FROM incidents WHERE instance_id = $1 AND alarm_id = $2 AND resolved_at < $3",
    )
    .bind(instance.0)
    .bind(alarm.0)
    .bind(now - KEPT);
    work.execute(old).await?;
    let many = Query::new(
        "DELETE FROM incidents WHERE instance_id = $1 AND alarm_id = $2 \
         AND resolved_at IS NOT NULL AND id <= (SELECT MAX(id) FROM (SELECT id FROM incidents \
         WHERE instance_id = $1 AND alarm_id = $2 ORDER BY id DESC LIMIT 1 OFFSET $3) AS later)",
    )
    .bind(instance.0)
    .bind(alarm.0)
    .bind(MOST);
    work.execute(many).await.map(drop)
}

/// Forgets what is long over, of all alarms.
pub(crate) async fn forget_old(work: &mut Work, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM incidents WHERE resolved_at < $1").bind(now - KEPT);
    work.execute(query).await.map(drop)
}

/// With the alarm.
pub async fn remove_alarm(work: &mut Work, instance: InstanceId, alarm: AlarmId) -> Result<()> {
    let query = Query::new("DELETE FROM incidents WHERE instance_id = $1 AND alarm_id = $2")
        .bind(instance.0)
        .bind(alarm.0);
    work.execute(query).await.map(drop)
}

/// With the instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM incidents WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

/// A time that may not be there, as it is compared.
fn or_none(at: Option<Timestamp>) -> i64 {
    at.map_or(-1, Timestamp::as_microsecond)
}

fn incident(row: &Row) -> Result<Incident> {
    let value = row.text_or_none("value")?;
    let value = value.map(|text| {
        text.parse().map_err(|_| Error::Corrupt { what: "incidents.value", value: text })
    });
    Ok(Incident {
        id: IncidentId(row.int("id")?),
        instance_id: InstanceId(row.int("instance_id")?),
        alarm_id: AlarmId(row.int("alarm_id")?),
        about: row.text("about")?,
        since: row.time("since")?,
        seen_at: row.time_or_none("seen_at")?,
        triggered_at: row.time_or_none("triggered_at")?,
        reminded_at: row.time_or_none("reminded_at")?,
        clear_since: row.time_or_none("clear_since")?,
        resolved_at: row.time_or_none("resolved_at")?,
        value: value.transpose()?,
        message: row.text("message")?,
    })
}
