//! Messages that wait to be sent.
//!
//! A message is written in the transaction of what it tells of, so there is
//! either both or neither. A sender takes it for the time of a lease; if the
//! sender dies, the message is there again when it starts anew or the lease is
//! over. So a message goes out at least once, and only the last one to take it
//! says what became of it.
//!
//! Messages of one lane go out one after another, oldest first: a recipient who reads
//! that something is over has read of it before. The sender that holds the first may
//! send others along with it. A lane may be held for a while after a message, so that
//! no recipient gets too many. What was not sent in its time is given up, also what was
//! never tried because others are before it.
//!
//! Bodies are sealed: a message may hold a link that lets somebody in. Time is
//! the database's own where several control planes share it ([`Run::now`]).

use crate::db::{Query, Row, Run};
use crate::{Change, MasterKey, Result, SealError, Work};
use model::{AccountId, InstanceId, MessageId, Secret, SignedDuration, Timestamp};

/// No message waits longer for its next try.
pub const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

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
    /// Whose alarm it is of; none: it is of no alarm.
    pub instance: Option<InstanceId>,
    /// What is called to send it, as far as one may hang and another not.
    pub destination: String,
    /// What services know its incident by, if it is of one.
    pub incident: Option<String>,
}

/// A message that may be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Due {
    pub instance: Option<InstanceId>,
    pub destination: String,
    id: MessageId,
    attempts: i64,
}

/// A message that was taken to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub id: MessageId,
    pub kind: String,
    /// One that can't be opened must not hold up the others.
    pub body: std::result::Result<Secret, SealError>,
    pub created_at: Timestamp,
    /// How often it was taken or hastened, this time included. Tells this taking
    /// from later ones.
    pub attempts: i64,
    pub lane: Option<String>,
    /// Whose instance it is of, also once that is gone; none: it is of none.
    pub account: Option<AccountId>,
}

/// What became of a message that could not be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failed {
    /// It is tried again then.
    Again(Timestamp),
    GivenUp,
    /// Another sender has taken it since, or it was taken back.
    NotOurs,
}

fn place(id: MessageId) -> String {
    format!("outbox/{id}/body")
}

/// Writes a message; senders are woken once it is committed.
pub async fn insert(work: &mut Work, new: &NewMessage, now: Timestamp) -> Result<MessageId> {
    let now = work.now(now).await?;
    let id = MessageId(work.next("outbox").await?);
    let query = Query::new(
        "INSERT INTO outbox \
         (id, kind, about, body_sealed, created_at, give_up_at, due_at, attempts, last_error, \
         lane, instance_id, destination, incident, account_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $5, 0, '', $7, $8, $9, $10, \
         (SELECT account_id FROM instances WHERE id = $8))",
    )
    .bind(id.0)
    .bind(new.kind)
    .bind(new.about.as_str())
    .bind(work.master_key().seal(&place(id), &new.body))
    .bind(now)
    .bind(now + new.life)
    .bind(new.lane.clone())
    .bind(new.instance.map(|id| id.0))
    .bind(new.destination.as_str())
    .bind(new.incident.clone());
    work.execute(query).await?;
    work.announce(Change::Outbox);
    Ok(id)
}

/// Gives up the oldest messages of an instance beyond `most`, unless they are being sent
/// just now; what they were, as far as it can be opened.
pub(crate) async fn give_up_oldest(
    work: &mut Work,
    instance: InstanceId,
    most: i64,
) -> Result<Vec<Secret>> {
    let query = Query::new(
        "DELETE FROM outbox WHERE instance_id = $1 AND taken_by IS NULL AND id <= \
         (SELECT MAX(id) FROM (SELECT id FROM outbox WHERE instance_id = $1 \
         ORDER BY id DESC LIMIT 1 OFFSET $2) AS beyond) RETURNING id, body_sealed",
    );
    let mut bodies = Vec::new();
    for row in work.fetch(query.bind(instance.0).bind(most)).await? {
        let id = MessageId(row.int("id")?);
        bodies.extend(work.master_key().open(&place(id), &row.text("body_sealed")?).ok());
    }
    Ok(bodies)
}

