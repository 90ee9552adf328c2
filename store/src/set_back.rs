//! Mends stored times after a host's clock was set back. A time that the clock wrote before
//! lies ahead of it, and would hold up whatever waits for it for as long as the clock went
//! back. This is the one place that changes such rows.
//!
//! On PostgreSQL tickets and messages go by the database's clock, and so lie ahead only
//! where that was set back.

use crate::db::{Query, Run as _};
use crate::{Result, Work, instances, integration_turns, outbox, tickets};
use model::{HostId, Timestamp};

macro_rules! cut {
    ($table:literal, $column:literal) => {
        concat!(
            "UPDATE ",
            $table,
            " SET ",
            $column,
            " = $2 WHERE ",
            $column,
            " > $2 AND \
             instance_id NOT IN (SELECT instance_id FROM servers WHERE host_id <> $1)"
        )
    };
}

/// Times of what is on the host ($1) that may not lie after now ($2). An instance with a
/// server on another host goes by other clocks too.
const ON_HOST: [&str; 10] = [
    "UPDATE servers SET last_seen = $2 WHERE host_id = $1 AND last_seen > $2",
    "UPDATE servers SET enrolled_at = $2 WHERE host_id = $1 AND enrolled_at > $2",
    cut!("actions", "asked_at"),
    cut!("disk_guards", "since"),
    cut!("incidents", "since"),
    cut!("incidents", "seen_at"),
    cut!("incidents", "triggered_at"),
    cut!("incidents", "reminded_at"),
    cut!("incidents", "clear_since"),
    cut!("incidents", "resolved_at"),
];

/// Wakes every instance of the host, and cuts each time to what it would be if it were
/// written now. No ticket ends early: the agent that claimed it may act on it.
pub async fn look_again(work: &mut Work, host: HostId, now: Timestamp) -> Result<()> {
    instances::wake_all(work, host, now).await?;
    for past in ON_HOST {
        work.execute(Query::new(past).bind(host.to_string()).bind(now)).await?;
    }
    for past in [
        "UPDATE audit_withheld SET since = $1 WHERE since > $1",
        "UPDATE audit_withheld SET until = $1 WHERE until > $1",
    ] {
        work.execute(Query::new(past).bind(now)).await?;
    }
    let now = work.now(now).await?;
    for (shorten, life) in [
        ("UPDATE tickets SET expires_at = $1 WHERE expires_at > $1", tickets::LIFE),
        ("UPDATE servers SET leaves_until = $1 WHERE leaves_until > $1", tickets::LIFE),
        ("UPDATE outbox SET due_at = $1 WHERE due_at > $1", outbox::LONGEST_PAUSE),
        ("UPDATE integrations SET due_at = $1 WHERE due_at > $1", integration_turns::LONGEST_PAUSE),
        ("UPDATE outbox_lanes SET free_at = $1 WHERE free_at > $1", outbox::LONGEST_PAUSE),
    ] {
        work.execute(Query::new(shorten).bind(now + life)).await?;
    }
    Ok(())
}
