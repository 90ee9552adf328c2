//! Turns of the integrations that metrics are sent to.
//!
//! Several control planes may share a store. One takes a turn by moving `due_at` from what the
//! others saw to the end of a lease, so of several that want the same turn one gets it; if
//! that one dies, the turn is due again when the lease is over. What came of a turn is
//! written only by the one that still has it, for the settings that it was taken with.
//!
//! Time is the database's own where several control planes share it ([`Run::now`]).

use crate::db::{Query, Row, Run};
use crate::{Result, Work, integrations};
use model::{
    AccountId, InstanceId, Integration, IntegrationId, IntegrationSystem, SignedDuration, Timestamp,
};

/// No turn is further ahead.
pub const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// A turn that may be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DueTurn {
    pub instance_id: InstanceId,
    pub id: IntegrationId,
    /// Whose instance it is.
    pub account_id: AccountId,
    pub system: IntegrationSystem,
    /// In a row.
    pub failures: u32,
    /// How long it has been due.
    pub late: SignedDuration,
    due_at: Timestamp,
}

/// A turn that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    pub instance_id: InstanceId,
    pub integration: Integration,
    /// Up to what time metrics have been sent; none if none were.
    pub sent_through: Option<Timestamp>,
    /// In a row.
    pub failures: u32,
    /// Of the settings.
    version: i64,
    /// Tells this taking from others.
    leased_until: Timestamp,
}

/// The settings that a turn was taken with, as they were then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TurnSettings {
    pub instance_id: InstanceId,
    pub id: IntegrationId,
    version: i64,
}

impl Turn {
    pub fn settings(&self) -> TurnSettings {
        let Self { instance_id, integration, version, .. } = self;
        TurnSettings { instance_id: *instance_id, id: integration.id, version: *version }
    }
}

/// What came of a turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TurnOutcome {
    /// From now until the next one is due.
    pub pause: SignedDuration,
    pub sent_through: Option<Timestamp>,
    pub failures: u32,
    /// Why it failed, in a sentence of ours; empty if it did not.
    pub error: String,
}

/// How many turns that are due are looked at.
#[derive(Clone, Copy, Debug)]
pub struct DueLimits {
    pub total: u32,
    /// Of one account at one system.
    pub per_account: u32,
    /// Of one instance at one system.
    pub per_instance: u32,
}

/// Turns that are due. Those that have not failed come first, the systems in turn, of each the
/// accounts in turn, and of each those that wait longest. An account, an instance or a system of
/// which many are due hides no other: it has a part of what is looked at. Turns of a system that
/// this release does not know are left to one that does.
pub async fn due(run: &mut impl Run, now: Timestamp, limits: DueLimits) -> Result<Vec<DueTurn>> {
    let now = run.now(now).await?;
    let query = Query::new(
        "WITH of_instances AS (\
         SELECT integrations.instance_id, integrations.id, integrations.system, \
         integrations.failures, integrations.due_at, instances.account_id, \
         ROW_NUMBER() OVER (PARTITION BY integrations.instance_id, integrations.system \
         ORDER BY integrations.failures, integrations.due_at, integrations.id) AS of_instance \
         FROM integrations JOIN instances ON instances.id = integrations.instance_id \
         WHERE integrations.due_at <= $1 AND instances.deleted_at IS NULL), \
         of_accounts AS (\
         SELECT of_instances.*, ROW_NUMBER() OVER (PARTITION BY account_id, system \
         ORDER BY failures, due_at, instance_id, id) AS of_account \
         FROM of_instances WHERE of_instance <= $4), \
         of_systems AS (\
         SELECT of_accounts.*, ROW_NUMBER() OVER (PARTITION BY system, failures \
         ORDER BY of_account, due_at, instance_id, id) AS of_system \
         FROM of_accounts WHERE of_account <= $3) \
         SELECT instance_id, id, system, failures, due_at, account_id FROM of_systems \
         ORDER BY failures, of_system, due_at, instance_id, id LIMIT $2",
    )
    .bind(now)
    .bind(limits.total)
    .bind(limits.per_account)
    .bind(limits.per_instance);
    let rows = run.fetch(query).await?;
    rows.iter().filter_map(|row| due_turn(row, now).transpose()).collect()
}

