//! Private networks.
//!
//! One that is deleted is nobody's to see or join, but its row and so its
//! address range stay until the cloud has removed it.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::{AccountId, InstanceId, RegionName, Subnet, Tags, Timestamp, Vpc, VpcId};

pub async fn insert(work: &mut Work, vpc: &Vpc) -> Result<()> {
    let query = Query::new(
        "INSERT INTO vpcs (id, account_id, name, region, subnet, tags, providerid, \
         made_for_instance, created_at, made_for) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(vpc.id.0)
    .bind(vpc.account_id.to_string())
    .bind(vpc.name.as_str())
    .bind(vpc.region.0.as_str())
    .bind(vpc.subnet.to_string())
    .bind(json(&vpc.tags))
    .bind(vpc.provider_id.to_string())
    .bind(vpc.made_for.is_some())
    .bind(vpc.created_at)
    .bind(vpc.made_for.map(|id| id.0));
    work.execute(query).await.map(drop)
}

/// A network, also one that is deleted.
pub async fn find(run: &mut impl Run, id: VpcId) -> Result<Option<Vpc>> {
    let query = Query::new("SELECT * FROM vpcs WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| vpc(&row)).transpose()
}

/// An account's networks, by id, with those that are deleted: all whose
/// address ranges are taken.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<Vpc>> {
    let query = Query::new("SELECT * FROM vpcs WHERE account_id = $1 ORDER BY id")
        .bind(account.to_string());
    run.fetch(query).await?.iter().map(vpc).collect()
}

/// An address range that no other network of its account may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TakenSubnet {
    pub subnet: Subnet,
    /// Its network is deleted, and the cloud has not removed it yet.
    pub is_deleted: bool,
}

/// The address ranges that are taken in an account.
pub async fn subnets(run: &mut impl Run, account: AccountId) -> Result<Vec<TakenSubnet>> {
    let query = Query::new("SELECT subnet, deleted_at FROM vpcs WHERE account_id = $1 ORDER BY id")
        .bind(account.to_string());
    let taken = |row: &Row| {
        let is_deleted = row.time_or_none("deleted_at")?.is_some();
        Ok(TakenSubnet { subnet: row.parse("subnet")?, is_deleted })
    };
    run.fetch(query).await?.iter().map(taken).collect()
}

/// Every network on record, of whatever account.
pub async fn ids(run: &mut impl Run) -> Result<Vec<VpcId>> {
    let rows = run.fetch(Query::new("SELECT id FROM vpcs ORDER BY id")).await?;
    rows.iter().map(|row| Ok(VpcId(row.int("id")?))).collect()
}

/// Changes what no cloud follows: name and tags.
pub async fn set_labels(work: &mut Work, id: VpcId, name: &str, tags: &Tags) -> Result<()> {
    let query = Query::new("UPDATE vpcs SET name = $2, tags = $3 WHERE id = $1")
        .bind(id.0)
        .bind(name)
        .bind(json(tags));
    work.execute(query).await.map(drop)
}

/// Marks a network for removal.
pub async fn set_deleted(work: &mut Work, id: VpcId, at: Timestamp) -> Result<()> {
    let query = Query::new("UPDATE vpcs SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL")
        .bind(id.0)
        .bind(at);
    work.execute(query).await.map(drop)
}

/// What a deleted instance leaves behind: the network that its create made goes
/// with it, unless it shall be kept or others live in it; then it stands alone.
/// Any other network is no concern of the instance.
pub async fn release(
    work: &mut Work,
    id: VpcId,
    maker: InstanceId,
    keep: bool,
    at: Timestamp,
) -> Result<()> {
    if !keep {
        let query = Query::new(
            "UPDATE vpcs SET deleted_at = $3 WHERE id = $1 AND made_for = $2 AND NOT EXISTS \
             (SELECT 1 FROM instances WHERE vpc_id = $1 AND id <> $2 AND deleted_at IS NULL)",
        )
        .bind(id.0)
        .bind(maker.0)
        .bind(at);
        work.execute(query).await?;
    }
    let query = Query::new(
        "UPDATE vpcs SET made_for = NULL, made_for_instance = FALSE \
         WHERE id = $1 AND made_for = $2 AND deleted_at IS NULL",
    )
    .bind(id.0)
    .bind(maker.0);
    work.execute(query).await.map(drop)
}

/// Who lives in a network, by id, without those being torn down.
pub async fn living(run: &mut impl Run, id: VpcId) -> Result<Vec<InstanceId>> {
    let query =
        Query::new("SELECT id FROM instances WHERE vpc_id = $1 AND deleted_at IS NULL ORDER BY id")
            .bind(id.0);
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| Ok(InstanceId(row.int("id")?))).collect()
}

/// Whether no instance but this one has a row that names the network.
pub async fn is_left_to(run: &mut impl Run, id: VpcId, instance: InstanceId) -> Result<bool> {
    let query = Query::new("SELECT id FROM instances WHERE vpc_id = $1 AND id <> $2 LIMIT 1")
        .bind(id.0)
        .bind(instance.0);
    Ok(run.fetch_one(query).await?.is_none())
}

/// Deleted networks in which no instance is left, so that they can be removed.
pub async fn list_removable(run: &mut impl Run) -> Result<Vec<Vpc>> {
    let query = Query::new(
        "SELECT * FROM vpcs WHERE deleted_at IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM instances WHERE vpc_id = vpcs.id) ORDER BY deleted_at, id",
    );
    run.fetch(query).await?.iter().map(vpc).collect()
}

/// Forgets a deleted network, unless a row still names it.
pub async fn remove_deleted(work: &mut Work, id: VpcId) -> Result<()> {
    let query = Query::new(
        "DELETE FROM vpcs WHERE id = $1 AND deleted_at IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM instances WHERE vpc_id = $1)",
    )
    .bind(id.0);
    work.execute(query).await.map(drop)
}

fn vpc(row: &Row) -> Result<Vpc> {
    Ok(Vpc {
        id: VpcId(row.int("id")?),
        account_id: row.parse("account_id")?,
        name: row.text("name")?,
        region: RegionName(row.text("region")?),
        subnet: row.parse("subnet")?,
        tags: row.json("tags")?,
        provider_id: row.parse("providerid")?,
        made_for: row.int_or_none("made_for")?.map(InstanceId),
        created_at: row.time("created_at")?,
        deleted_at: row.time_or_none("deleted_at")?,
    })
}
