//! Who is notified of an incident, written into the outbox in the transaction of what
//! happened.
//!
//! A recipient who was notified of a beginning is notified of the end, also when it ends
//! for them alone: because the alarm does not name them any more, or because they are
//! removed or got a new address. Then the end goes to the old address.

use crate::{Context, Result};
use model::{
    Alarm, AlarmSpec, AlarmType, Incident, Instance, Maintenance, Notification, NotificationState,
    Recipient, RecipientId,
};
use store::{Work, alarms, incidents, notifications, recipients};

/// What recipients are notified of: the course of an incident, or a maintenance, which is
/// all there is to its own.
#[derive(Clone, Copy)]
pub struct Occasion {
    state: NotificationState,
    maintenance: Option<Maintenance>,
    /// Nothing for a recipient for whom a notification of the incident still waits.
    unless_waiting: bool,
}

impl From<NotificationState> for Occasion {
    fn from(state: NotificationState) -> Self {
        // A reminder of what was not delivered yet says nothing new.
        let unless_waiting = state == NotificationState::Reminder;
        Self { state, maintenance: None, unless_waiting }
    }
}

impl From<Maintenance> for Occasion {
    fn from(kind: Maintenance) -> Self {
        Self { maintenance: Some(kind), ..Self::from(NotificationState::Triggered) }
    }
}

/// Notifies every recipient of the alarm.
pub async fn enqueue(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    occasion: impl Into<Occasion>,
) -> Result<()> {
    let occasion: Occasion = occasion.into();
    let what = &alarm.what;
    enqueue_for(work, context, instance, alarm, incident, occasion, |it| what.names(it)).await?;
    let (id, kind, about) = (alarm.id, what.kind, &incident.about);
    let state = occasion.state.as_str();
    tracing::info!(instance = %instance.id, alarm = %id, %kind, about, state, "an alarm moved");
    Ok(())
}

/// The recipients of an alarm that fires have changed: those it names no more are notified
/// of the end, those it names now of the beginning.
pub async fn enqueue_for_change(
    work: &mut Work,
    context: &Context,
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
        let over = over_for_one(context, alarm, &open);
        let (begun, ended) = (NotificationState::Triggered, NotificationState::Resolved);
        enqueue_for(work, context, instance, alarm, &over, ended.into(), left).await?;
        enqueue_for(work, context, instance, alarm, &open, begun.into(), joined).await?;
    }
    Ok(())
}

/// A new recipient, or one with a new address, is notified of what goes on, by every alarm
/// that names them.
pub async fn enqueue_for_newcomer(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    newcomer: RecipientId,
) -> Result<()> {
    let begun = Occasion { unless_waiting: true, ..NotificationState::Triggered.into() };
    for (alarm, open) in fires_for(work, instance, newcomer).await? {
        enqueue_for(work, context, instance, &alarm, &open, begun, |it| it == newcomer).await?;
    }
    Ok(())
}

/// A recipient who is removed, or gets a new address, is notified of the end of what goes
/// on at the old one: a pager would ring for ever. To be called before the alarms forget
/// them.
pub async fn enqueue_for_leaver(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    leaver: &Recipient,
) -> Result<()> {
    if !leaver.is_readable() {
        return Ok(());
    }
    for (alarm, open) in fires_for(work, instance, leaver.id).await? {
        let over = over_for_one(context, &alarm, &open);
        let ended = NotificationState::Resolved.into();
        let notification = notification(context, instance, &alarm, &over, ended);
        notifications::insert_former(work, leaver, notification, context.now()).await?;
    }
    Ok(())
}

/// The open incidents that people were notified of, of the alarms that name a recipient.
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

/// An incident that goes on, as it is for a recipient who is not notified of it any more.
fn over_for_one(context: &Context, alarm: &Alarm, open: &Incident) -> Incident {
    let kind = alarm.what.kind;
    let message = format!("You are not told of {kind} alarm {} any more; it goes on", alarm.id);
    Incident { resolved_at: Some(context.now()), message, ..open.clone() }
}

/// One notification for each of these recipients.
async fn enqueue_for(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    occasion: Occasion,
    is_meant: impl Fn(RecipientId) -> bool,
) -> Result<()> {
    let everybody = recipients::list(work, instance.id).await?;
    for recipient in everybody.iter().filter(|recipient| is_meant(recipient.id)) {
        let notification = notification(context, instance, alarm, incident, occasion);
        if occasion.unless_waiting
            && notifications::incident_waits(work, recipient.id, &notification).await?
        {
            continue;
        }
        notifications::insert(work, recipient, notification, context.now()).await?;
    }
    Ok(())
}

fn notification(
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    incident: &Incident,
    Occasion { state, maintenance, .. }: Occasion,
) -> Notification {
    let what = &alarm.what;
    let about = Some(incident.about.clone()).filter(|about| !about.is_empty());
    let expiring = incident.expiring().filter(|_| what.kind == AlarmType::Notice);
    let about = about.filter(|_| expiring.is_none());
    let (server, group) =
        if what.kind == AlarmType::ConsumerLag { (None, about) } else { (about, None) };
    Notification {
        id: context.entropy().uuid(),
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
