//! Delivering a notification to its recipient, and recording the outcome.
//!
//! The recipient is looked up at each attempt: an address that was put right is used from
//! then on. A recipient who is removed gets nothing more, unless the message has an address
//! of its own: what waited when their instance was deleted, and the end of what they were
//! notified of before they were removed or got a new address. The outcome is recorded by the
//! control plane that holds the message; one that lost it to another control plane, or to a
//! change of the recipient, records nothing.

use super::gate::Gate;
use super::{Outbox, log_failed, pause};
use crate::Undelivered;
use model::{
    AlarmType, Incident, InstanceId, LastStatus, Notification, NotificationState,
    QueuedNotification, Recipient, RecipientType, SignedDuration,
};
use store::outbox::Failed;
use store::send_counts::{self, Limit};
use store::{Message, Run, Work, alarms, incidents, instances, notifications, outbox, recipients};

/// At most one mail in this time of one alarm to one recipient.
const BETWEEN_MAILS: SignedDuration = SignedDuration::from_mins(1);
/// So much of what waits goes along in a mail, besides the first.
pub(super) const MOST_ALONG: u32 = 50;
/// No destination may keep us waiting for longer than that.
const LONGEST_WISH: SignedDuration = outbox::LONGEST_PAUSE;
/// No later attempt would end otherwise.
const UNREADABLE: &str = "not sent: the store can't open what it keeps of this recipient; \
                          update the recipient, or delete it";
/// As long as a notification is worth trying.
const GIVEN_UP: &str = "not sent: given up after 24 h";

/// Whom a message is for.
pub(super) struct Whom {
    pub instance: InstanceId,
    pub recipient: Recipient,
    /// Whether it goes to an address they had before: its outcome is nobody's status.
    pub is_former: bool,
}

impl Outbox {
    pub(super) async fn deliver_notification(
        &self,
        message: &Message,
        body: &str,
    ) -> store::Result<()> {
        let Ok(telling) = serde_json::from_str::<QueuedNotification>(body) else {
            let reason = "it is no notification that this Castellan can read";
            return self.note_failed(message, reason).await;
        };
        let QueuedNotification { recipient_id, address, notification } = telling;
        let instance = notification.instance_id;
        let is_former = address.is_some();
        let mut reader = self.store.reader();
        let found = match address {
            Some(address) => Some(address.recipient(recipient_id)),
            None => recipients::find(&mut reader, instance, recipient_id).await?,
        };
        let Some(recipient) = found else {
            // Gone with the instance since it was taken: the message says where by now, and
            // is read again when the lease is over.
            if instances::find(&mut reader, instance).await?.is_none() {
                return Ok(());
            }
            return self.note_sent(message).await;
        };
        let whom = Whom { instance, recipient, is_former };
        let recipient = &whom.recipient;
        if !recipient.is_readable() {
            return self.note_lost(message, &whom, UNREADABLE).await;
        }
        let id = message.id;
        // At an address they had before, all of it is over.
        if !is_former && would_close_others(&mut reader, recipient, &notification).await? {
            tracing::info!(
                %id, %instance, recipient = %recipient_id, alarm = notification.alarm_type,
                "an end is not sent: under the recipient's dedupkey it would end other alarms"
            );
            return self.note_sent(message).await;
        }
        let limits = match self.pass_gate(message, &whom).await? {
            Gate::Open(limits) => limits,
            Gate::Closed => return Ok(()),
            Gate::Later(undelivered) => {
                return self.note_undelivered(message, &whom, &undelivered, &[]).await;
            }
        };
        // A test is a mail of its own.
        let is_mail = recipient.kind == RecipientType::Email && notification.alarm_id.is_some();
        let (along, more) =
            if is_mail { along(&mut reader, message).await? } else { <_>::default() };
        // Mailboxes take a mail they know for the same one: with more in it, it is another.
        let last = along.last().unwrap_or(message);
        let sent = self.notifier.notify(last.id, last.created_at, recipient, &notification, &more);
        match sent.await {
            Ok(()) => {
                let state = notification.state.as_str();
                tracing::info!(
                    %id, %instance, recipient = %recipient_id, kind = %recipient.kind, state,
                    alarm = notification.alarm_type, along = more.len(), last = %last.id,
                    "a notification was delivered"
                );
                self.note_delivered(message, &along, &whom).await
            }
            Err(undelivered) => self.note_undelivered(message, &whom, &undelivered, &limits).await,
        }
    }

