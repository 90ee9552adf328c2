//! Answers kept for a day, to be given again to the same call.

use crate::db::{Query, Run};
use crate::{Result, Work};
use model::{Secret, SignedDuration, Timestamp, UserId};

/// Which call: a user's, of one operation, under the key the client chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    pub user_id: UserId,
    pub operation: &'static str,
    pub key: String,
}

impl Scope {
    fn place(&self) -> String {
        format!("idempotency/{}/{}/{}", self.user_id, self.operation, self.key)
    }
}

/// What was answered, and to which request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    pub request_hash: String,
    pub answer: Secret,
}

/// The answer to this call, if it was given after `since`.
pub async fn find(run: &mut impl Run, scope: &Scope, since: Timestamp) -> Result<Option<Answered>> {
    let query = Query::new(
        "SELECT * FROM idempotency \
         WHERE user_id = $1 AND operation = $2 AND key = $3 AND created_at > $4",
    )
    .bind(scope.user_id.to_string())
    .bind(scope.operation)
    .bind(scope.key.as_str())
    .bind(since);
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(Some(Answered {
        request_hash: row.text("request_hash")?,
        answer: run.master_key().open(&scope.place(), &row.text("answer_sealed")?)?,
    }))
}

/// How long an answer is kept.
pub const LIFE: SignedDuration = SignedDuration::from_hours(24);

/// Forgets answers whose time is over.
pub(crate) async fn forget(work: &mut Work, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM idempotency WHERE created_at <= $1").bind(now - LIFE);
    work.execute(query).await.map(drop)
}

/// Keeps an answer and forgets those given before `since`. A conflict means
/// that the same call was answered in the meantime.
pub async fn insert(
    work: &mut Work,
    scope: &Scope,
    answered: &Answered,
    now: Timestamp,
    since: Timestamp,
) -> Result<()> {
    let forget = Query::new("DELETE FROM idempotency WHERE created_at <= $1").bind(since);
    work.execute(forget).await?;
    let query = Query::new(
        "INSERT INTO idempotency \
         (user_id, operation, key, request_hash, answer_sealed, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(scope.user_id.to_string())
    .bind(scope.operation)
    .bind(scope.key.as_str())
    .bind(answered.request_hash.as_str())
    .bind(work.master_key().seal(&scope.place(), &answered.answer))
    .bind(now);
    work.execute(query).await.map(drop)
}
