//! Servers, with the documents that their agents exchange with us.

mod agent;
mod documents;

pub use agent::{EnrolledAgent, LastReport, find_agent, find_log_integrations, find_report};

use crate::db::{Query, Row, Run, json};
use crate::{Change, Result, Work, disk_guards, integrations};
use model::{
    AlarmType, HostId, InstanceId, KafkaVersion, Listeners, Membership, PlanName, Server, ServerId,
    ServerRole, Timestamp, VpcId, Wanted,
};

/// A server's row with its documents as they were written or sent; `documents` reads them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerRecord {
    pub server: Server,
    /// The broker's configuration as last rendered.
    pub broker: Option<String>,
    /// Of the desired document; raised with every change.
    pub revision: i64,
    pub desired: Option<String>,
    pub report: Option<String>,
    pub token: Option<Token>,
    /// The hash of the public key that enrolled.
    pub enrolled_key: Option<String>,
}

/// A one-time token, as its hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub hash: String,
    pub expires_at: Timestamp,
}

/// Writes a new server and takes its listeners' addresses. A conflict means
/// that another server has taken one of them in the meantime.
pub async fn insert(work: &mut Work, server: &Server) -> Result<()> {
    let query = Query::new(
        "INSERT INTO servers (id, instance_id, number, node_id, incarnation, roles, name, \
         kafka_version, host_id, zone, private_ip, listeners, certificate_generation, state, \
         membership, launch, stopped, revision) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0)",
    )
    .bind(server.id.0)
    .bind(server.instance_id.0)
    .bind(server.number)
    .bind(i64::from(server.node_id))
    .bind(server.incarnation)
    .bind(json(&server.roles))
    .bind(server.name.as_str())
    .bind(server.kafka_version.to_string())
    .bind(server.host_id.to_string())
    .bind(server.zone.as_str())
    .bind(server.private_ip.as_str())
    .bind(json(&server.listeners))
    .bind(server.certificate_generation)
    .bind(server.state.as_str())
    .bind(server.membership.as_str())
    .bind(server.wanted.launch())
    .bind(server.wanted.is_stopped());
    work.execute(query).await?;
    take_addresses(work, server, &server.listeners).await
}

/// One in a network of its own takes, of its host's, the published ports alone: its own
/// addresses are those of a network that may be there twice.
async fn take_addresses(work: &mut Work, server: &Server, listeners: &Listeners) -> Result<()> {
    let own = listeners.all().filter(|_| listeners.reached_at.is_none());
    let own = own.map(|listener| (listener.bind_host.clone(), listener.port));
    let published = listeners
        .published
        .iter()
        .flat_map(|it| [it.ssl, it.sasl_scram].map(|port| (it.bind_host.clone(), port)));
    for (host, port) in own.chain(published) {
        let query = Query::new(
            "INSERT INTO listeners (host_id, bind_host, port, server_id) VALUES ($1, $2, $3, $4)",
        )
        .bind(server.host_id.to_string())
        .bind(host)
        .bind(i64::from(port))
        .bind(server.id.0);
        work.execute(query).await?;
    }
    Ok(())
}

async fn free_addresses(work: &mut Work, id: ServerId) -> Result<()> {
    let query = Query::new("DELETE FROM listeners WHERE server_id = $1").bind(id.0);
    work.execute(query).await.map(drop)
}

/// Every address and port in use, as (bind host, port).
pub async fn taken_listeners(run: &mut impl Run) -> Result<Vec<(String, u16)>> {
    let rows = run.fetch(Query::new("SELECT bind_host, port FROM listeners")).await?;
    rows.iter().map(|row| Ok((row.text("bind_host")?, row.number("port")?))).collect()
}

/// The plans whose servers are on a host, and how many servers each has there.
/// Instances that are being torn down are left out: they give back.
pub async fn plans_on(run: &mut impl Run, host: HostId) -> Result<Vec<(PlanName, u32)>> {
    let query = Query::new(
        "SELECT instances.plan AS plan, COUNT(*) AS servers \
         FROM servers JOIN instances ON instances.id = servers.instance_id \
         WHERE servers.host_id = $1 AND instances.deleted_at IS NULL \
         GROUP BY instances.plan ORDER BY instances.plan",
    )
    .bind(host.to_string());
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| Ok((PlanName(row.text("plan")?), row.number("servers")?))).collect()
}

