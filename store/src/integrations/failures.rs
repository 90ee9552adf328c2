//! Deliveries of logs that fail, as the agents of an instance's servers say.
//!
//! The newest is the `error` of the integration, which is empty when no server has one.
//!
//! Only what changes is written: an instance may have many integrations and many servers, and the
//! agents of all instances report every few seconds.

use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{InstanceId, IntegrationId, ServerId, Timestamp};
use std::collections::BTreeMap;

/// Why one server's logs don't arrive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegrationFailure {
    pub id: IntegrationId,
    /// A sentence.
    pub message: String,
    /// Events that were left out since deliveries last worked.
    pub dropped: u64,
    /// When it was written.
    pub at: Timestamp,
}

/// Of one server, by id.
pub async fn failures_of(run: &mut impl Run, server: ServerId) -> Result<Vec<IntegrationFailure>> {
    let query = Query::new(
        "SELECT integration_id, message, dropped, at FROM integration_errors \
         WHERE server_id = $1 ORDER BY integration_id",
    );
    run.fetch(query.bind(server.0)).await?.iter().map(failure).collect()
}

/// Replaces all failures of one server. Those of integrations that don't exist, or that no
/// logs go to, are left out.
pub async fn set_failures(
    work: &mut Work,
    instance: InstanceId,
    server: ServerId,
    failures: &[IntegrationFailure],
) -> Result<()> {
    let known = failures_of(work, server).await?;
    let mut gone: BTreeMap<_, _> = known.iter().map(|failure| (failure.id, failure)).collect();
    for failure in failures {
        if gone.remove(&failure.id) == Some(failure) {
            continue;
        }
        let query = Query::new(
            "INSERT INTO integration_errors \
             (instance_id, integration_id, server_id, message, dropped, at) \
             SELECT instance_id, id, CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS BIGINT), \
             CAST($6 AS BIGINT) FROM integrations \
             WHERE instance_id = $1 AND id = $2 AND kind = 'logs' \
             ON CONFLICT (instance_id, integration_id, server_id) DO UPDATE \
             SET message = excluded.message, dropped = excluded.dropped, at = excluded.at",
        )
        .bind(instance.0)
        .bind(failure.id.0)
        .bind(server.0)
        .bind(failure.message.as_str())
        .bind(i64::try_from(failure.dropped).unwrap_or(i64::MAX))
        .bind(failure.at);
        work.execute(query).await?;
    }
    if !gone.is_empty() {
        let ids: Vec<String> = gone.keys().map(ToString::to_string).collect();
        let query = Query::new(
            "DELETE FROM integration_errors WHERE server_id = $1 \
             AND CAST($2 AS TEXT) LIKE ('% ' || CAST(integration_id AS TEXT) || ' %')",
        );
        let query = query.bind(server.0).bind(format!(" {} ", ids.join(" ")));
        work.execute(query).await?;
    }
    take_newest(work, instance).await
}

/// A server that is gone has nothing to say.
pub async fn forget_server(work: &mut Work, server: ServerId) -> Result<()> {
    let query =
        Query::new("DELETE FROM integration_errors WHERE server_id = $1 RETURNING instance_id");
    // All of them are of its one instance.
    let Some(row) = work.fetch_one(query.bind(server.0)).await? else { return Ok(()) };
    take_newest(work, InstanceId(row.int("instance_id")?)).await
}

/// With the settings that they are of.
pub(super) async fn forget(work: &mut Work, instance: InstanceId, id: IntegrationId) -> Result<()> {
    let query =
        Query::new("DELETE FROM integration_errors WHERE instance_id = $1 AND integration_id = $2");
    work.execute(query.bind(instance.0).bind(id.0)).await.map(drop)
}

pub(super) async fn forget_all(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM integration_errors WHERE instance_id = $1");
    work.execute(query.bind(instance.0)).await.map(drop)
}

/// Has each integration of logs say what its servers say, where it says something else.
async fn take_newest(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new(
        "WITH newest AS (SELECT id, COALESCE((SELECT message FROM integration_errors \
         WHERE integration_errors.instance_id = integrations.instance_id \
         AND integration_errors.integration_id = integrations.id \
         ORDER BY at DESC, server_id LIMIT 1), '') AS message \
         FROM integrations WHERE instance_id = $1 AND kind = 'logs') \
         UPDATE integrations SET error = newest.message FROM newest \
         WHERE integrations.instance_id = $1 AND integrations.id = newest.id \
         AND integrations.error <> newest.message",
    );
    work.execute(query.bind(instance.0)).await.map(drop)
}

fn failure(row: &Row) -> Result<IntegrationFailure> {
    Ok(IntegrationFailure {
        id: IntegrationId(row.int("integration_id")?),
        message: row.text("message")?,
        dropped: row.number("dropped")?,
        at: row.time("at")?,
    })
}
