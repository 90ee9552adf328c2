//! Where an instance's logs and metrics are sent.
//!
//! Settings are sealed for their row. One whose settings can't be opened is read without
//! any, so that it is seen and can be put right, and the others are sent to. One of a system that
//! this release does not know counts as not there, but for its place among the instance's.
//!
//! Logs are sent by agents, which fetch where to whenever the instance's
//! `integrations_revision` is another, and say which deliveries fail ([`set_failures`]).
//! Metrics are sent by the control plane when they are due ([`crate::integration_turns`]).

mod failures;

pub use failures::{IntegrationFailure, failures_of, forget_server, set_failures};

use crate::db::{Query, Row, Run};
use crate::{Change, Error, Result, Work};
use model::{
    InstanceId, Integration, IntegrationConfig, IntegrationId, IntegrationKind, IntegrationSystem,
    MOST_INTEGRATIONS, Secret, ServerId, Timestamp,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Systems that are unknown and were warned of: rows are read too often to warn each time.
static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// An integration that has no id yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewIntegration {
    pub kind: IntegrationKind,
    pub system: IntegrationSystem,
    pub config: IntegrationConfig,
}

fn place(instance: InstanceId, id: IntegrationId) -> String {
    format!("instances/{instance}/integrations/{id}/config")
}

/// Writes it under the next id. None if the instance has as many as it can have. Metrics are
/// due at once.
pub async fn insert(
    work: &mut Work,
    instance: InstanceId,
    new: &NewIntegration,
    now: Timestamp,
) -> Result<Option<IntegrationId>> {
    let count = Query::new("SELECT COUNT(*) AS there FROM integrations WHERE instance_id = $1");
    let row = work.fetch_one(count.bind(instance.0)).await?;
    let there: usize = row.map_or(Ok(0), |row| row.number("there"))?;
    if there >= MOST_INTEGRATIONS {
        return Ok(None);
    }
    let next = Query::new(
        "UPDATE instances SET last_integration = last_integration + 1 WHERE id = $1 \
         RETURNING last_integration",
    );
    let row = work.fetch_one(next.bind(instance.0)).await?;
    let row = row.ok_or(Error::Corrupt { what: "instances", value: instance.to_string() })?;
    let id = IntegrationId(row.int("last_integration")?);
    let due_at = work.now(now).await?;
    let query = Query::new(
        "INSERT INTO integrations (instance_id, id, kind, system, config_sealed, version, \
         created_at, due_at) VALUES ($1, $2, $3, $4, $5, 1, $6, $7)",
    )
    .bind(instance.0)
    .bind(id.0)
    .bind(new.kind.as_str())
    .bind(new.system.as_str())
    .bind(sealed(work, instance, id, &new.config))
    .bind(now)
    .bind((new.kind == IntegrationKind::Metrics).then_some(due_at));
    work.execute(query).await?;
    note_change(work, instance, new.kind).await?;
    Ok(Some(id))
}

/// Replaces the settings. Whatever failed with those before is forgotten, and metrics are
/// due at once. False if there is none.
pub async fn set_config(
    work: &mut Work,
    instance: InstanceId,
    id: IntegrationId,
    config: &IntegrationConfig,
    now: Timestamp,
) -> Result<bool> {
    let due_at = work.now(now).await?;
    let query = Query::new(
        "UPDATE integrations SET config_sealed = $3, version = version + 1, error = '', \
         failures = 0, due_at = CASE WHEN kind = 'metrics' THEN CAST($4 AS BIGINT) END \
         WHERE instance_id = $1 AND id = $2 RETURNING kind",
    )
    .bind(instance.0)
    .bind(id.0)
    .bind(sealed(work, instance, id, config))
    .bind(due_at);
    let Some(row) = work.fetch_one(query).await? else { return Ok(false) };
    failures::forget(work, instance, id).await?;
    note_change(work, instance, row.parse("kind")?).await?;
    Ok(true)
}

/// Those of a kind in an instance, by id.
pub async fn list(
    run: &mut impl Run,
    instance: InstanceId,
    kind: IntegrationKind,
) -> Result<Vec<Integration>> {
    let rows = rows(run, instance, kind).await?;
    rows.iter().filter_map(|row| integration(run, row).transpose()).collect()
}

async fn rows(run: &mut impl Run, instance: InstanceId, kind: IntegrationKind) -> Result<Vec<Row>> {
    let query =
        Query::new("SELECT * FROM integrations WHERE instance_id = $1 AND kind = $2 ORDER BY id")
            .bind(instance.0)
            .bind(kind.as_str());
    run.fetch(query).await
}

/// An integration for logs, as agents get it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentLogs {
    pub integration: Integration,
    /// Raised by each change of its settings, also to the same ones.
    pub version: i64,
}

