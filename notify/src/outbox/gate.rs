//! The last look before a notification goes out: whether its recipient may be mailed,
//! and whether the limits of its account and of its destination have room.
//!
//! It is looked at in the transaction that counts the message or strikes it off. So an
//! address that is confirmed meanwhile gets the message, or is found to wait for none
//! and that confirmation writes what goes on.

use super::Outbox;
use super::deliver::Whom;
use crate::Undelivered;
use model::{LastStatus, RecipientType, SignedDuration, Timestamp};
use store::send_counts::{self, Exceeded, Limit};
use store::{Message, Work, mail_consents, outbox};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Whether a notification may go out now.
pub(super) enum Gate {
    /// It was counted against these limits.
    Open(Vec<Limit>),
    /// It was struck off, and the recipient's status says why.
    Closed,
    /// A limit is reached.
    Later(Undelivered),
}

impl Outbox {
    pub(super) async fn pass_gate(&self, message: &Message, whom: &Whom) -> store::Result<Gate> {
        let now = self.clock.now();
        let mut work = self.store.begin().await?;
        if let Some(reason) = refusal(&mut work, message, whom).await? {
            // If it is not ours any more, whoever has it by now says what becomes of it.
            if outbox::set_sent(&mut work, message).await? {
                tracing::info!(
                    id = %message.id, instance = %whom.instance, recipient = %whom.recipient.id,
                    reason, "a notification is not sent"
                );
                let status = LastStatus { at: now, ok: false, message: reason };
                whom.set_last_status(&mut work, &status).await?;
            }
            work.commit().await?;
            return Ok(Gate::Closed);
        }
        let limits = self.limits_of(message, whom);
        let exceeded = send_counts::spend(&mut work, &limits, now).await?;
        work.commit().await?;
        Ok(match exceeded {
            None => Gate::Open(limits),
            Some(exceeded) => Gate::Later(held_back(&exceeded, now)),
        })
    }

    fn limits_of(&self, message: &Message, whom: &Whom) -> Vec<Limit> {
        const WHAT: &str = "notifications";
        let most = &self.limits;
        let of_destination = most.notifications_per_destination_per_hour;
        let mut limits = vec![Limit::of_destination(WHAT, &whom.recipient, of_destination, HOUR)];
        limits.extend(message.account.map(|account| {
            let of_account = most.notifications_per_account_per_hour;
            Limit::of_account(WHAT, account, of_account, HOUR)
        }));
        limits
    }
}

/// Why the recipient gets nothing; none: it may be sent. Without an account it is of an
/// instance that was gone before messages said whose they are.
async fn refusal(work: &mut Work, message: &Message, whom: &Whom) -> store::Result<Option<String>> {
    let (RecipientType::Email, Some(account)) = (whom.recipient.kind, message.account) else {
        return Ok(None);
    };
    let email = whom.recipient.value.expose();
    Ok(mail_consents::standing(work, account, email).await?.refusal(email))
}

fn held_back(exceeded: &Exceeded, now: Timestamp) -> Undelivered {
    let reason = format!(
        "held back: the limit of {} messages an hour is reached; what waits is sent after {}, \
         or given up a day after it was written",
        exceeded.limit.most(),
        exceeded.until.strftime("%Y-%m-%d %H:%M UTC"),
    );
    Undelivered { reason, wait: Some(exceeded.until.duration_since(now)) }
}
