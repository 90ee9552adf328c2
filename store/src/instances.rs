//! Instances: intent written by use cases, progress written by the engine,
//! and the schedule of when the engine looks again.

use crate::db::{Query, Row, Run, json};
use crate::{
    Change, Result, Work, acls, actions, alarms, certificates, disk_guards, firewalls, hash_key,
    incidents, integrations, recipients, resizes, ssl_users, tickets,
};
use model::condition::{self, since_when};
use model::{
    AccountId, Condition, HostId, Instance, InstanceId, InstanceName, InstanceProgress, PlanName,
    Reason, RegionName, Secret, Tags, Timestamp, VpcId,
};
use std::collections::{BTreeMap, HashSet};

fn place(id: InstanceId, column: &str) -> String {
    format!("instances/{id}/{column}")
}

/// Writes a new instance; the engine looks at it at once.
pub async fn insert(work: &mut Work, new: &Instance) -> Result<()> {
    let key = work.master_key();
    let password = key.seal(&place(new.id, "password"), &new.password);
    let apikey = key.seal(&place(new.id, "apikey"), &new.apikey);
    let query = Query::new(
        "INSERT INTO instances (id, account_id, providerid, name, plan, region, nodes, \
         kafka_version, disk_size, tags, vpc_id, username, password_sealed, apikey_sealed, \
         apikey_hash, hostname, cluster_id, deletion_protection, stopped, created_at, generation, \
         observed_generation, network_made, credentials_set, status, failures, due_at, wakes, \
         no_default_alarms, conditions) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         FALSE, FALSE, $18, $19, 0, FALSE, FALSE, $20, 0, $18, 0, $21, $22)",
    )
    .bind(new.id.0)
    .bind(new.account_id.to_string())
    .bind(new.provider_id.to_string())
    .bind(new.name.as_str())
    .bind(new.plan.0.as_str())
    .bind(new.region.0.as_str())
    .bind(new.nodes)
    .bind(new.kafka_version.to_string())
    .bind(new.disk_size)
    .bind(json(&new.tags))
    .bind(new.vpc_id.0)
    .bind(new.username.as_str())
    .bind(password)
    .bind(apikey)
    .bind(hash_key(&new.apikey))
    .bind(new.hostname.as_str())
    .bind(new.cluster_id.as_str())
    .bind(new.created_at)
    .bind(new.generation)
    .bind(new.progress.status())
    .bind(new.no_default_alarms)
    .bind(json(&new.progress.conditions));
    work.execute(query).await?;
    work.announce(Change::Instance(new.id));
    Ok(())
}

/// An instance, also one that is being torn down.
pub async fn find(run: &mut impl Run, id: InstanceId) -> Result<Option<Instance>> {
    let query = Query::new("SELECT * FROM instances WHERE id = $1").bind(id.0);
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    instance(run, &row).map(Some)
}

/// What the engine begins a turn with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Looked {
    pub instance: Instance,
    /// Wake-ups so far; see [`rest`].
    pub wakes: i64,
    /// No step of it may be executed: it is paused, or all are.
    pub paused: bool,
}

/// An instance as the engine needs it, also one that is being torn down.
pub async fn look(run: &mut impl Run, id: InstanceId) -> Result<Option<Looked>> {
    let query = Query::new(
        "SELECT instances.*, \
         EXISTS (SELECT 1 FROM installation WHERE installation.paused) AS all_paused \
         FROM instances WHERE id = $1",
    )
    .bind(id.0);
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    Ok(Some(Looked {
        instance: instance(run, &row)?,
        wakes: row.int("wakes")?,
        paused: row.flag("paused")? || row.flag("all_paused")?,
    }))
}

/// The instance whose own API key this is. One that was deleted has none.
pub async fn find_by_apikey(run: &mut impl Run, key: &Secret) -> Result<Option<Instance>> {
    let query = Query::new("SELECT * FROM instances WHERE apikey_hash = $1 AND deleted_at IS NULL")
        .bind(hash_key(key));
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    instance(run, &row).map(Some)
}

