//! Turns of the integrations that metrics are sent to.
//!
//! As with the engine's work, an instance with a server on another host is that host's.

use super::integration;
use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{HostId, InstanceId, Integration, IntegrationId, Timestamp};

/// Metrics that are to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DueMetrics {
    pub instance_id: InstanceId,
    pub integration: Integration,
    /// Of the settings: an outcome with others says nothing of these.
    pub version: i64,
    /// Up to what time they have been sent; none if nothing was.
    pub sent_through: Option<Timestamp>,
    /// In a row.
    pub failures: u32,
}

/// What came of sending them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricsOutcome {
    /// When the next are sent.
    pub due_at: Timestamp,
    pub sent_through: Option<Timestamp>,
    pub failures: u32,
    /// Why it failed, in a sentence of ours; empty if it did not.
    pub error: String,
}

/// At most so many of a host's that are due, those that wait longest. They are due again at
/// `until`, in case whoever takes them dies before it says what came of it.
pub async fn take_due(
    work: &mut Work,
    host: HostId,
    now: Timestamp,
    until: Timestamp,
    most: u32,
) -> Result<Vec<DueMetrics>> {
    let query = Query::new(
        "UPDATE integrations SET due_at = $3 WHERE (instance_id, id) IN \
         (SELECT integrations.instance_id, integrations.id FROM integrations \
         JOIN instances ON instances.id = integrations.instance_id \
         WHERE integrations.due_at <= $2 AND instances.deleted_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM servers WHERE servers.instance_id = instances.id \
         AND servers.host_id <> $1) \
         ORDER BY integrations.due_at, integrations.instance_id, integrations.id LIMIT $4) \
         RETURNING *",
    )
    .bind(host.to_string())
    .bind(now)
    .bind(until)
    .bind(most);
    let rows = work.fetch(query).await?;
    let mut due: Vec<DueMetrics> =
        rows.iter().map(|row| due_metrics(work, row)).collect::<Result<_>>()?;
    due.sort_unstable_by_key(|it| (it.instance_id, it.integration.id));
    Ok(due)
}

/// When the next of a host's are due; none if it has none.
pub async fn next_due(run: &mut impl Run, host: HostId) -> Result<Option<Timestamp>> {
    let query = Query::new(
        "SELECT integrations.due_at AS due_at FROM integrations \
         JOIN instances ON instances.id = integrations.instance_id \
         WHERE integrations.due_at IS NOT NULL AND instances.deleted_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM servers WHERE servers.instance_id = instances.id \
         AND servers.host_id <> $1) \
         ORDER BY integrations.due_at LIMIT 1",
    );
    let row = run.fetch_one(query.bind(host.to_string())).await?;
    row.map(|row| row.time("due_at")).transpose()
}

/// False, and nothing is written, if the settings are others by now, or it is gone.
pub async fn set_outcome(
    work: &mut Work,
    instance: InstanceId,
    id: IntegrationId,
    version: i64,
    outcome: &MetricsOutcome,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE integrations SET due_at = $4, sent_through = $5, failures = $6, error = $7 \
         WHERE instance_id = $1 AND id = $2 AND version = $3 AND kind = 'metrics'",
    )
    .bind(instance.0)
    .bind(id.0)
    .bind(version)
    .bind(outcome.due_at)
    .bind(outcome.sent_through)
    .bind(outcome.failures)
    .bind(outcome.error.as_str());
    Ok(work.execute(query).await? == 1)
}

fn due_metrics(run: &impl Run, row: &Row) -> Result<DueMetrics> {
    Ok(DueMetrics {
        instance_id: InstanceId(row.int("instance_id")?),
        integration: integration(run, row)?,
        version: row.int("version")?,
        sent_through: row.time_or_none("sent_through")?,
        failures: row.number("failures")?,
    })
}
