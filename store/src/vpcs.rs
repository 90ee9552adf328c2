//! Private networks.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work};
use model::{AccountId, RegionName, Vpc, VpcId};

pub async fn insert(work: &mut Work, vpc: &Vpc) -> Result<()> {
    let query = Query::new(
        "INSERT INTO vpcs (id, account_id, name, region, subnet, tags, providerid, \
         made_for_instance, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(vpc.id.0)
    .bind(vpc.account_id.to_string())
    .bind(vpc.name.as_str())
    .bind(vpc.region.0.as_str())
    .bind(vpc.subnet.to_string())
    .bind(json(&vpc.tags))
    .bind(vpc.provider_id.to_string())
    .bind(vpc.made_for_instance)
    .bind(vpc.created_at);
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, id: VpcId) -> Result<Option<Vpc>> {
    let query = Query::new("SELECT * FROM vpcs WHERE id = $1").bind(id.0);
    run.fetch_one(query).await?.map(|row| vpc(&row)).transpose()
}

/// An account's networks, by id.
pub async fn list(run: &mut impl Run, account: AccountId) -> Result<Vec<Vpc>> {
    let query = Query::new("SELECT * FROM vpcs WHERE account_id = $1 ORDER BY id")
        .bind(account.to_string());
    run.fetch(query).await?.iter().map(vpc).collect()
}

/// Every network on record, of whatever account.
pub async fn ids(run: &mut impl Run) -> Result<Vec<VpcId>> {
    let rows = run.fetch(Query::new("SELECT id FROM vpcs ORDER BY id")).await?;
    rows.iter().map(|row| Ok(VpcId(row.int("id")?))).collect()
}

/// Makes a network stand alone, so that it outlives the instance it was made
/// for.
pub async fn keep(work: &mut Work, id: VpcId) -> Result<()> {
    let query = Query::new("UPDATE vpcs SET made_for_instance = FALSE WHERE id = $1").bind(id.0);
    work.execute(query).await.map(drop)
}

/// Removes a network that was made for an instance, unless another instance
/// lives in it.
pub async fn remove_unused(work: &mut Work, id: VpcId) -> Result<()> {
    let query = Query::new(
        "DELETE FROM vpcs WHERE id = $1 AND made_for_instance \
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
        made_for_instance: row.flag("made_for_instance")?,
        created_at: row.time("created_at")?,
    })
}
