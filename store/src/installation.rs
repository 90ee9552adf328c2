//! The one row that says which installation this store belongs to.

use crate::db::{Query, Run};
use crate::{Result, SealError, Work};
use model::{HostId, Secret, Timestamp};
use uuid::Uuid;

const CA_PLACE: &str = "installation/fleet_ca";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installation {
    pub id: Uuid,
    /// The machine that set the store up; the only one of a SQLite store.
    pub host_id: HostId,
    pub store_epoch: i64,
    /// The authority of agents' certificates.
    pub fleet_ca: String,
    pub fleet_ca_key: Secret,
    pub created_at: Timestamp,
}

/// The row, if the store has been set up. A store that was sealed with another
/// master key is refused here, before anything else fails on it.
pub async fn find(run: &mut impl Run) -> Result<Option<Installation>> {
    let Some(row) = run.fetch_one(Query::new("SELECT * FROM installation")).await? else {
        return Ok(None);
    };
    let sealed = row.text("master_key_id")?;
    let given = run.master_key().id();
    if sealed != given {
        return Err(SealError::OtherKey { sealed, given: given.to_owned() }.into());
    }
    Ok(Some(Installation {
        id: row.parse("id")?,
        host_id: row.parse("host_id")?,
        store_epoch: row.int("store_epoch")?,
        fleet_ca: row.text("fleet_ca")?,
        fleet_ca_key: run.master_key().open(CA_PLACE, &row.text("fleet_ca_key_sealed")?)?,
        created_at: row.time("created_at")?,
    }))
}

pub async fn insert(work: &mut Work, installation: &Installation) -> Result<()> {
    let query = Query::new(
        "INSERT INTO installation (one, id, host_id, store_epoch, master_key_id, fleet_ca, \
         fleet_ca_key_sealed, created_at) VALUES (1, $1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(installation.id.to_string())
    .bind(installation.host_id.to_string())
    .bind(installation.store_epoch)
    .bind(work.master_key().id())
    .bind(installation.fleet_ca.as_str())
    .bind(work.master_key().seal(CA_PLACE, &installation.fleet_ca_key))
    .bind(installation.created_at);
    work.execute(query).await.map(drop)
}