/// The plan of the instance that was created last of those with servers on a host.
pub async fn newest_plan_on(run: &mut impl Run, host: HostId) -> Result<Option<PlanName>> {
    let query = Query::new(
        "SELECT instances.plan AS plan FROM servers \
         JOIN instances ON instances.id = servers.instance_id \
         WHERE servers.host_id = $1 AND instances.deleted_at IS NULL \
         ORDER BY instances.id DESC LIMIT 1",
    )
    .bind(host.to_string());
    let rows = run.fetch(query).await?;
    rows.first().map(|row| Ok(PlanName(row.text("plan")?))).transpose()
}

/// The versions of Kafka that the servers of a host run, or will after an upgrade.
pub async fn kafka_versions_on(run: &mut impl Run, host: HostId) -> Result<Vec<KafkaVersion>> {
    let query = Query::new(
        "SELECT servers.kafka_version AS version FROM servers \
         JOIN instances ON instances.id = servers.instance_id \
         WHERE servers.host_id = $1 AND instances.deleted_at IS NULL \
         UNION SELECT instances.kafka_version FROM servers \
         JOIN instances ON instances.id = servers.instance_id \
         WHERE servers.host_id = $2 AND instances.deleted_at IS NULL",
    )
    .bind(host.to_string())
    .bind(host.to_string());
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| row.parse("version")).collect()
}

/// An instance's servers, by number.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<ServerRecord>> {
    let query =
        Query::new("SELECT * FROM servers WHERE instance_id = $1 ORDER BY number").bind(instance.0);
    run.fetch(query).await?.iter().map(record).collect()
}

/// Servers without their documents.
macro_rules! bare {
    ($which:literal) => {
        concat!(
            "SELECT id, instance_id, number, node_id, incarnation, roles, name, kafka_version, \
             host_id, zone, private_ip, listeners, state, membership, enrolled_at, last_seen, \
             certificate_generation, launch, stopped FROM servers ",
            $which
        )
    };
}