    pub(super) async fn note_delivered(
        &self,
        message: &Message,
        along: &[Message],
        whom: &Whom,
    ) -> store::Result<()> {
        let now = self.clock.now();
        let recipient = &whom.recipient;
        let mut work = self.store.begin().await?;
        if !outbox::set_sent(&mut work, message).await? {
            return Ok(());
        }
        if let (RecipientType::Email, Some(lane)) = (recipient.kind, &message.lane) {
            // They may have another channel or address by now, where nothing came yet.
            let by_now = recipients::find(&mut work, whom.instance, recipient.id).await?;
            let is_there =
                by_now.is_none_or(|it| (it.kind, &it.value) == (recipient.kind, &recipient.value));
            if whom.is_former || is_there {
                for other in along {
                    outbox::set_sent(&mut work, other).await?;
                }
                outbox::hold(&mut work, lane, now, BETWEEN_MAILS).await?;
            }
        }
        let status = LastStatus { at: now, ok: true, message: "delivered".into() };
        whom.set_last_status(&mut work, &status).await?;
        work.commit().await
    }

    /// Never tried again.
    async fn note_lost(&self, message: &Message, whom: &Whom, reason: &str) -> store::Result<()> {
        let mut work = self.store.begin().await?;
        if !outbox::set_sent(&mut work, message).await? {
            return Ok(());
        }
        let status = LastStatus { at: self.clock.now(), ok: false, message: reason.into() };
        whom.set_last_status(&mut work, &status).await?;
        work.commit().await?;
        log_failed(message, reason, Failed::GivenUp);
        Ok(())
    }

    /// It is tried again later; `counted` is what it was counted against.
    async fn note_undelivered(
        &self,
        message: &Message,
        whom: &Whom,
        undelivered: &Undelivered,
        counted: &[Limit],
    ) -> store::Result<()> {
        let now = self.clock.now();
        let wish = undelivered.wait.unwrap_or_default().min(LONGEST_WISH);
        let pause = pause(message.attempts).max(wish);
        let mut work = self.store.begin().await?;
        send_counts::give_back(&mut work, counted).await?;
        let failed =
            outbox::set_failed(&mut work, message, &undelivered.reason, now, pause).await?;
        if failed == Failed::NotOurs {
            return work.commit().await;
        }
        let status = LastStatus { at: now, ok: false, message: undelivered.reason.clone() };
        whom.set_last_status(&mut work, &status).await?;
        work.commit().await?;
        log_failed(message, &undelivered.reason, failed);
        Ok(())
    }

    /// What is given up untried leaves a word with whom it was for; an attempt has left one.
    pub(super) async fn note_given_up(
        &self,
        work: &mut Work,
        message: &Message,
    ) -> store::Result<()> {
        let body = message.body.as_ref().ok().filter(|_| message.kind == notifications::KIND);
        let telling =
            body.and_then(|body| serde_json::from_str::<QueuedNotification>(body.expose()).ok());
        let Some(telling) = telling.filter(|it| it.address.is_none() && message.attempts == 0)
        else {
            return Ok(());
        };
        let (instance, recipient) = (telling.notification.instance_id, telling.recipient_id);
        let status = LastStatus { at: self.clock.now(), ok: false, message: GIVEN_UP.into() };
        recipients::set_last_status(work, instance, recipient, &status).await
    }
}

impl Whom {
    pub(super) async fn set_last_status(
        &self,
        work: &mut Work,
        status: &LastStatus,
    ) -> store::Result<()> {
        if self.is_former {
            return Ok(());
        }
        recipients::set_last_status(work, self.instance, self.recipient.id, status).await
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
        let telling: QueuedNotification =
            serde_json::from_str(message.body.as_ref().ok()?.expose()).ok()?;
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
    let is_open = |it: &Incident| {
        it.triggered_at.is_some() && watched.iter().any(|alarm| alarm.id == it.alarm_id)
    };
    Ok(open.iter().any(is_open))
}
