//! A host's clock that was set back. What was written before by that clock lies
//! ahead of it, and would keep everybody waiting for as long as it went back.
//!
//! On PostgreSQL leave to stop goes by the database's clock ([`Run::now`]), and so
//! lies ahead only where that was set back.

use crate::db::{Query, Run as _};
use crate::{Result, Work, instances, tickets};
use model::{HostId, Timestamp};

/// Has every instance of the host looked at, and nothing last longer than if it were
/// written now. No leave ends before its time: whoever got it may act on it.
pub async fn look_again(work: &mut Work, host: HostId, now: Timestamp) -> Result<()> {
    instances::wake_all(work, host, now).await?;
    let query =
        Query::new("UPDATE servers SET last_seen = $2 WHERE host_id = $1 AND last_seen > $2");
    work.execute(query.bind(host.to_string()).bind(now)).await?;
    let at_most = work.now(now).await? + tickets::LIFE;
    for shorten in [
        "UPDATE tickets SET expires_at = $1 WHERE expires_at > $1",
        "UPDATE servers SET leaves_until = $1 WHERE leaves_until > $1",
    ] {
        work.execute(Query::new(shorten).bind(at_most)).await?;
    }
    Ok(())
}
