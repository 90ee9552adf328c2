//! Notifications that wait in the outbox, each for one recipient.
//!
//! What is told to one recipient of one alarm is one lane: nobody hears that
//! something is over before they heard of it. Of one instance a bounded number waits.

use crate::db::{Query, Run};
use crate::{NewMessage, Result, Work, outbox, recipients};
use model::{
    AlarmId, InstanceId, LastStatus, MessageId, Notification, QueuedNotification, Recipient,
    RecipientAddress, RecipientId, Secret, SignedDuration, Timestamp,
};

/// The kind of messages whose body is a [`QueuedNotification`].
pub const KIND: &str = "notification";
/// How long a destination may be away.
const LIFE: SignedDuration = SignedDuration::from_hours(24);
/// How many of one instance may wait. Beyond that the oldest are given up.
pub const MOST: i64 = 1000;
const GIVEN_UP: &str = "not sent: given up, because more than 1000 messages waited";

/// Writes it, in the transaction of what it tells of.
pub async fn insert(
    work: &mut Work,
    recipient: &Recipient,
    notification: Notification,
    now: Timestamp,
) -> Result<MessageId> {
    insert_bounded(work, &message(recipient, None, notification), now).await
}

async fn insert_bounded(work: &mut Work, new: &NewMessage, now: Timestamp) -> Result<MessageId> {
    let id = outbox::insert(work, new, now).await?;
    let Some(instance) = new.instance else { return Ok(id) };
    for body in outbox::give_up_oldest(work, instance, MOST).await? {
        let Ok(queued) = serde_json::from_str::<QueuedNotification>(body.expose()) else {
            continue;
        };
        if queued.address.is_none() {
            let status = LastStatus { at: now, ok: false, message: GIVEN_UP.into() };
            recipients::set_last_status(work, instance, queued.recipient_id, &status).await?;
        }
    }
    Ok(id)
}

/// The same to somebody who is gone, or told elsewhere from now on. It has a lane of its own:
/// an old address that is away holds up nothing, and what becomes of the recipient later takes
/// nothing of it back.
pub async fn insert_former(
    work: &mut Work,
    recipient: &Recipient,
    notification: Notification,
    now: Timestamp,
) -> Result<MessageId> {
    let address = Some(RecipientAddress::from(recipient));
    let mut new = message(recipient, address, notification);
    new.about.push_str("/former");
    new.lane = new.lane.map(|lane| format!("{lane}/former"));
    insert_bounded(work, &new, now).await
}

fn message(
    recipient: &Recipient,
    address: Option<RecipientAddress>,
    notification: Notification,
) -> NewMessage {
    let instance = notification.instance_id;
    let lane = lane(instance, notification.alarm_id, recipient.id);
    let incident = notification.incident();
    let queued = QueuedNotification { recipient_id: recipient.id, address, notification };
    let body = serde_json::to_string(&queued).expect("plain data serialises");
    NewMessage {
        kind: KIND,
        about: about(instance, recipient.id),
        body: Secret::new(body),
        life: LIFE,
        lane: Some(lane),
        instance: Some(instance),
        destination: recipient.destination(),
        incident: Some(incident),
    }
}

/// Takes back a test that has not reached the recipient yet. One that is just being sent
/// stays, and the next waits for its turn.
pub async fn withdraw_test(
    work: &mut Work,
    instance: InstanceId,
    recipient: RecipientId,
) -> Result<()> {
    let query = Query::new("DELETE FROM outbox WHERE lane = $1 AND taken_by IS NULL");
    work.execute(query.bind(lane(instance, None, recipient))).await.map(drop)
}

/// Whether something of the notification's incident has not reached the recipient
/// yet.
pub async fn incident_waits(
    run: &mut impl Run,
    recipient: RecipientId,
    notification: &Notification,
) -> Result<bool> {
    let Notification { instance_id, alarm_id, .. } = notification;
    let query =
        Query::new("SELECT 1 AS found FROM outbox WHERE lane = $1 AND incident = $2 LIMIT 1")
            .bind(lane(*instance_id, *alarm_id, recipient))
            .bind(notification.incident());
    Ok(run.fetch_one(query).await?.is_some())
}

/// What a recipient who was just changed has not heard, they hear now.
pub async fn hasten(
    work: &mut Work,
    instance: InstanceId,
    recipient: &Recipient,
    now: Timestamp,
) -> Result<()> {
    let about = about(instance, recipient.id);
    outbox::hasten(work, &about, &recipient.destination(), now).await
}

/// What a recipient heard at another address, or in another way, is no reason to have
/// them wait.
pub async fn forget_pace(
    work: &mut Work,
    instance: InstanceId,
    recipient: RecipientId,
) -> Result<()> {
    outbox::free(work, &lane_of("%", instance, recipient)).await
}

/// Takes back what a recipient who is gone has not heard.
pub async fn withdraw(work: &mut Work, instance: InstanceId, recipient: RecipientId) -> Result<()> {
    outbox::withdraw(work, &about(instance, recipient)).await
}

/// The recipients of an instance go with it: what they have not heard keeps where they
/// were told, sealed as it was. How long those wait who have heard all is nothing to keep.
pub(crate) async fn keep_addresses(work: &mut Work, instance: InstanceId) -> Result<()> {
    let everybody = recipients::list(work, instance).await?;
    for (id, body) in outbox::bodies(work, KIND, instance).await? {
        let Ok(queued) = serde_json::from_str::<QueuedNotification>(body.expose()) else {
            continue;
        };
        // What says where keeps that: they were told elsewhere before.
        if queued.address.is_some() {
            continue;
        }
        let is_whom = |it: &&Recipient| it.id == queued.recipient_id && it.is_readable();
        let Some(recipient) = everybody.iter().find(is_whom) else { continue };
        let queued =
            QueuedNotification { address: Some(RecipientAddress::from(recipient)), ..queued };
        let body = serde_json::to_string(&queued).expect("plain data serialises");
        outbox::rewrite(work, id, &Secret::new(body)).await?;
    }
    outbox::free_idle(work, &format!("instances/{instance}/%")).await
}

fn about(instance: InstanceId, recipient: RecipientId) -> String {
    format!("instances/{instance}/recipients/{recipient}")
}

fn lane(instance: InstanceId, alarm: Option<AlarmId>, recipient: RecipientId) -> String {
    let alarm = alarm.map_or("test".to_owned(), |alarm| alarm.to_string());
    lane_of(&alarm, instance, recipient)
}

fn lane_of(alarm: &str, instance: InstanceId, recipient: RecipientId) -> String {
    format!("instances/{instance}/alarms/{alarm}/recipients/{recipient}")
}
