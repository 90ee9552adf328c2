//! The firewall rules of instances, and how far each server has come with them.
//!
//! Rules have a revision that every change raises. A server has the revision that was last
//! applied to it, which may be an older one for a moment. It has 0 while it has never been
//! given any since the cloud made it, and after a restore: then nobody knows what it has.

use crate::db::{Query, Row, Run, json};
use crate::{Error, Result, Work};
use model::{Firewall, HostId, InstanceId, RegionName, ServerId, ServerState, Subnet};

/// Of rules that nobody has changed.
const FIRST: i64 = 1;

/// An instance's rules as they shall be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirewallIntent {
    pub firewall: Firewall,
    pub revision: i64,
}

/// What a server has of its instance's rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirewallProgress {
    /// The server's.
    pub name: String,
    pub state: ServerState,
    /// Of the rules that are in effect there; 0: not known.
    pub revision: i64,
    /// Whether its cloud enforces them.
    pub enforced: bool,
}

impl FirewallProgress {
    /// Whether it is known if its cloud enforces rules. Of a server that was just added it is
    /// not.
    fn is_known(&self) -> bool {
        self.revision > 0 || self.state == ServerState::Hibernated
    }
}

/// Whether servers are where rules are enforced, all that are known. None: none is known.
pub fn are_enforced(servers: &[FirewallProgress]) -> Option<bool> {
    let mut known = servers.iter().filter(|it| it.is_known()).map(|it| it.enforced).peekable();
    known.peek()?;
    Some(known.all(|is_enforced| is_enforced))
}

/// A server whose rules its cloud should have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirewallTurn {
    pub server_id: ServerId,
    pub instance_id: InstanceId,
    pub region: RegionName,
    /// Of its VPC.
    pub subnet: Subnet,
    /// Of the rules as they shall be.
    pub revision: i64,
    /// Of those that are in effect.
    pub applied: i64,
    pub enforced: bool,
}

pub async fn find(run: &mut impl Run, instance: InstanceId) -> Result<FirewallIntent> {
    let query = Query::new("SELECT rules, revision FROM firewalls WHERE instance_id = $1");
    match run.fetch_one(query.bind(instance.0)).await? {
        Some(row) => {
            Ok(FirewallIntent { firewall: row.json("rules")?, revision: row.int("revision")? })
        }
        None => Ok(FirewallIntent { firewall: Firewall::default(), revision: FIRST }),
    }
}

/// Replaces all rules. Returns their revision.
pub async fn set(work: &mut Work, instance: InstanceId, firewall: &Firewall) -> Result<i64> {
    let query = Query::new(
        "INSERT INTO firewalls (instance_id, rules, revision) VALUES ($1, $2, $3) \
         ON CONFLICT (instance_id) \
         DO UPDATE SET rules = excluded.rules, revision = firewalls.revision + 1 \
         RETURNING revision",
    )
    .bind(instance.0)
    .bind(json(firewall))
    .bind(FIRST + 1);
    match work.fetch_one(query).await? {
        Some(row) => row.int("revision"),
        None => Err(Error::Corrupt { what: "firewalls", value: instance.to_string() }),
    }
}

/// How far the servers of an instance are, by number.
pub async fn progress(run: &mut impl Run, instance: InstanceId) -> Result<Vec<FirewallProgress>> {
    let query = Query::new(
        "SELECT name, state, firewall_revision, firewall_enforced FROM servers \
         WHERE instance_id = $1 ORDER BY number",
    );
    let rows = run.fetch(query.bind(instance.0)).await?;
    rows.iter()
        .map(|row| {
            Ok(FirewallProgress {
                name: row.text("name")?,
                state: row.parse("state")?,
                revision: row.int("firewall_revision")?,
                enforced: row.flag("firewall_enforced")?,
            })
        })
        .collect()
}

/// The servers on a host that their cloud has made, by id, whatever rules they have. Left out
/// are those of instances that are paused or torn down.
pub async fn turns_on(run: &mut impl Run, host: HostId) -> Result<Vec<FirewallTurn>> {
    let query = Query::new(
        "SELECT servers.id AS id, servers.instance_id AS instance_id, \
         instances.region AS region, vpcs.subnet AS subnet, \
         servers.firewall_revision AS applied, servers.firewall_enforced AS enforced, \
         firewalls.revision AS revision \
         FROM servers JOIN instances ON instances.id = servers.instance_id \
         JOIN vpcs ON vpcs.id = instances.vpc_id \
         LEFT JOIN firewalls ON firewalls.instance_id = servers.instance_id \
         WHERE servers.host_id = $1 AND servers.state = $2 \
         AND instances.deleted_at IS NULL AND NOT instances.paused ORDER BY servers.id",
    )
    .bind(host.to_string())
    .bind(ServerState::Made.as_str());
    run.fetch(query).await?.iter().map(turn).collect()
}

/// Rules that were given to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applied {
    /// Of those that were in effect before, as far as was known.
    pub before: i64,
    pub revision: i64,
    pub enforced: bool,
}

/// Notes which rules are in effect on a server. False if something else is on record than was
/// before: somebody else applied rules, or the cloud has made the server anew, which then has
/// none.
pub async fn set_applied(work: &mut Work, server: ServerId, applied: Applied) -> Result<bool> {
    let query = Query::new(
        "UPDATE servers SET firewall_revision = $2, firewall_enforced = $3 \
         WHERE id = $1 AND firewall_revision = $4",
    )
    .bind(server.0)
    .bind(applied.revision)
    .bind(applied.enforced)
    .bind(applied.before);
    Ok(work.execute(query).await? == 1)
}

/// With the instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM firewalls WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn turn(row: &Row) -> Result<FirewallTurn> {
    Ok(FirewallTurn {
        server_id: ServerId(row.int("id")?),
        instance_id: InstanceId(row.int("instance_id")?),
        region: RegionName(row.text("region")?),
        subnet: row.parse("subnet")?,
        revision: row.int_or_none("revision")?.unwrap_or(FIRST),
        applied: row.int("applied")?,
        enforced: row.flag("enforced")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ServerState::{Hibernated, Made, Planned};

    #[test]
    fn rules_are_enforced_where_every_known_server_says_so() {
        let check = |servers: &[(ServerState, i64, bool)], expected: Option<bool>| {
            let server = |(state, revision, enforced): &(ServerState, i64, bool)| {
                let (state, revision, enforced) = (*state, *revision, *enforced);
                FirewallProgress { name: String::new(), state, revision, enforced }
            };
            let all: Vec<FirewallProgress> = servers.iter().map(server).collect();
            assert_eq!(are_enforced(&all), expected, "{servers:?}");
        };
        check(&[], None);
        check(&[(Planned, 0, false)], None);
        check(&[(Made, 1, false)], Some(false));
        check(&[(Made, 1, true), (Planned, 0, false)], Some(true));
        check(&[(Made, 1, true), (Made, 2, false)], Some(false));
        // Nothing is in effect there, and what its cloud does was seen before.
        check(&[(Hibernated, 0, true)], Some(true));
        check(&[(Hibernated, 0, false)], Some(false));
        // After a restore.
        check(&[(Made, 0, true)], None);
    }
}
