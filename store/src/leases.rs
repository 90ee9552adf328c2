//! One worker owns an instance at a time.
//!
//! Every write of a worker goes through [`guard`], which fails once another
//! worker has taken the instance, however late the first one wakes up.
//!
//! On PostgreSQL the database's clock decides ([`Run::now`]): a worker whose own
//! clock is wrong takes nothing early and keeps nothing long.

use crate::db::{Query, Run};
use crate::{Error, Result, Work};
use model::{InstanceId, SignedDuration, Timestamp};

/// Proof of ownership.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    pub instance_id: InstanceId,
    pub owner: String,
    pub epoch: i64,
    /// The owner before did not give it back, and may still act.
    pub taken_over: bool,
}

/// Takes the instance if it is there and free, expired, or held by the same
/// owner.
pub async fn take(
    work: &mut Work,
    instance_id: InstanceId,
    owner: &str,
    now: Timestamp,
    life: SignedDuration,
) -> Result<Option<Lease>> {
    let now = work.now(now).await?;
    // Nothing changes it before the next statement: one transaction writes at
    // a time.
    let query = Query::new("SELECT epoch FROM leases WHERE instance_id = $1 AND expires_at > 0");
    let taken_over = work.fetch_one(query.bind(instance_id.0)).await?.is_some();
    let query = Query::new(
        "INSERT INTO leases (instance_id, owner, epoch, expires_at) \
         SELECT $1, $2, 1, $3 WHERE EXISTS (SELECT 1 FROM instances WHERE id = $1) \
         ON CONFLICT (instance_id) DO UPDATE \
         SET owner = $2, epoch = leases.epoch + 1, expires_at = $3 \
         WHERE leases.expires_at <= $4 OR leases.owner = $2 \
         RETURNING epoch",
    )
    .bind(instance_id.0)
    .bind(owner)
    .bind(now + life)
    .bind(now);
    let row = work.fetch_one(query).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Lease { instance_id, owner: owner.into(), epoch: row.int("epoch")?, taken_over }))
}

/// Fails unless the lease still holds, and makes it last longer. The row stays
/// locked until the transaction ends, so no other worker takes it in between.
pub async fn guard(
    work: &mut Work,
    lease: &Lease,
    now: Timestamp,
    life: SignedDuration,
) -> Result<()> {
    let now = work.now(now).await?;
    let query = Query::new(
        "UPDATE leases SET expires_at = $4 \
         WHERE instance_id = $1 AND owner = $2 AND epoch = $3 AND expires_at > $5",
    )
    .bind(lease.instance_id.0)
    .bind(lease.owner.as_str())
    .bind(lease.epoch)
    .bind(now + life)
    .bind(now);
    match work.execute(query).await? {
        1 => Ok(()),
        _ => Err(Error::LeaseLost(lease.instance_id)),
    }
}

/// Whether the lease holds right now. Asked before an effect outside the
/// store; what is written after it is guarded anyway.
pub async fn holds(run: &mut impl Run, lease: &Lease, now: Timestamp) -> Result<bool> {
    let now = run.now(now).await?;
    let query = Query::new(
        "SELECT epoch FROM leases \
         WHERE instance_id = $1 AND owner = $2 AND epoch = $3 AND expires_at > $4",
    )
    .bind(lease.instance_id.0)
    .bind(lease.owner.as_str())
    .bind(lease.epoch)
    .bind(now);
    Ok(run.fetch_one(query).await?.is_some())
}

/// Gives the instance back. The epoch stays, so that it never repeats.
pub async fn release(work: &mut Work, lease: &Lease) -> Result<()> {
    let query = Query::new(
        "UPDATE leases SET expires_at = 0 WHERE instance_id = $1 AND owner = $2 AND epoch = $3",
    )
    .bind(lease.instance_id.0)
    .bind(lease.owner.as_str())
    .bind(lease.epoch);
    work.execute(query).await.map(drop)
}
