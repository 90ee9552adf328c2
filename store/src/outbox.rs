//! Messages that wait to be sent.
//!
//! A message is written in the transaction of what it tells of, so there is
//! either both or neither. Whoever sends takes it for the time of a lease; if
//! they die, it is there again when the lease is over. So a message goes out at
//! least once, and only the last one to take it says what became of it.
//!
//! Messages of one lane go out one after another, oldest first: whoever is told
//! that something is over has been told of it before. A lane may be held for a
//! while after a message, so that nobody gets too many.
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
    /// What it goes out in order with; none: nothing.
    pub lane: Option<String>,
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
    pub lane: Option<String>,
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
         (id, kind, about, body_sealed, created_at, give_up_at, due_at, attempts, last_error, \
         lane) VALUES ($1, $2, $3, $4, $5, $6, $5, 0, '', $7)",
    )
    .bind(id.0)
    .bind(new.kind)
    .bind(new.about.as_str())
    .bind(work.master_key().seal(&place(id), &new.body))
    .bind(now)
    .bind(now + new.life)
    .bind(new.lane.clone());
    work.execute(query).await?;
    work.tell(Change::Outbox);
    Ok(id)
}

/// Takes back what was not sent yet.
pub async fn withdraw(work: &mut Work, about: &str) -> Result<()> {
    work.execute(Query::new("DELETE FROM outbox WHERE about = $1").bind(about)).await.map(drop)
}

/// Takes up to `most` messages that are due, for the time of a lease. Those that
/// were never tried come first: a destination that is away keeps nobody from the
/// others.
pub async fn take(
    work: &mut Work,
    most: u32,
    now: Timestamp,
    lease: SignedDuration,
) -> Result<Vec<Message>> {
    let now = work.now(now).await?;
    let due = Query::new(
        "SELECT outbox.* FROM outbox JOIN outbox_turns ON outbox_turns.id = outbox.id \
         WHERE outbox_turns.turn_at <= $1 \
         ORDER BY CASE WHEN attempts = 0 THEN 0 ELSE 1 END, outbox_turns.turn_at, outbox.id \
         LIMIT $2",
    );
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
            lane: row.text_or_none("lane")?,
        });
    }
    Ok(taken)
}

/// How long until a message is due; none if none waits.
pub async fn next_due(run: &mut impl Run, now: Timestamp) -> Result<Option<SignedDuration>> {
    let now = run.now(now).await?;
    let query = Query::new("SELECT MIN(turn_at) AS due_at FROM outbox_turns");
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(row.time_or_none("due_at")?.map(|due| due.duration_since(now)))
}

/// The message went out, and whatever comes after it in its lane goes.
pub async fn set_sent(work: &mut Work, message: &Message) -> Result<()> {
    let query = Query::new("DELETE FROM outbox WHERE id = $1 AND attempts = $2")
        .bind(message.id.0)
        .bind(message.attempts);
    work.execute(query).await?;
    if message.lane.is_some() {
        work.tell(Change::Outbox);
    }
    Ok(())
}

/// Nothing goes out in that lane for so long.
pub async fn hold(
    work: &mut Work,
    lane: &str,
    now: Timestamp,
    pause: SignedDuration,
) -> Result<()> {
    let now = work.now(now).await?;
    work.execute(Query::new("DELETE FROM outbox_lanes WHERE free_at <= $1").bind(now)).await?;
    let query = Query::new(
        "INSERT INTO outbox_lanes (lane, free_at) VALUES ($1, $2) \
         ON CONFLICT (lane) DO UPDATE SET free_at = $2",
    )
    .bind(lane)
    .bind(now + pause);
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