fn due_turn(row: &Row, now: Timestamp) -> Result<Option<DueTurn>> {
    let Some(system) = integrations::system(row)? else { return Ok(None) };
    let due_at = row.time("due_at")?;
    Ok(Some(DueTurn {
        instance_id: InstanceId(row.int("instance_id")?),
        id: IntegrationId(row.int("id")?),
        account_id: row.parse("account_id")?,
        system,
        failures: row.number("failures")?,
        late: now.duration_since(due_at),
        due_at,
    }))
}

/// How long until a turn of a system that this release knows is due; none if there is none.
pub async fn next_due(run: &mut impl Run, now: Timestamp) -> Result<Option<SignedDuration>> {
    let now = run.now(now).await?;
    let query = Query::new(
        "SELECT integrations.due_at AS due_at FROM integrations \
         JOIN instances ON instances.id = integrations.instance_id \
         WHERE integrations.due_at IS NOT NULL AND instances.deleted_at IS NULL \
         AND CAST($1 AS TEXT) LIKE ('% ' || integrations.system || ' %') \
         ORDER BY integrations.due_at LIMIT 1",
    );
    let known = IntegrationSystem::ALL.map(IntegrationSystem::as_str).join(" ");
    let query = query.bind(format!(" {known} "));
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(Some(row.time("due_at")?.duration_since(now)))
}

/// Takes a turn that was due, for the time of a lease. None if another control plane has
/// taken it since, its settings have changed, or it is gone. `now` is as [`Run::now`] says:
/// asked for once in a transaction, since others wait for it to end.
pub async fn take(
    work: &mut Work,
    due: &DueTurn,
    now: Timestamp,
    lease: SignedDuration,
) -> Result<Option<Turn>> {
    let query = Query::new(
        "UPDATE integrations SET due_at = $4 \
         WHERE instance_id = $1 AND id = $2 AND due_at = $3 AND kind = 'metrics' RETURNING *",
    )
    .bind(due.instance_id.0)
    .bind(due.id.0)
    .bind(due.due_at)
    .bind(now + lease);
    let Some(row) = work.fetch_one(query).await? else { return Ok(None) };
    turn(work, &row)
}

fn turn(run: &impl Run, row: &Row) -> Result<Option<Turn>> {
    let Some(integration) = integrations::integration(run, row)? else { return Ok(None) };
    Ok(Some(Turn {
        instance_id: InstanceId(row.int("instance_id")?),
        integration,
        sent_through: row.time_or_none("sent_through")?,
        failures: row.number("failures")?,
        version: row.int("version")?,
        leased_until: row.time("due_at")?,
    }))
}

/// False if the settings were changed since, or the integration is gone.
pub async fn are_current(run: &mut impl Run, settings: TurnSettings) -> Result<bool> {
    let query = Query::new(
        "SELECT 1 AS one FROM integrations WHERE instance_id = $1 AND id = $2 AND version = $3",
    )
    .bind(settings.instance_id.0)
    .bind(settings.id.0)
    .bind(settings.version);
    Ok(run.fetch_one(query).await?.is_some())
}

/// False, and nothing is written, if another control plane has taken the turn since, the
/// settings are others by now, or it is gone. `now` is as in [`take`].
pub async fn save(
    work: &mut Work,
    turn: &Turn,
    outcome: &TurnOutcome,
    now: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE integrations SET due_at = $5, sent_through = $6, failures = $7, error = $8 \
         WHERE instance_id = $1 AND id = $2 AND version = $3 AND due_at = $4",
    )
    .bind(turn.instance_id.0)
    .bind(turn.integration.id.0)
    .bind(turn.version)
    .bind(turn.leased_until)
    .bind(now + outcome.pause.min(LONGEST_PAUSE))
    .bind(outcome.sent_through)
    .bind(outcome.failures)
    .bind(outcome.error.as_str());
    Ok(work.execute(query).await? == 1)
}
