//! What the store knows of a cluster's users: those who come by certificate, of
//! whom Kafka holds the rights and nothing else, and names that are being given
//! out.
//!
//! Passwords are in Kafka and certificates are here, so that no transaction sees
//! both. A call that gives a name out holds it here first, and asks Kafka then.

use crate::db::{Query, Run};
use crate::{Result, Work};
use model::{InstanceId, SignedDuration, Timestamp, UserName, words};

words! {
    /// What a name is held for.
    pub enum Purpose {
        /// No other call has the name meanwhile.
        User = "user",
        /// Others may hold it for one of theirs.
        Certificate = "certificate",
    }
}

/// Proof that a name is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    id: i64,
    pub name: UserName,
    /// It is unknown whether an earlier call made a user of that name.
    pub after_unknown: bool,
}

/// So long a name stays marked as one of which it is unknown whether Kafka has the
/// user. Meanwhile others may make a user of that name through Kafka's own protocol, so
/// it is not long.
const KEPT_IN_MIND: SignedDuration = SignedDuration::from_hours(1);

/// By name.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<String>> {
    let query = Query::new("SELECT name FROM ssl_users WHERE instance_id = $1 ORDER BY name");
    run.fetch(query.bind(instance.0)).await?.iter().map(|row| row.text("name")).collect()
}

pub async fn count(run: &mut impl Run, instance: InstanceId) -> Result<i64> {
    let query = Query::new("SELECT COUNT(*) AS users FROM ssl_users WHERE instance_id = $1");
    run.fetch_one(query.bind(instance.0)).await?.map_or(Ok(0), |row| row.int("users"))
}

/// False if there is one of that name.
pub async fn insert(
    work: &mut Work,
    instance: InstanceId,
    name: &UserName,
    now: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "INSERT INTO ssl_users (instance_id, name, created_at) VALUES ($1, $2, $3) \
         ON CONFLICT (instance_id, name) DO NOTHING",
    )
    .bind(instance.0)
    .bind(name.as_str())
    .bind(now);
    Ok(work.execute(query).await? == 1)
}

/// False if there was none of that name.
pub async fn remove(work: &mut Work, instance: InstanceId, name: &UserName) -> Result<bool> {
    let query = Query::new("DELETE FROM ssl_users WHERE instance_id = $1 AND name = $2")
        .bind(instance.0)
        .bind(name.as_str());
    Ok(work.execute(query).await? == 1)
}

/// Holds a name for as long as `life`, unless another call has it.
pub async fn hold(
    work: &mut Work,
    instance: InstanceId,
    name: &UserName,
    purpose: Purpose,
    now: Timestamp,
    life: SignedDuration,
) -> Result<Option<Held>> {
    let now = work.now(now).await?;
    // A call that lost a name so finds out when it lets go.
    let over = Query::new(
        "DELETE FROM held_names WHERE instance_id = $1 \
         AND (expires_at <= $2 OR (expires_at <= $3 AND purpose <> 'unknown'))",
    );
    work.execute(over.bind(instance.0).bind(now - KEPT_IN_MIND).bind(now)).await?;
    let query = Query::new(
        "SELECT id FROM held_names WHERE instance_id = $1 AND name = $2 AND expires_at > $3 \
         AND (purpose <> 'certificate' OR $4 = 'user') LIMIT 1",
    )
    .bind(instance.0)
    .bind(name.as_str())
    .bind(now)
    .bind(purpose.as_str());
    if work.fetch_one(query).await?.is_some() {
        return Ok(None);
    }
    let query = Query::new(
        "SELECT id FROM held_names WHERE instance_id = $1 AND name = $2 \
         AND purpose = 'unknown' LIMIT 1",
    )
    .bind(instance.0)
    .bind(name.as_str());
    let after_unknown = work.fetch_one(query).await?.is_some();
    let id = work.next("held_names").await?;
    let query = Query::new(
        "INSERT INTO held_names (id, instance_id, name, purpose, expires_at) \
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(id)
    .bind(instance.0)
    .bind(name.as_str())
    .bind(purpose.as_str())
    .bind(now + life);
    work.execute(query).await?;
    Ok(Some(Held { id, name: name.clone(), after_unknown }))
}

/// Forgets names whose time is long over.
pub(crate) async fn forget_held(work: &mut Work, now: Timestamp) -> Result<()> {
    let now = work.now(now).await?;
    let query = Query::new("DELETE FROM held_names WHERE expires_at <= $1");
    work.execute(query.bind(now - KEPT_IN_MIND)).await.map(drop)
}

/// Leaves a name held for its time, and notes that it is unknown whether a user of it
/// was made.
pub async fn leave_unknown(work: &mut Work, held: &Held) -> Result<()> {
    let query = Query::new("UPDATE held_names SET purpose = 'unknown' WHERE id = $1");
    work.execute(query.bind(held.id)).await?;
    Ok(())
}

/// It is known again whether there is a user of that name.
pub async fn forget_unknown(work: &mut Work, instance: InstanceId, name: &UserName) -> Result<()> {
    let query = Query::new(
        "DELETE FROM held_names WHERE instance_id = $1 AND name = $2 AND purpose = 'unknown'",
    );
    work.execute(query.bind(instance.0).bind(name.as_str())).await?;
    Ok(())
}

/// False if its time was over before, and others may have had the name since.
pub async fn let_go(work: &mut Work, held: &Held) -> Result<bool> {
    let query = Query::new("DELETE FROM held_names WHERE id = $1").bind(held.id);
    Ok(work.execute(query).await? == 1)
}

/// With the instance.
pub(crate) async fn remove_all(work: &mut Work, instance: InstanceId) -> Result<()> {
    for all in [
        "DELETE FROM held_names WHERE instance_id = $1",
        "DELETE FROM ssl_users WHERE instance_id = $1",
    ] {
        work.execute(Query::new(all).bind(instance.0)).await?;
    }
    Ok(())
}
