//! What leaves the store by its age. Tables that are bounded in other ways, and every
//! bound, are in the table of docs/operations.md.

use crate::db::{Query, Run};
use crate::{Result, Work, apikeys, idempotency, incidents, invitations, login_tokens, ssl_users};
use model::{SignedDuration, Timestamp};

/// How long certificates stay on record that have expired.
const CERTIFICATES: SignedDuration = SignedDuration::from_hours(24 * 90);
/// How long a machine is known that runs no control plane and has no servers.
const HOSTS: SignedDuration = SignedDuration::from_hours(24 * 90);

/// Forgets everything whose time is over, of all accounts. It may be repeated at any time.
pub async fn forget(work: &mut Work, now: Timestamp) -> Result<()> {
    idempotency::forget(work, now).await?;
    invitations::forget(work, now).await?;
    apikeys::forget(work, now).await?;
    login_tokens::forget(work, now).await?;
    ssl_users::forget_held(work, now).await?;
    incidents::forget_old(work, now).await?;
    let queries = [
        ("DELETE FROM certificates WHERE expires_at < $1", now - CERTIFICATES),
        (
            "DELETE FROM hosts WHERE last_seen < $1 \
             AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.host_id = hosts.id)",
            now - HOSTS,
        ),
    ];
    for (query, before) in queries {
        work.execute(Query::new(query).bind(before)).await?;
    }
    let now = work.now(now).await?;
    let lanes = Query::new("DELETE FROM outbox_lanes WHERE free_at <= $1").bind(now);
    work.execute(lanes).await.map(drop)
}