/// An account's instances, by id, without those being torn down.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<Instance>> {
    let query = Query::new(
        "SELECT * FROM instances WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id",
    )
    .bind(account.to_string());
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| instance(run, row)).collect()
}

/// An account's instances that are being torn down, by id.
pub async fn list_deleting(run: &mut impl Run, account: AccountId) -> Result<Vec<Instance>> {
    let query = Query::new(
        "SELECT * FROM instances WHERE account_id = $1 AND deleted_at IS NOT NULL ORDER BY id",
    )
    .bind(account.to_string());
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| instance(run, row)).collect()
}

/// Changes what no server follows: name and tags.
pub async fn set_labels(
    work: &mut Work,
    id: InstanceId,
    name: &InstanceName,
    tags: &Tags,
) -> Result<()> {
    // Its logs carry both, so agents fetch them.
    let query = Query::new(
        "UPDATE instances SET integrations_revision = integrations_revision + \
         CASE WHEN name <> $2 OR tags <> $3 THEN 1 ELSE 0 END, name = $2, tags = $3 \
         WHERE id = $1",
    )
    .bind(id.0)
    .bind(name.as_str())
    .bind(json(tags));
    work.execute(query).await.map(drop)
}

/// Has clients told another name, where they were told the address that its first server was
/// to have.
pub async fn move_hostname(work: &mut Work, id: InstanceId, from: &str, to: &str) -> Result<()> {
    let query = Query::new("UPDATE instances SET hostname = $3 WHERE id = $1 AND hostname = $2");
    work.execute(query.bind(id.0).bind(from).bind(to)).await.map(drop)
}

/// Replaces the instance's own key; the one before is nobody's from then on.
pub async fn set_apikey(work: &mut Work, id: InstanceId, apikey: &Secret) -> Result<()> {
    let sealed = work.master_key().seal(&place(id, "apikey"), apikey);
    let query =
        Query::new("UPDATE instances SET apikey_sealed = $2, apikey_hash = $3 WHERE id = $1")
            .bind(id.0)
            .bind(sealed)
            .bind(hash_key(apikey));
    work.execute(query).await.map(drop)
}

/// Replaces the default user's password, which is good in Kafka once the engine
/// has written it there.
pub async fn set_password(work: &mut Work, id: InstanceId, password: &Secret) -> Result<()> {
    let sealed = work.master_key().seal(&place(id, "password"), password);
    let query = Query::new(
        "UPDATE instances SET password_sealed = $2, kafka_generation = kafka_generation + 1 \
         WHERE id = $1",
    )
    .bind(id.0)
    .bind(sealed);
    work.execute(query).await.map(drop)
}

/// Replaces what is set for all brokers.
pub async fn set_settings(
    work: &mut Work,
    id: InstanceId,
    settings: &BTreeMap<String, String>,
) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET settings = $2, kafka_generation = kafka_generation + 1 \
         WHERE id = $1",
    )
    .bind(id.0)
    .bind(json(settings));
    work.execute(query).await.map(drop)
}

/// Has the engine write what Kafka keeps, the password and the settings, once more.
pub async fn raise_kafka_generation(work: &mut Work, id: InstanceId, now: Timestamp) -> Result<()> {
    let query =
        Query::new("UPDATE instances SET kafka_generation = kafka_generation + 1 WHERE id = $1");
    work.execute(query.bind(id.0)).await?;
    wake(work, id, now).await
}

/// Marks an instance for tear-down. False if somebody did so before.
pub async fn set_deleted(work: &mut Work, id: InstanceId, at: Timestamp) -> Result<bool> {
    let query =
        Query::new("UPDATE instances SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL")
            .bind(id.0)
            .bind(at);
    let marked = work.execute(query).await? == 1;
    if marked {
        wake(work, id, at).await?;
    }
    Ok(marked)
}

/// Those whose servers run and are as they should be.
pub async fn settled(run: &mut impl Run) -> Result<HashSet<InstanceId>> {
    let query = Query::new(
        "SELECT id FROM instances WHERE deleted_at IS NULL AND NOT stopped \
         AND observed_generation > 0 AND observed_generation >= generation",
    );
    run.fetch(query).await?.iter().map(|row| Ok(InstanceId(row.int("id")?))).collect()
}