/// Where an instance's logs go, by id.
pub async fn sent_logs(run: &mut impl Run, instance: InstanceId) -> Result<Vec<SentLogs>> {
    let rows = rows(run, instance, IntegrationKind::Logs).await?;
    let sent = |row: &Row| {
        let Some(integration) = integration(run, row)? else { return Ok(None) };
        Ok(Some(SentLogs { integration, version: row.int("version")? }))
    };
    rows.iter().filter_map(|row| sent(row).transpose()).collect()
}

/// A server of an instance whose metrics are sent somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentServer {
    pub id: ServerId,
    pub instance_id: InstanceId,
    /// By any control plane.
    pub last_seen: Option<Timestamp>,
}

/// By id.
pub async fn sent_servers(run: &mut impl Run) -> Result<Vec<SentServer>> {
    let query = Query::new(
        "SELECT id, instance_id, last_seen FROM servers WHERE instance_id IN \
         (SELECT instance_id FROM integrations WHERE kind = 'metrics') ORDER BY id",
    );
    let rows = run.fetch(query).await?;
    let server = |row: &Row| {
        Ok(SentServer {
            id: ServerId(row.int("id")?),
            instance_id: InstanceId(row.int("instance_id")?),
            last_seen: row.time_or_none("last_seen")?,
        })
    };
    rows.iter().map(server).collect()
}

/// How many there are, of all instances.
pub async fn count(run: &mut impl Run) -> Result<usize> {
    let row = run.fetch_one(Query::new("SELECT COUNT(*) AS there FROM integrations")).await?;
    row.map_or(Ok(0), |row| row.number("there"))
}

/// None if there is none of that kind.
pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    kind: IntegrationKind,
    id: IntegrationId,
) -> Result<Option<Integration>> {
    let query =
        Query::new("SELECT * FROM integrations WHERE instance_id = $1 AND id = $2 AND kind = $3")
            .bind(instance.0)
            .bind(id.0)
            .bind(kind.as_str());
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    integration(run, &row)
}

/// False if there is none.
pub async fn delete(work: &mut Work, instance: InstanceId, id: IntegrationId) -> Result<bool> {
    let query =
        Query::new("DELETE FROM integrations WHERE instance_id = $1 AND id = $2 RETURNING kind")
            .bind(instance.0)
            .bind(id.0);
    let Some(row) = work.fetch_one(query).await? else { return Ok(false) };
    failures::forget(work, instance, id).await?;
    note_change(work, instance, row.parse("kind")?).await?;
    Ok(true)
}

/// With the instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    failures::forget_all(work, instance).await?;
    let query = Query::new("DELETE FROM integrations WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

/// Announces that logs or metrics go elsewhere. Agents fetch where their logs go when the
/// revision is another.
async fn note_change(work: &mut Work, instance: InstanceId, kind: IntegrationKind) -> Result<()> {
    if kind == IntegrationKind::Logs {
        let query = Query::new(
            "UPDATE instances SET integrations_revision = integrations_revision + 1 WHERE id = $1",
        );
        work.execute(query.bind(instance.0)).await?;
    }
    work.announce(Change::Integrations(instance));
    Ok(())
}

fn sealed(
    work: &Work,
    instance: InstanceId,
    id: IntegrationId,
    config: &IntegrationConfig,
) -> String {
    let text = serde_json::to_string(config).expect("plain data serialises");
    work.master_key().seal(&place(instance, id), &Secret::new(text))
}

/// None of a system that this release does not know.
pub(crate) fn integration(run: &impl Run, row: &Row) -> Result<Option<Integration>> {
    let Some(system) = system(row)? else { return Ok(None) };
    let (instance, id) = (InstanceId(row.int("instance_id")?), IntegrationId(row.int("id")?));
    let opened = run.master_key().open(&place(instance, id), &row.text("config_sealed")?);
    let config = opened.ok().and_then(|text| serde_json::from_str(text.expose()).ok());
    Ok(Some(Integration {
        id,
        kind: row.parse("kind")?,
        system,
        config: config.unwrap_or_default(),
        error: row.text("error")?,
        created_at: row.time("created_at")?,
    }))
}

/// None if this release does not know it. A newer control plane beside this one may have written
/// the row, or have run before it; the rows of others must not suffer for it.
pub(crate) fn system(row: &Row) -> Result<Option<IntegrationSystem>> {
    let name = row.text("system")?;
    let system: Option<IntegrationSystem> = name.parse().ok();
    if system.is_none() {
        let (instance, id) = (row.int("instance_id")?, row.int("id")?);
        let mut warned = WARNED.lock().expect("no holder of this lock panics");
        if warned.insert(name.clone()) {
            tracing::warn!(
                system = name,
                instance,
                id,
                "integrations of a system that this release does not know are passed over, until \
                 a release that knows it runs again"
            );
        }
    }
    Ok(system)
}
