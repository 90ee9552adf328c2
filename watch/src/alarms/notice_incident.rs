//! One move of one incident of a notice alarm that is open for as long as something
//! lasts, with its notifications.

use super::enqueue::enqueue;
use crate::{Context, Result};
use model::{
    Alarm, AlarmSpec, AlarmType, Incident, Instance, InstanceId, NotificationState, SignedDuration,
    Timestamp,
};
use store::{Run, Work, alarms, incidents};

/// What is seen of a server or of the cluster's certificates.
pub struct Sight<'a> {
    pub about: &'a str,
    pub at: Timestamp,
    pub value: Option<f64>,
    pub message: String,
}

/// The notice alarms of an instance that are switched on.
pub async fn notice_alarms(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Alarm>> {
    let mut watched = alarms::list(run, instance).await?;
    watched.retain(|alarm| alarm.what.kind == AlarmType::Notice && alarm.what.enabled);
    Ok(watched)
}

/// The open incident of an alarm about this.
pub fn open_incident<'a>(alarm: &Alarm, about: &str, open: &'a [Incident]) -> Option<&'a Incident> {
    open.iter().find(|it| it.alarm_id == alarm.id && it.about == about)
}

/// When people were last notified that it goes on.
pub fn notified_at(open: &Incident) -> Option<Timestamp> {
    open.reminded_at.or(open.triggered_at)
}

/// Whether the alarm's reminder is due.
pub fn is_reminder_due(spec: &AlarmSpec, open: &Incident, at: Timestamp) -> bool {
    let due = spec.reminder_interval.map(SignedDuration::from_secs);
    let Some((notified, due)) = notified_at(open).zip(due) else { return false };
    at.duration_since(notified) >= due
}

/// Makes the move, unless another control plane was quicker or the same incident ended
/// at that time or later. In the transaction of what happened.
pub async fn step(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    open: Option<&Incident>,
    state: NotificationState,
    sight: &Sight<'_>,
) -> Result<()> {
    let was = match open {
        Some(open) => Some(open.clone()),
        None => begin(work, instance, alarm, sight).await?,
    };
    let Some(was) = was else { return Ok(()) };
    // That it got worse reminds of it too.
    let is_again = open.is_some() && state != NotificationState::Resolved;
    let is = Incident {
        triggered_at: was.triggered_at.or(Some(sight.at)),
        reminded_at: if is_again { Some(sight.at) } else { was.reminded_at },
        resolved_at: (state == NotificationState::Resolved).then_some(sight.at),
        value: sight.value,
        message: sight.message.clone(),
        ..was.clone()
    };
    if incidents::advance(work, &was, &is).await? {
        enqueue(work, context, instance, alarm, &is, state).await?;
        incidents::tidy(work, instance.id, alarm.id, context.now()).await?;
    }
    Ok(())
}

async fn begin(
    work: &mut Work,
    instance: &Instance,
    alarm: &Alarm,
    sight: &Sight<'_>,
) -> Result<Option<Incident>> {
    let Sight { about, at, value, .. } = *sight;
    if incidents::was_over_at(work, instance.id, alarm.id, about, at).await? {
        return Ok(None);
    }
    Ok(incidents::begin(work, instance.id, alarm.id, about, at, value).await?)
}