/// Asks for all servers of an instance to be stopped, or started again.
pub async fn set_stopped(
    work: &mut Work,
    id: InstanceId,
    stopped: bool,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET stopped = $2, generation = generation + 1, \
         revision = revision + 1 WHERE id = $1 AND stopped <> $2",
    )
    .bind(id.0)
    .bind(stopped);
    work.execute(query).await?;
    wake(work, id, now).await
}

/// Raises the intent that servers must follow, and says to which.
pub async fn raise(work: &mut Work, id: InstanceId, now: Timestamp) -> Result<i64> {
    let query = Query::new(
        "UPDATE instances SET generation = generation + 1, revision = revision + 1 \
         WHERE id = $1 RETURNING generation",
    );
    let raised = work.fetch_one(query.bind(id.0)).await?;
    wake(work, id, now).await?;
    raised.map_or(Ok(0), |row| row.int("generation"))
}

/// Node ids for new servers, which no server of the instance ever had: Kafka may remember
/// a broker that was removed, and take its successor for one that has all data.
pub async fn take_node_ids(work: &mut Work, id: InstanceId, count: u32) -> Result<Vec<i32>> {
    let query = Query::new(
        "UPDATE instances SET last_node_id = $2 + CASE WHEN last_node_id > \
         (SELECT COALESCE(MAX(node_id), 0) FROM servers WHERE instance_id = $1) \
         THEN last_node_id ELSE \
         (SELECT COALESCE(MAX(node_id), 0) FROM servers WHERE instance_id = $1) END \
         WHERE id = $1 RETURNING last_node_id",
    );
    let row = work.fetch_one(query.bind(id.0).bind(count)).await?;
    let Some(row) = row else { return Ok(vec![]) };
    let last: i32 = row.number("last_node_id")?;
    let before = last - i32::try_from(count).unwrap_or(last);
    Ok((before + 1..=last).collect())
}

/// How many servers there are to be, and of which plan, with the intent that servers follow
/// raised to this generation, which is returned.
pub async fn set_size(
    work: &mut Work,
    id: InstanceId,
    plan: &PlanName,
    nodes: u32,
    now: Timestamp,
) -> Result<i64> {
    let query = Query::new("UPDATE instances SET plan = $2, nodes = $3 WHERE id = $1");
    work.execute(query.bind(id.0).bind(plan.0.as_str()).bind(nodes)).await?;
    raise(work, id, now).await
}

/// How large a disk was asked for; none: the plan's.
pub async fn set_disk_size(work: &mut Work, id: InstanceId, size_gb: Option<u32>) -> Result<()> {
    let query = Query::new("UPDATE instances SET disk_size = $2 WHERE id = $1");
    work.execute(query.bind(id.0).bind(size_gb.map(i64::from))).await.map(drop)
}

/// Has the engine look at the instance now. A look that was to come sooner by the clock of
/// its own host stays so.
pub async fn wake(work: &mut Work, id: InstanceId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END, \
         wakes = wakes + 1 WHERE id = $1",
    )
    .bind(id.0)
    .bind(now);
    work.execute(query).await?;
    work.announce(Change::Instance(id));
    Ok(())
}

/// Has the engine look at every instance of a host.
pub async fn wake_all(work: &mut Work, host: HostId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET due_at = $2, wakes = wakes + 1 WHERE NOT EXISTS \
         (SELECT 1 FROM servers WHERE instance_id = instances.id AND host_id <> $1)",
    )
    .bind(host.to_string())
    .bind(now);
    work.execute(query).await.map(drop)
}

/// After a start: what was seen before can't be relied upon, so it is told no more.
pub async fn forget_all(work: &mut Work, host: HostId, now: Timestamp) -> Result<()> {
    let conditions = since_when(vec![Reason::ControlPlaneStarted.into()], &[], now);
    let query = Query::new(
        "UPDATE instances SET status = $2, conditions = $3, revision = revision + 1 \
         WHERE NOT EXISTS \
         (SELECT 1 FROM servers WHERE instance_id = instances.id AND host_id <> $1)",
    )
    .bind(host.to_string())
    .bind(condition::status(&conditions))
    .bind(json(&conditions));
    work.execute(query).await.map(drop)
}