/// An instance's servers without their documents, which are long and which
/// nobody outside needs.
pub async fn list_bare(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Server>> {
    let query = Query::new(bare!("WHERE instance_id = $1 ORDER BY number")).bind(instance.0);
    run.fetch(query).await?.iter().map(server).collect()
}

/// The addresses of all servers in a network.
pub async fn addresses_in(run: &mut impl Run, vpc: VpcId) -> Result<Vec<String>> {
    let query = Query::new(
        "SELECT servers.private_ip AS private_ip FROM servers \
         JOIN instances ON instances.id = servers.instance_id \
         WHERE instances.vpc_id = $1 ORDER BY servers.id",
    );
    let rows = run.fetch(query.bind(vpc.0)).await?;
    rows.iter().map(|row| row.text("private_ip")).collect()
}

/// Those of all instances that have an alarm of this type switched on.
pub async fn list_watched(run: &mut impl Run, kind: AlarmType) -> Result<Vec<Server>> {
    let query = Query::new(bare!(
        "WHERE instance_id IN (SELECT instance_id FROM alarms WHERE type = $1 AND enabled) \
         ORDER BY instance_id, number"
    ));
    run.fetch(query.bind(kind.as_str())).await?.iter().map(server).collect()
}

/// One of them.
pub async fn find_bare(run: &mut impl Run, id: ServerId) -> Result<Option<Server>> {
    let query = Query::new(bare!("WHERE id = $1")).bind(id.0);
    run.fetch_one(query).await?.map(|row| server(&row)).transpose()
}

pub async fn find(run: &mut impl Run, id: ServerId) -> Result<Option<ServerRecord>> {
    let query = Query::new("SELECT * FROM servers WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| record(&row)).transpose()
}

/// Every server on record, on whatever host.
pub async fn ids(run: &mut impl Run) -> Result<Vec<ServerId>> {
    let rows = run.fetch(Query::new("SELECT id FROM servers ORDER BY id")).await?;
    rows.iter().map(|row| Ok(ServerId(row.int("id")?))).collect()
}

/// Whether it comes, stays or goes. The row was read in the same transaction.
pub async fn set_membership(work: &mut Work, id: ServerId, membership: Membership) -> Result<()> {
    let query = Query::new("UPDATE servers SET membership = $2 WHERE id = $1");
    work.execute(query.bind(id.0).bind(membership.as_str())).await.map(drop)
}

/// What its Kafka node does.
pub async fn set_roles(work: &mut Work, id: ServerId, roles: &[ServerRole]) -> Result<()> {
    let query = Query::new("UPDATE servers SET roles = $2 WHERE id = $1");
    work.execute(query.bind(id.0).bind(json(&roles))).await.map(drop)
}

/// Cores and memory of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grant {
    pub cores: u32,
    pub memory_mb: u32,
}

/// What the cloud was last asked to let a server have.
pub async fn grant(run: &mut impl Run, id: ServerId) -> Result<Option<Grant>> {
    let query = Query::new(
        "SELECT granted_cores, granted_memory_mb FROM servers \
         WHERE id = $1 AND granted_cores IS NOT NULL AND granted_memory_mb IS NOT NULL",
    );
    let Some(row) = run.fetch_one(query.bind(id.0)).await? else { return Ok(None) };
    let (cores, memory_mb) = (row.number("granted_cores")?, row.number("granted_memory_mb")?);
    Ok(Some(Grant { cores, memory_mb }))
}

pub async fn set_grant(work: &mut Work, id: ServerId, grant: Grant) -> Result<()> {
    let query =
        Query::new("UPDATE servers SET granted_cores = $2, granted_memory_mb = $3 WHERE id = $1");
    work.execute(query.bind(id.0).bind(grant.cores).bind(grant.memory_mb)).await.map(drop)
}

pub async fn set_made(work: &mut Work, id: ServerId) -> Result<()> {
    let query = Query::new("UPDATE servers SET state = 'made' WHERE id = $1").bind(id.0);
    work.execute(query).await.map(drop)
}

/// Notes that the cloud has no such server any more; its disk stays.
pub async fn set_hibernated(work: &mut Work, id: ServerId) -> Result<()> {
    let query = Query::new(
        "UPDATE servers SET \
         state = CASE state WHEN 'planned' THEN state ELSE 'hibernated' END, report = NULL, \
         token_hash = NULL, token_expires_at = NULL, enrolled_key = NULL, enrolled_at = NULL, \
         firewall_revision = 0 WHERE id = $1",
    )
    .bind(id.0);
    work.execute(query).await.map(drop)
}

/// Saves a new token that no key has used yet. The enrolled key stays good until another
/// key enrols: an agent that has one ignores the token.
pub async fn set_token(work: &mut Work, id: ServerId, token: &Token) -> Result<()> {
    let query = Query::new(
        "UPDATE servers SET token_hash = $2, token_expires_at = $3, enrolled_at = NULL \
         WHERE id = $1",
    )
    .bind(id.0)
    .bind(token.hash.as_str())
    .bind(token.expires_at);
    work.execute(query).await.map(drop)
}

/// Lets a token last until `token.expires_at`, unless another was saved since.
pub async fn prolong_token(work: &mut Work, id: ServerId, token: &Token) -> Result<()> {
    let query =
        Query::new("UPDATE servers SET token_expires_at = $3 WHERE id = $1 AND token_hash = $2")
            .bind(id.0)
            .bind(token.hash.as_str())
            .bind(token.expires_at);
    work.execute(query).await.map(drop)
}

/// Notes which key enrolled; no other key is good from then on. The first key to use a
/// token keeps it.
pub async fn set_enrolled(
    work: &mut Work,
    id: ServerId,
    key_hash: &str,
    at: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE servers SET enrolled_key = $2, enrolled_at = $3 \
         WHERE id = $1 AND (enrolled_at IS NULL OR enrolled_key = $2)",
    )
    .bind(id.0)
    .bind(key_hash)
    .bind(at);
    Ok(work.execute(query).await? == 1)
}

/// Makes `new` the enrolled key, in place of `old`. False if `old` is not the enrolled
/// key of this incarnation any more.
pub async fn replace_key(
    work: &mut Work,
    id: ServerId,
    incarnation: i64,
    old: &str,
    new: &str,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE servers SET enrolled_key = $4 \
         WHERE id = $1 AND incarnation = $2 AND enrolled_key = $3",
    )
    .bind(id.0)
    .bind(incarnation)
    .bind(old)
    .bind(new);
    Ok(work.execute(query).await? == 1)
}