/// Takes back what was not sent yet.
pub async fn withdraw(work: &mut Work, about: &str) -> Result<()> {
    work.execute(Query::new("DELETE FROM outbox WHERE about = $1").bind(about)).await.map(drop)
}

/// What waits of an instance in messages of a kind, as far as it can be opened.
pub(crate) async fn bodies(
    work: &mut Work,
    kind: &str,
    instance: InstanceId,
) -> Result<Vec<(MessageId, Secret)>> {
    let query = Query::new(
        "SELECT id, body_sealed FROM outbox WHERE kind = $1 AND instance_id = $2 ORDER BY id",
    )
    .bind(kind)
    .bind(instance.0);
    let mut bodies = Vec::new();
    for row in work.fetch(query).await? {
        let id = MessageId(row.int("id")?);
        let opened = work.master_key().open(&place(id), &row.text("body_sealed")?);
        bodies.extend(opened.ok().map(|body| (id, body)));
    }
    Ok(bodies)
}

/// Puts another body in place of a message's. A sender that is just trying it has
/// read the old one.
pub(crate) async fn rewrite(work: &mut Work, id: MessageId, body: &Secret) -> Result<()> {
    let query = Query::new("UPDATE outbox SET body_sealed = $2 WHERE id = $1")
        .bind(id.0)
        .bind(work.master_key().seal(&place(id), body));
    work.execute(query).await.map(drop)
}

/// What was not sent yet goes to another destination, and what failed before is due
/// now: a sender that is just trying it again has nothing to say any more. A first
/// attempt that is under way goes on, so that it is not told twice; its first pause
/// is short.
pub async fn hasten(work: &mut Work, about: &str, destination: &str, now: Timestamp) -> Result<()> {
    let now = work.now(now).await?;
    let query = Query::new(
        "UPDATE outbox SET destination = $2, \
         due_at = CASE WHEN last_error = '' THEN due_at ELSE $3 END, \
         attempts = CASE WHEN last_error = '' THEN attempts ELSE attempts + 1 END \
         WHERE about = $1",
    )
    .bind(about)
    .bind(destination)
    .bind(now);
    work.execute(query).await?;
    work.announce(Change::Outbox);
    Ok(())
}

/// What may be taken now, of each instance at each destination at most `each`.
/// What was never tried comes first, and the first of everybody before anybody's
/// second: who has many messages, or is away, keeps nobody from the others.
pub async fn due(run: &mut impl Run, each: u32, now: Timestamp) -> Result<Vec<Due>> {
    let now = run.now(now).await?;
    let query = Query::new(
        "SELECT id, attempts, instance_id, destination FROM ( \
         SELECT outbox.id AS id, attempts, instance_id, destination, turn_at, \
         CASE WHEN attempts = 0 THEN 0 ELSE 1 END AS tried, \
         ROW_NUMBER() OVER (PARTITION BY instance_id, destination \
         ORDER BY CASE WHEN attempts = 0 THEN 0 ELSE 1 END, turn_at, outbox.id) AS place \
         FROM outbox JOIN outbox_turns ON outbox_turns.id = outbox.id WHERE turn_at <= $1 \
         ) AS waiting WHERE place <= $2 ORDER BY tried, place, turn_at, id",
    );
    let rows = run.fetch(query.bind(now).bind(each)).await?;
    rows.iter().map(waiting).collect()
}

fn waiting(row: &Row) -> Result<Due> {
    Ok(Due {
        instance: row.int_or_none("instance_id")?.map(InstanceId),
        destination: row.text("destination")?,
        id: MessageId(row.int("id")?),
        attempts: row.int("attempts")?,
    })
}

/// Takes a message that was due, for the time of a lease. None if another
/// sender has taken it since, or it is gone.
pub async fn take(
    work: &mut Work,
    due: &Due,
    holder: &str,
    now: Timestamp,
    lease: SignedDuration,
) -> Result<Option<Message>> {
    let now = work.now(now).await?;
    let query = Query::new(
        "UPDATE outbox SET attempts = attempts + 1, due_at = $3, taken_by = $4 \
         WHERE id = $1 AND attempts = $2 RETURNING *",
    )
    .bind(due.id.0)
    .bind(due.attempts)
    .bind(now + lease)
    .bind(holder);
    let taken = work.fetch_one(query).await?;
    taken.map(|row| message(&row, work.master_key())).transpose()
}