/// Instances to look at now, longest due first, on whatever host they are.
pub async fn due(run: &mut impl Run, now: Timestamp) -> Result<Vec<InstanceId>> {
    let query =
        Query::new("SELECT id FROM instances WHERE due_at <= $1 ORDER BY due_at, id").bind(now);
    ids(run, query).await
}

/// The due instances that a worker on this host may work on: those without a
/// server on any other. The last steps of a tear-down find no server at all,
/// and any host may finish them.
pub async fn due_on(run: &mut impl Run, host: HostId, now: Timestamp) -> Result<Vec<InstanceId>> {
    let query = Query::new(
        "SELECT id FROM instances WHERE due_at <= $2 AND NOT EXISTS \
         (SELECT 1 FROM servers WHERE instance_id = instances.id AND host_id <> $1) \
         ORDER BY due_at, id",
    )
    .bind(host.to_string())
    .bind(now);
    ids(run, query).await
}

/// When the next instance is due that a worker on this host may work on, if that
/// is `before` a time: beyond it nobody needs to know, and whole fleets of other
/// hosts would be looked through.
pub async fn next_due_on(
    run: &mut impl Run,
    host: HostId,
    before: Timestamp,
) -> Result<Option<Timestamp>> {
    let query = Query::new(
        "SELECT due_at FROM instances WHERE due_at < $2 AND NOT EXISTS \
         (SELECT 1 FROM servers WHERE instance_id = instances.id AND host_id <> $1) \
         ORDER BY due_at LIMIT 1",
    )
    .bind(host.to_string())
    .bind(before);
    run.fetch_one(query).await?.map(|row| row.time("due_at")).transpose()
}

async fn ids(run: &mut impl Run, query: Query) -> Result<Vec<InstanceId>> {
    run.fetch(query).await?.iter().map(|row| Ok(InstanceId(row.int("id")?))).collect()
}

/// Has others wait with their changes of it until this work is over.
pub async fn hold(work: &mut Work, id: InstanceId) -> Result<()> {
    let query = Query::new("UPDATE instances SET wakes = wakes WHERE id = $1").bind(id.0);
    work.execute(query).await.map(drop)
}

/// How often the instance was woken so far.
pub async fn wakes(run: &mut impl Run, id: InstanceId) -> Result<i64> {
    let query = Query::new("SELECT wakes FROM instances WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map_or(Ok(0), |row| row.int("wakes"))
}

/// Lets the engine rest until `due`, unless a wake-up came after `wakes` was
/// read; then the answer is false and it has to look again.
pub async fn rest(work: &mut Work, id: InstanceId, wakes: i64, due: Timestamp) -> Result<bool> {
    let query = Query::new("UPDATE instances SET due_at = $3 WHERE id = $1 AND wakes = $2")
        .bind(id.0)
        .bind(wakes)
        .bind(due);
    Ok(work.execute(query).await? == 1)
}

/// Says what was asked, until the engine has looked and knows better.
pub async fn set_conditions(
    work: &mut Work,
    id: InstanceId,
    conditions: Vec<Condition>,
    now: Timestamp,
) -> Result<()> {
    let conditions = since_when(conditions, &[], now);
    let query = Query::new(
        "UPDATE instances SET status = $2, conditions = $3, revision = revision + 1 WHERE id = $1",
    )
    .bind(id.0)
    .bind(condition::status(&conditions))
    .bind(json(&conditions));
    work.execute(query).await.map(drop)
}

/// Has servers be where they should without the engine: what this intent raised was
/// taken back before anything was begun, and nothing else was left to reach.
pub async fn take_back_intent(work: &mut Work, id: InstanceId, generation: i64) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET observed_generation = $2, revision = revision + 1 \
         WHERE id = $1 AND generation = $2 AND observed_generation = $2 - 1",
    );
    work.execute(query.bind(id.0).bind(generation)).await.map(drop)
}

