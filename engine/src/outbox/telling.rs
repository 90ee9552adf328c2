//! Telling a recipient of an alarm, and noting how that went.
//!
//! Whoever is told is looked up at each attempt: an address that was put right
//! is used from then on. A recipient who is gone is not told, unless they went with
//! their instance: what waited then says where. How it went is noted by whoever holds
//! the message: who lost it to another control plane, or to a change of the recipient,
//! has nothing to say any more.

use super::{Outbox, log_failed, pause};
use async_trait::async_trait;
use model::{
    AlarmType, Incident, InstanceId, LastStatus, MessageId, Notification, NotificationState,
    Recipient, RecipientId, RecipientType, SignedDuration, Telling, Timestamp,
};
use outbound::Notifier;
use store::outbox::Failed;
use store::{Message, Run, alarms, incidents, instances, outbox, recipients};

/// At most one mail in this time of one alarm to one recipient.
const BETWEEN_MAILS: SignedDuration = SignedDuration::from_mins(1);
/// So much of what waits goes along in a mail, besides the first.
pub(super) const MOST_ALONG: u32 = 50;
/// No destination may keep us waiting for longer than that.
const LONGEST_WISH: SignedDuration = SignedDuration::from_hours(1);
/// No later attempt would end otherwise.
const UNREADABLE: &str = "not told: the store can't open what it keeps of this recipient; \
                          update the recipient, or delete it";

/// Why somebody could not be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untold {
    /// A sentence for people, without what the destination answered.
    pub reason: String,
    /// The destination wishes not to be called before that.
    pub wait: Option<SignedDuration>,
}

/// A way for notifications to go out: one attempt. `more` goes along in a mail, and is
/// empty elsewhere.
#[async_trait]
pub trait Notify: Send + Sync {
    async fn notify(
        &self,
        id: MessageId,
        at: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), Untold>;
}

#[async_trait]
impl Notify for Notifier {
    async fn notify(
        &self,
        id: MessageId,
        at: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), Untold> {
        let told = Notifier::notify(self, id, at, recipient, notification, more).await;
        told.map_err(|error| Untold {
            reason: error.to_string(),
            wait: error.retry_after().and_then(|wait| SignedDuration::try_from(wait).ok()),
        })
    }
}

impl Outbox {
    pub(super) async fn tell(&self, message: &Message, body: &str) -> store::Result<()> {
        let Ok(telling) = serde_json::from_str::<Telling>(body) else {
            let reason = "it is no notification that this Castellan can read";
            return self.note_failed(message, reason).await;
        };
        let Telling { recipient_id, address, notification } = telling;
        let whom = (notification.instance_id, recipient_id);
        let mut reader = self.store.reader();
        let found = recipients::find(&mut reader, whom.0, whom.1).await?;
        let Some(recipient) = found.or(address.map(|it| it.recipient(recipient_id))) else {
            // Gone with the instance since it was taken: the message says where by now, and
            // is read again when the lease is over.
            if instances::find(&mut reader, whom.0).await?.is_none() {
                return Ok(());
            }
            return self.note_sent(message).await;
        };
        if !recipient.is_readable() {
            return self.note_lost(message, whom, UNREADABLE).await;
        }
        let id = message.id;
        if would_close_others(&mut reader, &recipient, &notification).await? {
            tracing::info!(
                %id, instance = %whom.0, recipient = %whom.1, alarm = notification.alarm_type,
                "an end is not told: under the recipient's dedupkey it would end other alarms"
            );
            return self.note_sent(message).await;
        }
        // A test is a mail of its own.
        let is_mail = recipient.kind == RecipientType::Email && notification.alarm_id.is_some();
        let (along, more) =
            if is_mail { along(&mut reader, message).await? } else { <_>::default() };
        // Mailboxes take a mail they know for the same one: with more in it, it is another.
        let last = along.last().unwrap_or(message);
        let told = self.notifier.notify(last.id, last.created_at, &recipient, &notification, &more);
        match told.await {
            Ok(()) => {
                let state = notification.state.as_str();
                tracing::info!(
                    %id, instance = %whom.0, recipient = %whom.1, kind = %recipient.kind, state,
                    alarm = notification.alarm_type, along = more.len(), last = %last.id,
                    "a recipient was told"
                );
                self.note_told(message, &along, whom.0, &recipient).await
            }
            Err(untold) => self.note_untold(message, whom, &untold).await,
        }
    }