fn message(row: &Row, key: &MasterKey) -> Result<Message> {
    let id = MessageId(row.int("id")?);
    Ok(Message {
        id,
        kind: row.text("kind")?,
        body: key.open(&place(id), &row.text("body_sealed")?),
        created_at: row.time("created_at")?,
        attempts: row.int("attempts")?,
        lane: row.text_or_none("lane")?,
        account: account(row)?,
    })
}

fn account(row: &Row) -> Result<Option<AccountId>> {
    match row.text_or_none("account_id")? {
        None => Ok(None),
        Some(_) => row.parse("account_id").map(Some),
    }
}

/// What waits behind a message in its lane, oldest first and at most so much of it. For
/// the sender that holds that one: only the first of a lane is ever taken or fails, so
/// no other sender has these meanwhile.
pub async fn behind(run: &mut impl Run, first: &Message, most: u32) -> Result<Vec<Message>> {
    let query = Query::new("SELECT * FROM outbox WHERE lane = $1 AND id > $2 ORDER BY id LIMIT $3")
        .bind(first.lane.clone())
        .bind(first.id.0)
        .bind(most);
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| message(row, run.master_key())).collect()
}

/// What that holder took and never said the end of is due now. Only for a holder
/// that sends nothing any more.
pub async fn let_go(work: &mut Work, holder: &str, now: Timestamp) -> Result<()> {
    let now = work.now(now).await?;
    let query = Query::new(
        "UPDATE outbox SET due_at = $2, taken_by = NULL WHERE taken_by = $1 AND due_at > $2",
    )
    .bind(holder)
    .bind(now);
    work.execute(query).await?;
    work.announce(Change::Outbox);
    Ok(())
}

/// Gives up messages that no sender has just now and whose time is over, tried or not.
pub async fn give_up(work: &mut Work, now: Timestamp) -> Result<Vec<Message>> {
    let now = work.now(now).await?;
    let query =
        Query::new("DELETE FROM outbox WHERE give_up_at <= $1 AND due_at <= $1 RETURNING *");
    let rows = work.fetch(query.bind(now)).await?;
    rows.iter().map(|row| message(row, work.master_key())).collect()
}

/// How long until a message is due; none if none waits.
pub async fn next_due(run: &mut impl Run, now: Timestamp) -> Result<Option<SignedDuration>> {
    let now = run.now(now).await?;
    let query = Query::new("SELECT MIN(turn_at) AS due_at FROM outbox_turns");
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(row.time_or_none("due_at")?.map(|due| due.duration_since(now)))
}

/// The message went out, or never will, and whatever comes after it in its lane
/// goes. False if it is not ours any more: another sender has taken it since, or
/// it was taken back.
pub async fn set_sent(work: &mut Work, message: &Message) -> Result<bool> {
    let query = Query::new("DELETE FROM outbox WHERE id = $1 AND attempts = $2")
        .bind(message.id.0)
        .bind(message.attempts);
    let ours = work.execute(query).await? == 1;
    if message.lane.is_some() {
        work.announce(Change::Outbox);
    }
    Ok(ours)
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

/// Lanes of that pattern in which nothing waits are forgotten.
pub(crate) async fn free_idle(work: &mut Work, lanes: &str) -> Result<()> {
    let query = Query::new(
        "DELETE FROM outbox_lanes WHERE lane LIKE $1 \
         AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.lane = outbox_lanes.lane)",
    );
    work.execute(query.bind(lanes)).await.map(drop)
}

/// Lanes that are held are free again: those whose name is like that pattern.
pub async fn free(work: &mut Work, lanes: &str) -> Result<()> {
    let query = Query::new("DELETE FROM outbox_lanes WHERE lane LIKE $1").bind(lanes);
    work.execute(query).await?;
    work.announce(Change::Outbox);
    Ok(())
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
        "UPDATE outbox SET due_at = $3, last_error = $4, taken_by = NULL \
         WHERE id = $1 AND attempts = $2",
    )
    .bind(message.id.0)
    .bind(message.attempts)
    .bind(again)
    .bind(error);
    let ours = work.execute(query).await? == 1;
    Ok(if ours { Failed::Again(again) } else { Failed::NotOurs })
}