/// Saves what the engine saw. The caller holds the lease.
pub async fn set_progress(
    work: &mut Work,
    id: InstanceId,
    progress: &InstanceProgress,
) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET observed_generation = $2, network_made = $3, \
         credentials_set = $4, ready_at = $5, status = $6, failures = $7, kafka_observed = $8, \
         conditions = $9, anonymous_let_in = $10 WHERE id = $1",
    )
    .bind(id.0)
    .bind(progress.observed_generation)
    .bind(progress.network_made)
    .bind(progress.credentials_set)
    .bind(progress.ready_at)
    .bind(progress.status())
    .bind(progress.failures)
    .bind(progress.kafka_observed)
    .bind(json(&progress.conditions))
    .bind(progress.anonymous_let_in);
    work.execute(query).await.map(drop)
}

/// Forgets the instance. Its servers and disks are gone before.
pub async fn remove(work: &mut Work, id: InstanceId) -> Result<()> {
    work.execute(Query::new("DELETE FROM authorities WHERE instance_id = $1").bind(id.0)).await?;
    tickets::close(work, id).await?;
    resizes::remove(work, id).await?;
    actions::remove(work, id).await?;
    disk_guards::remove_all(work, id).await?;
    acls::remove(work, id).await?;
    ssl_users::remove_all(work, id).await?;
    certificates::remove(work, id).await?;
    incidents::remove(work, id).await?;
    alarms::remove(work, id).await?;
    recipients::remove(work, id).await?;
    integrations::remove(work, id).await?;
    firewalls::remove(work, id).await?;
    work.execute(Query::new("DELETE FROM leases WHERE instance_id = $1").bind(id.0)).await?;
    work.execute(Query::new("DELETE FROM instances WHERE id = $1").bind(id.0)).await.map(drop)
}

fn instance(run: &impl Run, row: &Row) -> Result<Instance> {
    let id = InstanceId(row.int("id")?);
    let open = |column: &'static str, sealed: &str| -> Result<Secret> {
        Ok(run.master_key().open(&place(id, column), sealed)?)
    };
    Ok(Instance {
        id,
        account_id: row.parse("account_id")?,
        provider_id: row.parse("providerid")?,
        name: InstanceName::parse(row.text("name")?).map_err(|_| crate::Error::Corrupt {
            what: "an instance's name",
            value: id.to_string(),
        })?,
        plan: PlanName(row.text("plan")?),
        region: RegionName(row.text("region")?),
        nodes: row.number("nodes")?,
        kafka_version: row.parse("kafka_version")?,
        disk_size: row.int_or_none("disk_size")?.and_then(|size| u32::try_from(size).ok()),
        tags: row.json("tags")?,
        vpc_id: VpcId(row.int("vpc_id")?),
        no_default_alarms: row.flag("no_default_alarms")?,
        username: row.text("username")?,
        password: open("password", &row.text("password_sealed")?)?,
        apikey: open("apikey", &row.text("apikey_sealed")?)?,
        hostname: row.text("hostname")?,
        cluster_id: row.text("cluster_id")?,
        created_at: row.time("created_at")?,
        deleted_at: row.time_or_none("deleted_at")?,
        stopped: row.flag("stopped")?,
        generation: row.int("generation")?,
        settings: row.json("settings")?,
        kafka_generation: row.int("kafka_generation")?,
        progress: progress(row)?,
    })
}

fn progress(row: &Row) -> Result<InstanceProgress> {
    Ok(InstanceProgress {
        observed_generation: row.int("observed_generation")?,
        network_made: row.flag("network_made")?,
        credentials_set: row.flag("credentials_set")?,
        anonymous_let_in: row.flag("anonymous_let_in")?,
        ready_at: row.time_or_none("ready_at")?,
        conditions: conditions(row)?,
        revision: row.int("revision")?,
        failures: row.number("failures")?,
        kafka_observed: row.int("kafka_observed")?,
    })
}

/// A row of an earlier release has a sentence alone.
pub(crate) fn conditions(row: &Row) -> Result<Vec<Condition>> {
    if row.text_or_none("conditions")?.is_some() {
        return row.json("conditions");
    }
    Ok(vec![Reason::Sentence { text: row.text("status")? }.into()])
}
