//! Machines that run a control plane on this store.

use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{HostId, Timestamp};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    pub id: HostId,
    /// For people; two hosts may have the same.
    pub name: String,
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
}

/// Notes that a control plane runs on the host.
pub async fn set_seen(work: &mut Work, id: HostId, name: &str, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "INSERT INTO hosts (id, name, first_seen, last_seen) VALUES ($1, $2, $3, $3) \
         ON CONFLICT (id) DO UPDATE SET name = $2, last_seen = $3",
    )
    .bind(id.to_string())
    .bind(name)
    .bind(now);
    work.execute(query).await.map(drop)
}

/// All hosts, oldest first.
pub async fn list(run: &mut impl Run) -> Result<Vec<Host>> {
    let rows = run.fetch(Query::new("SELECT * FROM hosts ORDER BY first_seen, id")).await?;
    rows.iter().map(host).collect()
}

fn host(row: &Row) -> Result<Host> {
    Ok(Host {
        id: row.parse("id")?,
        name: row.text("name")?,
        first_seen: row.time("first_seen")?,
        last_seen: row.time("last_seen")?,
    })
}
