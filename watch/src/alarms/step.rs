//! One move of one alarm, with everything that belongs to it, in one transaction.
//!
//! Notifications are what the same transaction writes into the outbox: whatever
//! dies, there is one for a move that was made and none for one that was not. What
//! was read before is looked at again inside, so of several control planes, or of
//! a change of the alarm meanwhile, one thing happens.

use super::enqueue::enqueue;
use super::judge::Move;
use super::words;
use crate::{Context, Result};
use model::{
    Alarm, Incident, Instance, InstanceId, NotificationState, Server, SignedDuration, Timestamp,
};
use store::{Work, alarms, incidents, instances};

/// How often it is written that a level still holds.
const NOTED_EVERY: SignedDuration = SignedDuration::from_secs(20);

/// What was seen of a server, a group, or the cluster if it has no name.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen<'a> {
    pub about: &'a str,
    pub at: Timestamp,
    /// Since when it is so, if that is known to be before.
    pub since: Option<Timestamp>,
    pub value: Option<f64>,
}

pub async fn step(
    context: &Context,
    instance: InstanceId,
    alarm: &Alarm,
    incident: Option<&Incident>,
    seen: &Seen<'_>,
    next: Move,
) -> Result<()> {
    let mut work = context.store().begin().await?;
    let there = instances::find(&mut work, instance).await?;
    let Some(instance) = there.filter(|it| it.deleted_at.is_none()) else { return Ok(()) };
    // Nothing is wrong with a cluster that shall not run; what was is over by then.
    if instance.stopped {
        return Ok(());
    }
    let same = alarms::find(&mut work, instance.id, alarm.id).await?;
    if same.as_ref() != Some(alarm) {
        return Ok(());
    }
    if make(&mut work, context, &instance, alarm, incident, seen, next).await? {
        work.commit().await?;
    }
    Ok(())
}

/// False if somebody else was quicker.
async fn make(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    incident: Option<&Incident>,
    seen: &Seen<'_>,
    next: Move,
) -> Result<bool> {
    let Seen { about, at, since, value } = *seen;
    let since = since.unwrap_or(at);
    let Some(was) = incident else {
        if incidents::was_over_at(work, instance.id, alarm.id, about, at).await? {
            return Ok(false);
        }
        let begun = incidents::begin(work, instance.id, alarm.id, about, since, value).await?;
        let Some(begun) = begun else { return Ok(false) };
        if next != Move::Trigger {
            return Ok(true);
        }
        return trigger(work, context, instance, alarm, &begun, seen).await;
    };
    let same = Incident { value, ..was.clone() };
    match next {
        Move::Stay | Move::Begin => Ok(false),
        Move::Trigger => trigger(work, context, instance, alarm, was, seen).await,
        Move::Forget => Ok(incidents::forget(work, was).await?),
        Move::BeginAnew => {
            let gone = incidents::forget(work, was).await?;
            let begun = incidents::begin(work, instance.id, alarm.id, about, since, value).await?;
            Ok(gone && begun.is_some())
        }
        Move::Settle => {
            let is = Incident { clear_since: Some(at), ..same };
            Ok(incidents::advance(work, was, &is).await?)
        }
        Move::Unsettle => {
            let is = Incident { clear_since: None, ..same };
            Ok(incidents::advance(work, was, &is).await?)
        }
        Move::Remind => {
            let held = at.duration_since(was.since);
            let message = words::goes_on(&alarm.what, name(instance, about), value, held);
            let is = Incident { reminded_at: Some(at), message, ..same };
            enqueue(work, context, instance, alarm, &is, NotificationState::Reminder).await?;
            Ok(incidents::advance(work, was, &is).await?)
        }
        Move::Resolve => {
            let message = words::resolved(&alarm.what, name(instance, about), value);
            let is = Incident { resolved_at: Some(at), message, ..same };
            enqueue(work, context, instance, alarm, &is, NotificationState::Resolved).await?;
            incidents::tidy(work, instance.id, alarm.id, context.now()).await?;
            Ok(incidents::advance(work, was, &is).await?)
        }
    }
}

async fn trigger(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    was: &Incident,
    seen: &Seen<'_>,
) -> Result<bool> {
    let message = words::triggered(&alarm.what, name(instance, seen.about), seen.value);
    let (triggered_at, value) = (Some(seen.at), seen.value);
    let is = Incident { triggered_at, value, message, ..was.clone() };
    enqueue(work, context, instance, alarm, &is, NotificationState::Triggered).await?;
    Ok(incidents::advance(work, was, &is).await?)
}

/// Time goes by while a level holds. Written so often that no restart makes a gap
/// of it, and not at every sample.
pub async fn note_seen(context: &Context, incident: &Incident, at: Timestamp) -> Result<()> {
    if at.duration_since(incident.judged_at()) < NOTED_EVERY {
        return Ok(());
    }
    let mut work = context.store().begin().await?;
    incidents::note_seen(&mut work, incident.id, at).await?;
    Ok(work.commit().await?)
}

/// It is over because nobody watches any more. In the transaction of that change.
pub async fn stop_watching(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    why: &str,
) -> Result<()> {
    for was in incidents::open(work, instance.id).await? {
        if was.alarm_id == alarm.id {
            end(work, context, instance, alarm, &was, why).await?;
        }
    }
    Ok(())
}

/// It is over for every group but the one that an alarm is about from now on. The alarm
/// is what it was: who heard of a beginning hears of the end.
pub async fn stop_watching_others(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    group: &str,
) -> Result<()> {
    let why = format!("is about the group {group} alone now");
    for was in incidents::open(work, instance.id).await? {
        if was.alarm_id == alarm.id && was.about != group {
            end(work, context, instance, alarm, &was, &why).await?;
        }
    }
    Ok(())
}

/// It is over because nothing is measured any more: of these servers, or of the whole
/// cluster. In the transaction of that change.
pub async fn stop_measuring(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    servers: Option<&[&Server]>,
    why: &str,
) -> Result<()> {
    let watched = alarms::list(work, instance.id).await?;
    for was in incidents::open(work, instance.id).await? {
        let is_meant = |servers: &[&Server]| servers.iter().any(|it| it.name == was.about);
        let alarm = watched.iter().find(|alarm| alarm.id == was.alarm_id);
        if let Some(alarm) = alarm.filter(|_| servers.is_none_or(is_meant)) {
            end(work, context, instance, alarm, &was, why).await?;
        }
    }
    Ok(())
}

/// It is over because its server is removed.
pub(super) async fn stop_watching_removed(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    was: &Incident,
) -> Result<()> {
    end(work, context, instance, alarm, was, "is over: its server is removed").await
}

async fn end(
    work: &mut Work,
    context: &Context,
    instance: &Instance,
    alarm: &Alarm,
    was: &Incident,
    why: &str,
) -> Result<()> {
    if was.triggered_at.is_none() {
        incidents::forget(work, was).await?;
        return Ok(());
    }
    let message = format!("{} alarm {} {why}", alarm.what.kind, alarm.id);
    let is = Incident { resolved_at: Some(context.now()), message, ..was.clone() };
    enqueue(work, context, instance, alarm, &is, NotificationState::Resolved).await?;
    incidents::advance(work, was, &is).await?;
    Ok(())
}

fn name<'a>(instance: &'a Instance, about: &'a str) -> &'a str {
    if about.is_empty() { instance.name.as_str() } else { about }
}
