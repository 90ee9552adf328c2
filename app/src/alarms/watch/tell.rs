//! Who hears what of an incident, written into the outbox in the transaction of what
//! it tells of.
//!
//! Whoever heard that something began hears that it is over, also when that is so for
//! them alone: because the alarm does not name them any more, or because they are gone or
//! told elsewhere, and then where they were.

use crate::{App, Result};
use model::{
    Alarm, AlarmSpec, AlarmType, Incident, Instance, Maintenance, Notification, NotificationState,
    Recipient, RecipientId,
};
use store::{Work, alarms, incidents, notifications, recipients};

/// What is told of an incident: how it goes on, or a maintenance, which is all
/// there is to its own.
#[derive(Clone, Copy)]
pub struct Told {
    state: NotificationState,
    maintenance: Option<Maintenance>,
    /// Nothing to those who have not heard the last thing of the incident yet.
    unless_waiting: bool,
}

impl From<NotificationState> for Told {
    fn from(state: NotificationState) -> Self {
        // Nobody is reminded of what they have not heard.
        let unless_waiting = state == NotificationState::Reminder;
        Self { state, maintenance: None, unless_waiting }
    }
}

impl From<Maintenance> for Told {
    fn from(kind: Maintenance) -> Self {
        Self { maintenance: Some(kind), ..Self::from(NotificationState::Triggered) }
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
        let over = over_for_one(app, alarm, &open);
        let (begun, ended) = (NotificationState::Triggered, NotificationState::Resolved);
        tell_those(work, app, instance, alarm, &over, ended.into(), left).await?;
        tell_those(work, app, instance, alarm, &open, begun.into(), joined).await?;
    }
    Ok(())
}

/// Somebody new, or at a new address, hears of what goes on, by every alarm that names
/// them. What waits for them says it already.
pub async fn tell_newcomer(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    newcomer: RecipientId,
) -> Result<()> {
    let begun = Told { unless_waiting: true, ..Told::from(NotificationState::Triggered) };
    for (alarm, open) in fires_for(work, instance, newcomer).await? {
        tell_those(work, app, instance, &alarm, &open, begun, |it| it == newcomer).await?;
    }
    Ok(())
}

/// Somebody who goes, or is told elsewhere from now on, hears the end of what goes on where
/// they were: a pager would ring for ever. To be called before the alarms forget them.
pub async fn tell_leaver(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    leaver: &Recipient,
) -> Result<()> {
    if !leaver.is_readable() {
        return Ok(());
    }
    for (alarm, open) in fires_for(work, instance, leaver.id).await? {
        let over = over_for_one(app, &alarm, &open);
        let told = NotificationState::Resolved.into();
        let notification = notification(app, instance, &alarm, &over, told);
        notifications::insert_former(work, leaver, notification, app.now()).await?;
    }
    Ok(())
}

/// What people were told of and goes on, of the alarms that name somebody.
async fn fires_for(
    work: &mut Work,
    instance: &Instance,
    whom: RecipientId,
) -> Result<Vec<(Alarm, Incident)>> {
    let watched = alarms::list(work, instance.id).await?;
    let mut open = incidents::open(work, instance.id).await?;
    open.retain(|it| it.triggered_at.is_some());
    let with_alarm = |open: Incident| {
        let alarm = watched.iter().find(|it| it.id == open.alarm_id && it.what.names(whom))?;
        Some((alarm.clone(), open))
    };
    Ok(open.into_iter().filter_map(with_alarm).collect())
}

/// An incident that goes on, as it is for somebody who is not told of it any more.
fn over_for_one(app: &App, alarm: &Alarm, open: &Incident) -> Incident {
    let kind = alarm.what.kind;
    let message = format!("You are not told of {kind} alarm {} any more; it goes on", alarm.id);
    Incident { resolved_at: Some(app.now()), message, ..open.clone() }
}

/// Writes down what each recipient is to hear.
async fn tell_those(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    told: Told,
    is_meant: impl Fn(RecipientId) -> bool,
) -> Result<()> {
    let everybody = recipients::list(work, instance.id).await?;
    for recipient in everybody.iter().filter(|recipient| is_meant(recipient.id)) {
        let notification = notification(app, instance, alarm, incident, told);
        if told.unless_waiting
            && notifications::incident_waits(work, recipient.id, &notification).await?
        {
            continue;
        }
        notifications::insert(work, recipient, notification, app.now()).await?;
    }
    Ok(())
}

fn notification(
    app: &App,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    Told { state, maintenance, .. }: Told,
) -> Notification {
    let what = &alarm.what;
    let about = Some(incident.about.clone()).filter(|about| !about.is_empty());
    let expiring = incident.expiring().filter(|_| what.kind == AlarmType::Notice);
    let about = about.filter(|_| expiring.is_none());
    let (server, group) =
        if what.kind == AlarmType::ConsumerLag { (None, about) } else { (about, None) };
    Notification {
        id: app.entropy().uuid(),
        state,
        alarm_id: Some(alarm.id),
        alarm_type: what.kind.to_string(),
        instance_id: instance.id,
        instance_name: instance.name.to_string(),
        server,
        group,
        value: incident.value,
        value_threshold: what.value_threshold,
        time_threshold: what.time_threshold,
        triggered_at: incident.triggered_at,
        resolved_at: incident.resolved_at,
        maintenance,
        expiring,
        message: incident.message.clone(),
    }
}
