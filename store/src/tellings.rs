//! Notifications that wait in the outbox, each for one recipient.
//!
//! What is told to one recipient of one alarm is one lane: nobody hears that
//! something is over before they heard of it.

use crate::db::{Query, Run};
use crate::{NewMessage, Result, Work, outbox};
use model::{
    AlarmId, InstanceId, MessageId, RecipientId, Secret, SignedDuration, Telling, Timestamp,
};

/// The kind of messages whose body is a [`Telling`].
pub const KIND: &str = "notification";
/// How long a destination may be away.
const LIFE: SignedDuration = SignedDuration::from_hours(24);

/// Writes it, in the transaction of what it tells of.
pub async fn insert(work: &mut Work, telling: &Telling, now: Timestamp) -> Result<MessageId> {
    let Telling { recipient_id, notification } = telling;
    let body = serde_json::to_string(telling).expect("plain data serialises");
    let new = NewMessage {
        kind: KIND,
        about: about(notification.instance_id, *recipient_id),
        body: Secret::new(body),
        life: LIFE,
        lane: Some(lane(notification.instance_id, notification.alarm_id, *recipient_id)),
    };
    outbox::insert(work, &new, now).await
}

/// Whether something of that alarm, or a test, has not reached the recipient yet.
pub async fn waits(
    run: &mut impl Run,
    instance: InstanceId,
    alarm: Option<AlarmId>,
    recipient: RecipientId,
) -> Result<bool> {
    let query = Query::new("SELECT 1 AS found FROM outbox WHERE lane = $1 LIMIT 1")
        .bind(lane(instance, alarm, recipient));
    Ok(run.fetch_one(query).await?.is_some())
}

/// Takes back what a recipient who is gone has not heard.
pub async fn withdraw(work: &mut Work, instance: InstanceId, recipient: RecipientId) -> Result<()> {
    outbox::withdraw(work, &about(instance, recipient)).await
}

fn about(instance: InstanceId, recipient: RecipientId) -> String {
    format!("instances/{instance}/recipients/{recipient}")
}

fn lane(instance: InstanceId, alarm: Option<AlarmId>, recipient: RecipientId) -> String {
    let alarm = alarm.map_or("test".to_owned(), |alarm| alarm.to_string());
    format!("instances/{instance}/alarms/{alarm}/recipients/{recipient}")
}