    pub(super) async fn note_told(
        &self,
        message: &Message,
        along: &[Message],
        instance: InstanceId,
        told: &Recipient,
    ) -> store::Result<()> {
        let now = self.clock.now();
        let mut work = self.store.begin().await?;
        if !outbox::set_sent(&mut work, message).await? {
            return Ok(());
        }
        if let (RecipientType::Email, Some(lane)) = (told.kind, &message.lane) {
            // They may be told in another way or elsewhere by now, where nothing came yet.
            let by_now = recipients::find(&mut work, instance, told.id).await?;
            if by_now.is_none_or(|it| (it.kind, &it.value) == (told.kind, &told.value)) {
                for other in along {
                    outbox::set_sent(&mut work, other).await?;
                }
                outbox::hold(&mut work, lane, now, BETWEEN_MAILS).await?;
            }
        }
        let status = LastStatus { at: now, ok: true, message: "delivered".into() };
        recipients::set_last_status(&mut work, instance, told.id, &status).await?;
        work.commit().await
    }

    /// Never tried again.
    async fn note_lost(
        &self,
        message: &Message,
        (instance, recipient): (InstanceId, RecipientId),
        reason: &str,
    ) -> store::Result<()> {
        let mut work = self.store.begin().await?;
        if !outbox::set_sent(&mut work, message).await? {
            return Ok(());
        }
        let status = LastStatus { at: self.clock.now(), ok: false, message: reason.into() };
        recipients::set_last_status(&mut work, instance, recipient, &status).await?;
        work.commit().await?;
        log_failed(message, reason, Failed::GivenUp);
        Ok(())
    }

    async fn note_untold(
        &self,
        message: &Message,
        (instance, recipient): (InstanceId, RecipientId),
        untold: &Untold,
    ) -> store::Result<()> {
        let now = self.clock.now();
        let wish = untold.wait.unwrap_or_default().min(LONGEST_WISH);
        let pause = pause(message.attempts).max(wish);
        let mut work = self.store.begin().await?;
        let failed = outbox::set_failed(&mut work, message, &untold.reason, now, pause).await?;
        if failed == Failed::NotOurs {
            return Ok(());
        }
        let status = LastStatus { at: now, ok: false, message: untold.reason.clone() };
        recipients::set_last_status(&mut work, instance, recipient, &status).await?;
        work.commit().await?;
        log_failed(message, &untold.reason, failed);
        Ok(())
    }
}

/// What goes along with a message: the next mail has to wait for a minute, and an alarm
/// about groups may have something to say of hundreds. Whatever can't be read is left to
/// its own turn, which says so.
async fn along(
    run: &mut impl Run,
    message: &Message,
) -> store::Result<(Vec<Message>, Vec<Notification>)> {
    let waiting = outbox::behind(run, message, MOST_ALONG).await?;
    let read = |message: Message| {
        let telling: Telling = serde_json::from_str(message.body.as_ref().ok()?.expose()).ok()?;
        Some((message, telling.notification))
    };
    Ok(waiting.into_iter().map_while(read).unzip())
}

/// PagerDuty knows every alarm of a recipient with a `dedupkey` as one incident. Its end
/// is the end of the last one that is open.
async fn would_close_others(
    run: &mut impl Run,
    recipient: &Recipient,
    notification: &Notification,
) -> store::Result<bool> {
    let Notification { instance_id, state, .. } = *notification;
    let has_key = recipient.options.shared_key().is_some();
    let is_shared = recipient.kind == RecipientType::Pagerduty && has_key;
    if !is_shared || state != NotificationState::Resolved || notification.is_notice() {
        return Ok(false);
    }
    let mut watched = alarms::list(run, instance_id).await?;
    // Notices have incidents of their own there.
    watched.retain(|it| it.what.kind != AlarmType::Notice && it.what.names(recipient.id));
    let open = incidents::open(run, instance_id).await?;
    let is_told = |it: &Incident| {
        it.triggered_at.is_some() && watched.iter().any(|alarm| alarm.id == it.alarm_id)
    };
    Ok(open.iter().any(is_told))
}
