//! Who hears what of an incident, written into the outbox in the transaction of what
//! it tells of.
//!
//! Whoever heard that something began hears that it is over, also when that is so for
//! them alone.

use crate::{App, Result};
use model::{
    Alarm, AlarmSpec, AlarmType, Incident, Instance, Maintenance, Notification, NotificationState,
    RecipientId,
};
use store::{Work, alarms, incidents, recipients, tellings};

/// What is told of an incident: how it goes on, or a maintenance, which is all
/// there is to its own.
#[derive(Clone, Copy)]
pub struct Told {
    state: NotificationState,
    maintenance: Option<Maintenance>,
}

impl From<NotificationState> for Told {
    fn from(state: NotificationState) -> Self {
        Self { state, maintenance: None }
    }
}

impl From<Maintenance> for Told {
    fn from(kind: Maintenance) -> Self {
        Self { state: NotificationState::Triggered, maintenance: Some(kind) }
    }
}

/// Tells everybody whom the alarm names.
pub async fn tell(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    told: impl Into<Told>,
) -> Result<()> {
    let told: Told = told.into();
    let what = &alarm.what;
    tell_those(work, app, instance, alarm, incident, told, |it| what.names(it)).await?;
    let (id, kind, about) = (alarm.id, what.kind, &incident.about);
    let state = told.state.as_str();
    tracing::info!(instance = %instance.id, alarm = %id, %kind, about, state, "an alarm moved");
    Ok(())
}

/// An alarm that fires names others than before: whom it does not name any more hears
/// of no end but this, and whom it names now has heard of no beginning.
pub async fn tell_of_change(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    before: &AlarmSpec,
    alarm: &Alarm,
) -> Result<()> {
    let after = &alarm.what;
    if before.recipients == after.recipients {
        return Ok(());
    }
    let (left, joined) = (
        |it: RecipientId| before.names(it) && !after.names(it),
        |it: RecipientId| after.names(it) && !before.names(it),
    );
    for open in incidents::open(work, instance.id).await? {
        if open.alarm_id != alarm.id || open.triggered_at.is_none() {
            continue;
        }
        let message =
            format!("You are not told of {} alarm {} any more; it goes on", after.kind, alarm.id);
        let over = Incident { resolved_at: Some(app.now()), message, ..open.clone() };
        let (begun, ended) = (NotificationState::Triggered, NotificationState::Resolved);
        tell_those(work, app, instance, alarm, &over, ended.into(), left).await?;
        tell_those(work, app, instance, alarm, &open, begun.into(), joined).await?;
    }
    Ok(())
}

/// Somebody new hears of what goes on, by every alarm that is told to everybody.
pub async fn tell_newcomer(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    newcomer: RecipientId,
) -> Result<()> {
    let watched = alarms::list(work, instance.id).await?;
    for open in incidents::open(work, instance.id).await? {
        let alarm = watched.iter().find(|it| it.id == open.alarm_id && it.what.names(newcomer));
        if let Some(alarm) = alarm.filter(|_| open.triggered_at.is_some()) {
            let begun = NotificationState::Triggered.into();
            tell_those(work, app, instance, alarm, &open, begun, |it| it == newcomer).await?;
        }
    }
    Ok(())
}

/// Writes down what each recipient is to hear. Who has not heard the last thing of
/// an incident yet is not reminded of it, so what waits for them stays little.
async fn tell_those(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    Told { state, maintenance }: Told,
    is_meant: impl Fn(RecipientId) -> bool,
) -> Result<()> {
    let what = &alarm.what;
    let about = Some(incident.about.clone()).filter(|about| !about.is_empty());
    let (server, group) =
        if what.kind == AlarmType::ConsumerLag { (None, about) } else { (about, None) };
    let everybody = recipients::list(work, instance.id).await?;
    for recipient in everybody.iter().filter(|recipient| is_meant(recipient.id)) {
        let notification = Notification {
            id: app.entropy().uuid(),
            state,
            alarm_id: Some(alarm.id),
            alarm_type: what.kind.to_string(),
            instance_id: instance.id,
            instance_name: instance.name.to_string(),
            server: server.clone(),
            group: group.clone(),
            value: incident.value,
            value_threshold: what.value_threshold,
            time_threshold: what.time_threshold,
            triggered_at: incident.triggered_at,
            resolved_at: incident.resolved_at,
            maintenance,
            message: incident.message.clone(),
        };
        if state == NotificationState::Reminder
            && tellings::incident_waits(work, recipient.id, &notification).await?
        {
            continue;
        }
        tellings::insert(work, recipient, notification, app.now()).await?;
    }
    Ok(())
}