/// Has the engine give the server's directory a new token; the last one is void, by a
/// hash that no token has, so that no clock that is set back makes it good again. False if
/// a token is due or given already.
pub async fn void_token(work: &mut Work, id: ServerId, now: Timestamp) -> Result<bool> {
    let query = Query::new(
        "UPDATE servers SET enrolled_at = NULL, token_hash = '', token_expires_at = $2 \
         WHERE id = $1 AND enrolled_at IS NOT NULL",
    );
    Ok(work.execute(query.bind(id.0).bind(now)).await? == 1)
}

/// Revokes the agent's certificate and every token: the next agent that enrols, with a
/// token of the new incarnation, is the server's. Broker and disk stay as they are; the
/// broker's keys, which lie beside the agent's, are made anew.
pub async fn raise_incarnation(work: &mut Work, id: ServerId, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "UPDATE servers SET incarnation = incarnation + 1, \
         certificate_generation = certificate_generation + 1, enrolled_key = NULL, \
         enrolled_at = NULL, token_hash = '', token_expires_at = $2 WHERE id = $1",
    );
    work.execute(query.bind(id.0).bind(now)).await?;
    // A long poll that the old certificate holds ends at once.
    work.announce(Change::Desired(id));
    Ok(())
}

/// What the broker shall do, when its turn comes. The row was read in the same transaction.
pub async fn set_wanted(work: &mut Work, id: ServerId, wanted: Wanted) -> Result<()> {
    let query = Query::new("UPDATE servers SET launch = $2, stopped = $3 WHERE id = $1");
    let query = query.bind(id.0).bind(wanted.launch()).bind(wanted.is_stopped());
    work.execute(query).await.map(drop)
}

