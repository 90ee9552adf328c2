//! Messages that wait to be sent.
//!
//! A message is written in the transaction of what it tells of, so there is
//! either both or neither. Whoever sends takes it for the time of a lease; if
//! they die, it is there again when the lease is over. So a message goes out at
//! least once, and only the last one to take it says what became of it.
//!
//! Bodies are sealed: a message may hold a link that lets somebody in. Time is
//! the database's own where several control planes share it ([`Run::now`]).

use crate::db::{Query, Run};
use crate::{Change, Result, SealError, Work};
use model::{MessageId, Secret, SignedDuration, Timestamp};

/// A message to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewMessage {
    /// How it goes out, which says what the body is; such as `mail`.
    pub kind: &'static str,
    /// What it tells of, to take it back by.
    pub about: String,
    pub body: Secret,
    /// How long sending it is worth trying.
    pub life: SignedDuration,
}

/// A message that was taken to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub id: MessageId,
    pub kind: String,
    /// One that can't be opened must not hold up the others.
    pub body: std::result::Result<Secret, SealError>,
    pub created_at: Timestamp,
    /// How often it was taken, this time included. Tells this taking from
    /// later ones.
    pub attempts: i64,
}

/// What became of a message that could not be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failed {
    /// It is tried again then.
    Again(Timestamp),
    GivenUp,
    /// Somebody else has taken it since, or it was taken back.
    NotOurs,
}

fn place(id: MessageId) -> String {
    format!("outbox/{id}/body")
}

/// Writes a message; whoever sends is woken once it is committed.
pub async fn insert(work: &mut Work, new: &NewMessage, now: Timestamp) -> Result<MessageId> {
    let now = work.now(now).await?;
    let id = MessageId(work.next("outbox").await?);
    let query = Query::new(
        "INSERT INTO outbox \
         (id, kind, about, body_sealed, created_at, give_up_at, due_at, attempts, last_error) \
         VALUES ($1, $2, $3, $4, $5, $6, $5, 0, '')",
    )
    .bind(id.0)
    .bind(new.kind)
    .bind(new.about.as_str())
    .bind(work.master_key().seal(&place(id), &new.body))
    .bind(now)
    .bind(now + new.life);
    work.execute(query).await?;
    work.tell(Change::Outbox);
    Ok(id)
}

/// Takes back what was not sent yet.
pub async fn withdraw(work: &mut Work, about: &str) -> Result<()> {
    work.execute(Query::new("DELETE FROM outbox WHERE about = $1").bind(about)).await.map(drop)
}

/// Takes up to `most` messages that are due, for the time of a lease.
pub async fn take(
    work: &mut Work,
    most: u32,
    now: Timestamp,
    lease: SignedDuration,
) -> Result<Vec<Message>> {
    let now = work.now(now).await?;
    let due = Query::new("SELECT * FROM outbox WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2");
    let rows = work.fetch(due.bind(now).bind(most)).await?;
    let mut taken = Vec::new();
    for row in rows {
        let id = MessageId(row.int("id")?);
        let attempts = row.int("attempts")? + 1;
        let query = Query::new("UPDATE outbox SET attempts = $2, due_at = $3 WHERE id = $1")
            .bind(id.0)
            .bind(attempts)
            .bind(now + lease);
        work.execute(query).await?;
        taken.push(Message {
            id,
            kind: row.text("kind")?,
            body: work.master_key().open(&place(id), &row.text("body_sealed")?),
            created_at: row.time("created_at")?,
            attempts,
        });
    }
    Ok(taken)
}

/// How long until a message is due; none if none waits.
pub async fn next_due(run: &mut impl Run, now: Timestamp) -> Result<Option<SignedDuration>> {
    let now = run.now(now).await?;
    let query = Query::new("SELECT MIN(due_at) AS due_at FROM outbox");
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(row.time_or_none("due_at")?.map(|due| due.duration_since(now)))
}

/// The message went out.
pub async fn set_sent(work: &mut Work, message: &Message) -> Result<()> {
    let query = Query::new("DELETE FROM outbox WHERE id = $1 AND attempts = $2")
        .bind(message.id.0)
        .bind(message.attempts);
    work.execute(query).await.map(drop)
}

/// The message could not be sent: it is tried again after `pause`, or given up
/// if its time is over.
pub async fn set_failed(
    work: &mut Work,
    message: &Message,
    error: &str,
    now: Timestamp,
    pause: SignedDuration,
) -> Result<Failed> {
    let now = work.now(now).await?;
    let given_up =
        Query::new("DELETE FROM outbox WHERE id = $1 AND attempts = $2 AND give_up_at <= $3")
            .bind(message.id.0)
            .bind(message.attempts)
            .bind(now);
    if work.execute(given_up).await? == 1 {
        return Ok(Failed::GivenUp);
    }
    let again = now + pause;
    let query = Query::new(
        "UPDATE outbox SET due_at = $3, last_error = $4 WHERE id = $1 AND attempts = $2",
    )
    .bind(message.id.0)
    .bind(message.attempts)
    .bind(again)
    .bind(error);
    let ours = work.execute(query).await? == 1;
    Ok(if ours { Failed::Again(again) } else { Failed::NotOurs })
}
