//! How much was sent, by account and by destination, to keep it within limits.
//!
//! A count begins with the first message and ends with its window; the next message
//! begins another one. Counts whose window has ended are deleted by the next message,
//! so there are as many rows as subjects that had a message within a day.

use crate::db::{Query, Run};
use crate::{Result, Work, hash_key};
use model::{AccountId, Recipient, RecipientType, Secret, SignedDuration, Timestamp, mailbox_key};

/// At most so many messages in a window; 0: any number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// What is counted, of whom.
    subject: String,
    most: u32,
    window: SignedDuration,
}

impl Limit {
    pub fn of_account(what: &str, account: AccountId, most: u32, window: SignedDuration) -> Self {
        Self { subject: format!("{what}/accounts/{account}"), most, window }
    }

    /// Of a mailbox, whichever accounts send there.
    pub fn of_mailbox(what: &str, email: &str, most: u32, window: SignedDuration) -> Self {
        let hash = hash_key(&Secret::new(mailbox_key(email)));
        Self { subject: format!("{what}/mailboxes/{hash}"), most, window }
    }

    /// Of where a recipient is told, whichever accounts send there: a mailbox, or the
    /// exact address or key of any other type. Only who knows that can use it up.
    pub fn of_destination(
        what: &str,
        recipient: &Recipient,
        most: u32,
        window: SignedDuration,
    ) -> Self {
        let (kind, value) = (recipient.kind, recipient.value.expose());
        match kind {
            RecipientType::Email => Self::of_mailbox(what, value, most, window),
            _ => Self::of_place(what, kind.as_str(), value, most, window),
        }
    }

    /// Of a place of such a kind, whichever accounts send there. Which one it is shows
    /// nowhere: it may be known by a key.
    pub fn of_place(
        what: &str,
        kind: &str,
        place: &str,
        most: u32,
        window: SignedDuration,
    ) -> Self {
        let hash = hash_key(&Secret::new(place));
        Self { subject: format!("{what}/{kind}/{hash}"), most, window }
    }

    /// How many there may be.
    pub fn most(&self) -> u32 {
        self.most
    }
}

/// The limit that a message would exceed, and when the next one may go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exceeded {
    pub limit: Limit,
    pub until: Timestamp,
}

/// Counts one message against all of these limits, or against none of them if one is
/// reached.
pub async fn spend(work: &mut Work, limits: &[Limit], now: Timestamp) -> Result<Option<Exceeded>> {
    let ended = Query::new("DELETE FROM send_counts WHERE ends_at <= $1").bind(now);
    work.execute(ended).await?;
    let counted = || limits.iter().filter(|limit| limit.most > 0);
    for limit in counted() {
        let query =
            Query::new("SELECT ends_at FROM send_counts WHERE subject = $1 AND count >= $2")
                .bind(limit.subject.as_str())
                .bind(limit.most);
        if let Some(row) = work.fetch_one(query).await? {
            return Ok(Some(Exceeded { limit: limit.clone(), until: row.time("ends_at")? }));
        }
    }
    for limit in counted() {
        let query = Query::new(
            "INSERT INTO send_counts (subject, ends_at, count) VALUES ($1, $2, 1) \
             ON CONFLICT (subject) DO UPDATE SET count = send_counts.count + 1",
        )
        .bind(limit.subject.as_str())
        .bind(now + limit.window);
        work.execute(query).await?;
    }
    Ok(None)
}

/// A message that was counted did not go out.
pub async fn give_back(work: &mut Work, limits: &[Limit]) -> Result<()> {
    for limit in limits {
        let query =
            Query::new("UPDATE send_counts SET count = count - 1 WHERE subject = $1 AND count > 0");
        work.execute(query.bind(limit.subject.as_str())).await?;
    }
    Ok(())
}