/// What the broker shall be of; none if the server is gone.
pub async fn launch(run: &mut impl Run, id: ServerId) -> Result<Option<i64>> {
    let query = Query::new("SELECT launch FROM servers WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| row.int("launch")).transpose()
}

/// Has new keys made and certified, unless that was asked for since `present` was read.
pub async fn raise_certificate_generation(
    work: &mut Work,
    id: ServerId,
    present: i64,
) -> Result<()> {
    let query = Query::new(
        "UPDATE servers SET certificate_generation = certificate_generation + 1 \
         WHERE id = $1 AND certificate_generation = $2",
    );
    work.execute(query.bind(id.0).bind(present)).await.map(drop)
}

/// Saves the broker's configuration as rendered now.
pub async fn set_broker(
    work: &mut Work,
    id: ServerId,
    broker: &str,
    render_version: i64,
) -> Result<()> {
    let query = Query::new("UPDATE servers SET broker = $2, render_version = $3 WHERE id = $1")
        .bind(id.0)
        .bind(broker)
        .bind(render_version);
    work.execute(query).await.map(drop)
}

/// Changes where a server listens; what it has no longer is free for others.
pub async fn set_listeners(work: &mut Work, server: &Server, listeners: &Listeners) -> Result<()> {
    set_addresses(work, server, &server.private_ip, listeners).await
}

/// The same for all of its addresses.
pub async fn set_addresses(
    work: &mut Work,
    server: &Server,
    private_ip: &str,
    listeners: &Listeners,
) -> Result<()> {
    let query = Query::new("UPDATE servers SET private_ip = $2, listeners = $3 WHERE id = $1");
    work.execute(query.bind(server.id.0).bind(private_ip).bind(json(listeners))).await?;
    free_addresses(work, server.id).await?;
    take_addresses(work, server, listeners).await
}

/// Has the brokers of an instance rendered anew.
pub async fn forget_brokers(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("UPDATE servers SET broker = NULL WHERE instance_id = $1");
    work.execute(query.bind(instance.0)).await.map(drop)
}

/// Has one broker rendered anew.
pub async fn forget_broker(work: &mut Work, id: ServerId) -> Result<()> {
    let query = Query::new("UPDATE servers SET broker = NULL WHERE id = $1");
    work.execute(query.bind(id.0)).await.map(drop)
}

/// Has a broker rendered anew if that was last done by a version that renders
/// otherwise. To be called where it is restarted anyway.
pub async fn forget_older_rendering(work: &mut Work, id: ServerId, version: i64) -> Result<()> {
    let query =
        Query::new("UPDATE servers SET broker = NULL WHERE id = $1 AND render_version < $2");
    work.execute(query.bind(id.0).bind(version)).await.map(drop)
}

/// Gives the agent a new document. `revision` is the one that stands in it.
pub async fn set_desired(
    work: &mut Work,
    id: ServerId,
    revision: i64,
    desired: &str,
) -> Result<()> {
    let query = Query::new("UPDATE servers SET revision = $2, desired = $3 WHERE id = $1")
        .bind(id.0)
        .bind(revision)
        .bind(desired);
    work.execute(query).await?;
    work.announce(Change::Desired(id));
    Ok(())
}

pub async fn set_report(
    work: &mut Work,
    id: ServerId,
    report: &str,
    seen: Timestamp,
) -> Result<()> {
    let query = Query::new("UPDATE servers SET report = $2, last_seen = $3 WHERE id = $1")
        .bind(id.0)
        .bind(report)
        .bind(seen);
    work.execute(query).await.map(drop)
}

/// Forgets a report that is no longer true, unless a newer one has come.
pub async fn clear_report(work: &mut Work, id: ServerId, report: &str) -> Result<()> {
    let query = Query::new("UPDATE servers SET report = NULL WHERE id = $1 AND report = $2")
        .bind(id.0)
        .bind(report);
    work.execute(query).await.map(drop)
}

/// Signs of life, many at once.
pub async fn set_last_seen(work: &mut Work, seen: &[(ServerId, Timestamp)]) -> Result<()> {
    for (id, at) in seen {
        let query =
            Query::new("UPDATE servers SET last_seen = $2 WHERE id = $1 AND (last_seen IS NULL OR last_seen < $2)").bind(id.0).bind(*at);
        work.execute(query).await?;
    }
    Ok(())
}

/// Forgets the server and frees its addresses.
pub async fn remove(work: &mut Work, id: ServerId) -> Result<()> {
    free_addresses(work, id).await?;
    disk_guards::remove(work, id).await?;
    integrations::forget_server(work, id).await?;
    work.execute(Query::new("DELETE FROM servers WHERE id = $1").bind(id.0)).await?;
    // A handler that holds a long poll for it shall see that it is gone.
    work.announce(Change::Desired(id));
    Ok(())
}

fn record(row: &Row) -> Result<ServerRecord> {
    let token = match (row.text_or_none("token_hash")?, row.time_or_none("token_expires_at")?) {
        (Some(hash), Some(expires_at)) => Some(Token { hash, expires_at }),
        _ => None,
    };
    Ok(ServerRecord {
        server: server(row)?,
        broker: row.text_or_none("broker")?,
        revision: row.int("revision")?,
        desired: row.text_or_none("desired")?,
        report: row.text_or_none("report")?,
        token,
        enrolled_key: row.text_or_none("enrolled_key")?,
    })
}

fn wanted(row: &Row) -> Result<Wanted> {
    let launch = row.int("launch")?;
    Ok(if row.flag("stopped")? { Wanted::Stopped { launch } } else { Wanted::Running { launch } })
}

fn server(row: &Row) -> Result<Server> {
    Ok(Server {
        id: ServerId(row.int("id")?),
        instance_id: InstanceId(row.int("instance_id")?),
        number: row.number("number")?,
        node_id: row.number("node_id")?,
        incarnation: row.int("incarnation")?,
        roles: row.json("roles")?,
        name: row.text("name")?,
        kafka_version: row.parse("kafka_version")?,
        host_id: row.parse("host_id")?,
        zone: row.text("zone")?,
        private_ip: row.text("private_ip")?,
        listeners: row.json("listeners")?,
        state: row.parse("state")?,
        membership: row.parse("membership")?,
        enrolled_at: row.time_or_none("enrolled_at")?,
        last_seen: row.time_or_none("last_seen")?,
        certificate_generation: row.int("certificate_generation")?,
        wanted: wanted(row)?,
    })
}
